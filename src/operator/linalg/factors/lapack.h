/*
 * The LAPACK and BLAS routines that dense_cpu.cc calls, for float and double, as functions that
 * take 64-bit sizes. Matrices are row-major without gaps (LAPACK sees their transposes). Functions
 * that return a number return LAPACK's info: 0, or the 1-based place of the trouble. Throw
 * Error(kValue) with `op` for a size beyond 32 bits.
 */
#ifndef MXNET_OPERATOR_LINALG_FACTORS_LAPACK_H_
#define MXNET_OPERATOR_LINALG_FACTORS_LAPACK_H_

#include <cstdint>

#include "operator/linalg/factors/small.h"

namespace mxnet {
namespace lapack {

/* For all functions below: throws where a size is too large. `bytes`: what a call needs besides. */
void CheckSize(const char* op, int64_t size);

template <typename T>
struct Routines {
  /* Of a symmetric matrix of two diagonals; the eigenvalues replace the first and ascend. */
  static int64_t EigenValues(int64_t n, T* diagonal, T* beside);
  /* Of a matrix of two diagonals, the second below; the singular values replace the first. Rows of
   * `left` and columns of `right`, unless they are null, become the vectors. */
  static int64_t SingularBidiagonal(int64_t n, T* diagonal, T* beside, T* left, T* right);
  /* Eigenvalues of the transpose of a, as real and imaginary parts; rows of `vectors`, unless it is
   * null, become the eigenvectors. Destroys a. */
  static int64_t EigenGeneral(int64_t n, T* a, T* real, T* imaginary, T* vectors, T* work, int64_t work_size);
  static int64_t EigenGeneralWork(int64_t n, bool vectors);
  static void Solve(const SmallSide& side, T alpha, int64_t m, int64_t n, const T* a, T* x);
  static void Multiply(const SmallSide& side, T alpha, int64_t m, int64_t n, const T* a, T* x);
  /* The lower triangle of alpha * op(a) op(a)^T. */
  static void SymmetricProduct(bool transpose, T alpha, int64_t n, int64_t k, const T* a, T* out);
};

}  // namespace lapack
}  // namespace mxnet
#endif  // MXNET_OPERATOR_LINALG_FACTORS_LAPACK_H_
