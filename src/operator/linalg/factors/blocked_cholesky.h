/*
 * Cholesky's factor of one matrix, and the inverse of a matrix from it, block by block, so that our
 * threads share nearly all of it.
 */
#ifndef MXNET_OPERATOR_LINALG_FACTORS_BLOCKED_CHOLESKY_H_
#define MXNET_OPERATOR_LINALG_FACTORS_BLOCKED_CHOLESKY_H_

#include <cstdint>

namespace mxnet {
namespace linalg {

/* a, row-major without gaps, becomes l of a = l l^T, or u of a = u^T u, in the triangle that is
 * read; near the diagonal the other triangle is overwritten. Returns 0, or the order of the first
 * leading minor that is not positive. */
template <typename T>
int64_t BlockedCholesky(bool lower, int64_t n, T* a);

/* The lower triangle of l becomes that of (l l^T)^-1; the upper one is not read, and is
 * overwritten. Returns 0, or 1 + the place of a 0 on the diagonal. */
template <typename T>
int64_t InverseOfCholesky(int64_t n, T* l);

}  // namespace linalg
}  // namespace mxnet
#endif  // MXNET_OPERATOR_LINALG_FACTORS_BLOCKED_CHOLESKY_H_
