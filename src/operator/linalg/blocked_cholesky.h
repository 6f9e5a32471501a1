/* Cholesky's factor of one matrix, block by block, so that our threads share nearly all of it. */
#ifndef MXNET_OPERATOR_LINALG_BLOCKED_CHOLESKY_H_
#define MXNET_OPERATOR_LINALG_BLOCKED_CHOLESKY_H_

#include <cstdint>

namespace mxnet {
namespace linalg {

/* a, row-major without gaps, becomes l of a = l l^T, or u of a = u^T u, in the triangle that is
 * read; near the diagonal the other triangle is overwritten. Returns 0, or the order of the first
 * leading minor that is not positive. */
template <typename T>
int64_t BlockedCholesky(bool lower, int64_t n, T* a);

}  // namespace linalg
}  // namespace mxnet
#endif  // MXNET_OPERATOR_LINALG_BLOCKED_CHOLESKY_H_
