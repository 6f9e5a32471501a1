#ifndef MXNET_OPERATOR_LINALG_FACTORS_TRANSPOSED_H_
#define MXNET_OPERATOR_LINALG_FACTORS_TRANSPOSED_H_

#include <algorithm>
#include <cstdint>

namespace mxnet {
namespace linalg {

/* to, columns x rows with `to_pitch` numbers from row to row, = the transpose of from. */
template <typename T>
void CopyTransposed(int64_t rows, int64_t columns, const T* from, int64_t pitch, T* to, int64_t to_pitch) {
  constexpr int64_t tile = 16;
  for (int64_t r0 = 0; r0 < rows; r0 += tile)
    for (int64_t c = 0; c < columns; ++c)
      for (int64_t r = r0; r < std::min(rows, r0 + tile); ++r) to[c * to_pitch + r] = from[r * pitch + c];
}

}  // namespace linalg
}  // namespace mxnet
#endif  // MXNET_OPERATOR_LINALG_FACTORS_TRANSPOSED_H_
