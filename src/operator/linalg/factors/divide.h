#ifndef MXNET_OPERATOR_LINALG_FACTORS_DIVIDE_H_
#define MXNET_OPERATOR_LINALG_FACTORS_DIVIDE_H_

#include <cstdint>

namespace mxnet {
namespace linalg {

/* Of a symmetric matrix of two diagonals, n and n - 1 finite numbers, in float or double: the
 * eigenvalues replace the first and ascend, and the rows of `vectors`, n x n, become the
 * eigenvectors. `beside` is lost. Returns 0, or 1 + the place of an eigenvalue that was not
 * found. */
template <typename T>
int64_t DivideAndConquer(int64_t n, T* diagonal, T* beside, T* vectors);

}  // namespace linalg
}  // namespace mxnet
#endif  // MXNET_OPERATOR_LINALG_FACTORS_DIVIDE_H_
