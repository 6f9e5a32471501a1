/*
 * Linear algebra of batches of matrices, float32 or float64, row-major without gaps, where
 * args.run says: on the CPU by loops of our own for small matrices, many at once, and by LAPACK for
 * others (dense_cpu.cc); on a GPU by kernels around the vendor's matrix products (dense_gpu.cc).
 *
 * `args` gives the device, the operator's name for errors and workspace; the dtype is that of
 * input 0. Matrices that an operator cannot take (singular, not positive definite) are an
 * Error(kValue) that names the first one. NaN and infinity give NaN. A size that LAPACK does not
 * count up to is an Error(kValue).
 */
#ifndef MXNET_OPERATOR_LINALG_DENSE_H_
#define MXNET_OPERATOR_LINALG_DENSE_H_

#include <cstdint>

#include "mxnet/kernel_args.h"
#include "operator/linalg/factors/small.h"

namespace mxnet {
namespace linalg {

/* The last two dimensions and how many matrices there are. REQUIRES: at least 2 dimensions. */
struct Matrices {
  int64_t count = 1, rows = 0, columns = 0;
  explicit Matrices(const Shape& s) : count(s.Prod(0, s.ndim() - 2)), rows(s[s.ndim() - 2]), columns(s[s.ndim() - 1]) {}
};

/* out = the triangular factor l of a = l l^T whose lower triangle is given, or the factor u of
 * a = u^T u whose upper one is. The rest of out is 0. */
void Cholesky(KernelArgs& args, bool lower, int64_t count, int64_t n, const void* a, void* out);
/* out = (l l^T)^-1. */
void CholeskyInverse(KernelArgs& args, bool lower, int64_t count, int64_t n, const void* l, void* out);
/* x, m x n, = alpha * op(a)^-1 x or alpha * x op(a)^-1. A singular a gives infinities and NaN. */
void SolveTriangle(KernelArgs& args, const SmallSide& side, double alpha, int64_t count, int64_t m, int64_t n, const void* a, void* x);
/* x = alpha * op(a) x or alpha * x op(a). */
void MultiplyTriangle(KernelArgs& args, const SmallSide& side, double alpha, int64_t count, int64_t m, int64_t n, const void* a, void* x);
/* out is not a. */
void Inverse(KernelArgs& args, int64_t count, int64_t n, const void* a, void* out);
/* x = op(a)^-1 b; n x n, n x k. x may be b. */
void SolveGeneral(KernelArgs& args, bool transpose, int64_t count, int64_t n, int64_t k, const void* a, const void* b, void* x);
/* det = the determinants; or sign and logarithm of the absolute value, where `sign` is given. */
void Determinants(KernelArgs& args, int64_t count, int64_t n, const void* a, void* sign, void* det);
/* out[i] = factor[i] * the matrix of cofactors of a[i]; with `logarithm` factor[i] * its inverse,
 * transposed, or 0 where a[i] is singular. */
void DeterminantGradients(KernelArgs& args, bool logarithm, int64_t count, int64_t n, const void* a, const void* factor, void* out);
/* a = l q; m <= n. q holds a before. */
void FactorLq(KernelArgs& args, int64_t count, int64_t m, int64_t n, void* q, void* l);
/* a = u^T diag(w) u from the lower triangle; w ascends, and of each row of u the element of largest
 * absolute value is positive. u holds a before, and without
 * `vectors` nothing of use afterwards. */
void EigenSymmetric(KernelArgs& args, int64_t count, int64_t n, void* u, void* w, bool vectors = true);
/* a = u diag(w) v with u m x k, v k x n and k the smaller of m and n; w descends, and of each row
 * of v the element of largest absolute value is positive. u and v null: only w. args.run is the
 * CPU's. */
void SingularValues(KernelArgs& args, int64_t count, int64_t m, int64_t n, const void* a, void* u, void* w, void* v);
/* a v = v diag(w) with the columns of v of length 1; v null: only w. Eigenvalues that are not real
 * are an Error(kValue). args.run is the CPU's. */
void EigenGeneral(KernelArgs& args, int64_t count, int64_t n, const void* a, void* w, void* v);
/* out = alpha * op(a) op(a)^T; a is rows x columns. */
void SymmetricProduct(KernelArgs& args, bool transpose, double alpha, int64_t count, int64_t rows, int64_t columns, const void* a,
                      void* out);

}  // namespace linalg
}  // namespace mxnet
#endif  // MXNET_OPERATOR_LINALG_DENSE_H_
