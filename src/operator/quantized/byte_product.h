/* Products of matrices of 8-bit integers on the host, by a library or by loops of our own. */
#ifndef MXNET_OPERATOR_QUANTIZED_BYTE_PRODUCT_H_
#define MXNET_OPERATOR_QUANTIZED_BYTE_PRODUCT_H_

#include <algorithm>
#include <vector>

#include "base/ran.h"
#include "mxnet/env.h"
#include "operator/nn/common/nn_common.h"
#include "operator/quantized/intgemm.h"

namespace mxnet {
namespace quantized {

// A task is a piece of the output of this size, whose features go by in pieces.
constexpr int64_t kProductRows = 64, kProductColumns = 32, kProductDeep = 1024;
constexpr int64_t kMostDeep = 65536;  // products whose sum surely fits into 32 bits

/* int8 or uint8 */
struct ByteMatrix {
  const void* ptr;
  bool is_unsigned;
};

struct WideFactors {
  const int16_t* a;
  const int8_t* b;
  int64_t rows, columns, k;
};

/* sums (height, kProductColumns) of the products of `height` rows of a, from `row`, and `width` of
 * b, from `column`. */
void ProductPiece(const WideFactors& f, int64_t row, int64_t height, int64_t column, int64_t width, int64_t* sums);

/* The sums of the products of rows of a (rows, k) and b (columns, k), given to store(row, column,
 * count, sums) in pieces of a row. `room`, of the size of all sums, may be what is stored into. */
template <typename Store>
void ByteProduct(KernelArgs& args, ByteMatrix a, int64_t rows, const int8_t* b, int64_t columns, int64_t k, int32_t* room, Store store) {
  constexpr int64_t kAlone = 65536;  // numbers that a thread takes at a time
  const auto library = Env::Get().onednn_enabled ? detail::g_onednn_byte_product : nullptr;
  if (library && k > 0 && k <= kMostDeep && library(rows, columns, k, a.ptr, a.is_unsigned, b, room)) {
    return ParallelFor(rows, std::max<int64_t>(1, kAlone / columns), [&](int64_t from, int64_t to) {
      for (int64_t row = from; row < to; ++row) store(row, 0, columns, room + row * columns);
    });
  }
  Ran("products of 16-bit integers");
  int16_t* wide = nn::Workspace<int16_t>(args, rows * k);
  const char* bytes = static_cast<const char*>(a.ptr);
  ParallelFor(rows * k, kAlone, [&](int64_t from, int64_t to) {
    MXNET_CPU_CALL(WidenBytes)(bytes + from, a.is_unsigned, to - from, wide + from);
  });
  const WideFactors factors{wide, b, rows, columns, k};
  const int64_t across = (columns + kProductColumns - 1) / kProductColumns, down = (rows + kProductRows - 1) / kProductRows;
  const int64_t work = std::min(rows, kProductRows) * kProductColumns * k;
  ParallelFor(across * down, std::max<int64_t>(1, kAlone * 8 / std::max<int64_t>(1, work)), [&](int64_t from, int64_t to) {
    std::vector<int64_t> sums(static_cast<size_t>(kProductRows * kProductColumns));
    for (int64_t task = from; task < to; ++task) {
      const int64_t row = task / across * kProductRows, column = task % across * kProductColumns;
      const int64_t height = std::min(kProductRows, rows - row), width = std::min(kProductColumns, columns - column);
      ProductPiece(factors, row, height, column, width, sums.data());
      for (int64_t i = 0; i < height; ++i) store(row + i, column, width, sums.data() + i * kProductColumns);
    }
  });
}

}  // namespace quantized
}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_BYTE_PRODUCT_H_
