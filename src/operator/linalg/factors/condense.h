/*
 * Two diagonals that have the eigenvalues of a symmetric matrix, or the singular values of a
 * matrix, after Householder's reflections from both sides (Dongarra, Sorensen and Hammarling, Block
 * reduction of matrices to condensed forms for eigenvalue computations, 1989). Row-major; float and
 * double. Reflections are those of reflections.h, and the pitch of rows is that of row_kernels.h.
 */
#ifndef MXNET_OPERATOR_LINALG_FACTORS_CONDENSE_H_
#define MXNET_OPERATOR_LINALG_FACTORS_CONDENSE_H_

#include <cstdint>

namespace mxnet {
namespace linalg {

/* a, n x n with RowPitch(n) numbers from row to row, = q^T t q. t has `diagonal` and, on both
 * sides of it, `beside`, n - 1 numbers. Row i of a from column i + 1 on becomes reflection i of q's
 * n - 1, which stands in columns from i + 1 on; `scale` gets as many numbers. What is left of the
 * diagonal gets lost. */
template <typename T>
void Tridiagonal(int64_t n, T* a, T* diagonal, T* beside, T* scale);

/* a, m x n with m <= n and RowPitch(n), = p^T b q. b has `diagonal` and, below it, `beside`,
 * m - 1 numbers. Row i of a becomes reflection i of q, and row i of `right`, m x m without gaps,
 * from column i + 1 on reflection i of p's m - 1. Of `right` the rest is not set, and what is left
 * of the diagonal of a gets lost. `scale` gets m numbers, `scale_right` m - 1. */
template <typename T>
void Bidiagonal(int64_t m, int64_t n, T* a, T* diagonal, T* beside, T* scale, T* right, T* scale_right);

}  // namespace linalg

}  // namespace mxnet
#endif  // MXNET_OPERATOR_LINALG_FACTORS_CONDENSE_H_
