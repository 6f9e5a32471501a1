/* Rows of csr matrices for threads. */
#ifndef MXNET_OPERATOR_SPARSE_SPLIT_ROWS_H_
#define MXNET_OPERATOR_SPARSE_SPLIT_ROWS_H_

#include <cstdint>
#include <vector>

namespace mxnet {
namespace sparse {

/* Bounds of `parts` parts of the rows, with about as many rows and elements each; before(r):
 * elements before row r. */
template <typename F>
std::vector<int64_t> SplitRows(int parts, int64_t rows, F&& before) {
  const int64_t each = (before(rows) + rows) / parts;
  std::vector<int64_t> bounds = {0};
  for (int t = 1; t < parts; ++t) {
    int64_t low = bounds.back(), high = rows;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      before(middle) + middle < each* t ? low = middle + 1 : high = middle;
    }
    bounds.push_back(low);
  }
  bounds.push_back(rows);
  return bounds;
}

}  // namespace sparse
}  // namespace mxnet
#endif  // MXNET_OPERATOR_SPARSE_SPLIT_ROWS_H_
