/* The functions of dense.h on a GPU, and what both sides say of matrices that they do not take. */
#ifndef MXNET_OPERATOR_LINALG_DENSE_GPU_H_
#define MXNET_OPERATOR_LINALG_DENSE_GPU_H_

#include "operator/linalg/dense.h"

namespace mxnet {
namespace linalg {

constexpr const char* kNotPositive = "is not positive definite; only positive definite ones have a Cholesky factor";
constexpr const char* kSingularFactor = "has a 0 on its diagonal; Cholesky factors of positive definite matrices are accepted";
constexpr const char* kSingular = "is singular; only invertible ones are accepted";
constexpr const char* kComplex = "has eigenvalues that are not real";
constexpr const char* kNoSingular = "has singular values that the iteration did not find";
constexpr const char* kNotConverged = "has eigenvalues that the iteration did not find";
/* `place`: 1-based row. */
[[noreturn]] void ThrowTrouble(const KernelArgs& args, int64_t matrix, int64_t place, const char* what);

namespace gpu {
void Cholesky(KernelArgs& args, bool lower, int64_t count, int64_t n, const void* a, void* out);
void CholeskyInverse(KernelArgs& args, bool lower, int64_t count, int64_t n, const void* l, void* out);
void SolveTriangle(KernelArgs& args, const SmallSide& side, double alpha, int64_t count, int64_t m, int64_t n, const void* a, void* x);
void MultiplyTriangle(KernelArgs& args, const SmallSide& side, double alpha, int64_t count, int64_t m, int64_t n, const void* a, void* x);
void Inverse(KernelArgs& args, int64_t count, int64_t n, const void* a, void* out);
void SolveGeneral(KernelArgs& args, bool transpose, int64_t count, int64_t n, int64_t k, const void* a, const void* b, void* x);
void Determinants(KernelArgs& args, int64_t count, int64_t n, const void* a, void* sign, void* det);
void DeterminantGradients(KernelArgs& args, bool logarithm, int64_t count, int64_t n, const void* a, const void* factor, void* out);
void FactorLq(KernelArgs& args, int64_t count, int64_t m, int64_t n, void* q, void* l);
void EigenSymmetric(KernelArgs& args, int64_t count, int64_t n, void* u, void* w);
void SymmetricProduct(KernelArgs& args, bool transpose, double alpha, int64_t count, int64_t rows, int64_t columns, const void* a,
                      void* out);
}  // namespace gpu

}  // namespace linalg
}  // namespace mxnet
#endif  // MXNET_OPERATOR_LINALG_DENSE_GPU_H_
