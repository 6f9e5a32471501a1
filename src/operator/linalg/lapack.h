/*
 * The LAPACK and BLAS routines that dense_cpu.cc calls, for float and double, as functions that
 * take 64-bit sizes. Matrices are row-major without gaps (LAPACK sees their transposes). Functions
 * that return a number return LAPACK's info: 0, or the 1-based place of the trouble. Throw
 * Error(kValue) with `op` for a size beyond 32 bits.
 */
#ifndef MXNET_OPERATOR_LINALG_LAPACK_H_
#define MXNET_OPERATOR_LINALG_LAPACK_H_

#include <cstdint>

#include "operator/linalg/small.h"

namespace mxnet {
namespace lapack {

/* For all functions below: throws where a size is too large. `bytes`: what a call needs besides. */
void CheckSize(const char* op, int64_t size);

template <typename T>
struct Routines {
  /* In place; the other triangle is left alone. */
  static int64_t Cholesky(bool lower, int64_t n, T* a);
  static int64_t CholeskyInverse(int64_t n, T* l);  // the lower triangle of the result
  static int64_t Lu(int64_t n, T* a, int32_t* pivots);
  /* out holds the identity before. One call for all columns: getri's many small ones spend their
   * time on waking threads. */
  static void Inverse(int64_t n, const T* lu, const int32_t* pivots, T* out);
  /* a's upper triangle becomes its reflections: row i those of column i + 1 on. `beside` gets n - 1
   * numbers, as does `scale`. */
  static void Tridiagonal(int64_t n, T* a, T* diagonal, T* beside, T* scale);
  /* Of a symmetric matrix of two diagonals; the eigenvalues replace the first, and rows of
   * `vectors` become the eigenvectors. */
  static int64_t EigenTridiagonal(int64_t n, T* diagonal, T* beside, T* vectors);
  /* a, m x n with m <= n, becomes its reflections: in rows, from the diagonal on, those of `scale`,
   * and in columns, from below the diagonal on, those of `scale_right`. */
  static void Bidiagonal(int64_t m, int64_t n, T* a, T* diagonal, T* beside, T* scale, T* scale_right);
  /* Of such a matrix; the singular values replace the diagonal. Rows of `left` and columns of
   * `right` become the vectors. */
  static int64_t SingularBidiagonal(int64_t n, T* diagonal, T* beside, T* left, T* right);
  /* Eigenvalues of a symmetric matrix, which is destroyed. */
  static int64_t Eigen(int64_t n, T* a, T* w, T* work, int64_t work_size, int32_t* integers, int64_t integers_size);
  static int64_t EigenWork(int64_t n) { return 1 + 6 * n + 2 * n * n; }
  static int64_t EigenIntegers(int64_t n) { return 3 + 5 * n; }
  /* x, `columns` vectors of n numbers one after the other, = a^-1 x for the row-major a that lu is
   * of. */
  static void SolveLu(int64_t n, int64_t columns, const T* lu, const int32_t* pivots, T* x);
  /* The k singular values, k the smaller of m and n. Destroys a. 8 * k integers. */
  static int64_t Singular(int64_t m, int64_t n, T* a, T* w, T* work, int64_t work_size, int32_t* integers);
  static int64_t SingularWork(int64_t m, int64_t n);
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
#endif  // MXNET_OPERATOR_LINALG_LAPACK_H_
