#include "operator/quantized/byte_product.h"

namespace mxnet {

bool (*detail::g_onednn_byte_product)(int64_t, int64_t, int64_t, const void*, bool, const int8_t*, int32_t*) = nullptr;

namespace quantized {

void ProductPiece(const WideFactors& f, int64_t row, int64_t height, int64_t column, int64_t width, int64_t* sums) {
  int16_t panel[kProductColumns * kProductDeep];
  int32_t part[kProductRows * kProductColumns] = {};
  std::fill_n(sums, height * kProductColumns, 0);
  for (int64_t at = 0; at < f.k; at += kProductDeep) {
    const int64_t deep = std::min(kProductDeep, f.k - at);
    for (int64_t j = 0; j < width; ++j) MXNET_CPU_CALL(WidenBytes)(f.b + (column + j) * f.k + at, false, deep, panel + j * deep);
    MXNET_CPU_CALL(MultiplyRows)(f.a + row * f.k + at, height, f.k, panel, width, deep, deep, part, kProductColumns);
    for (int64_t i = 0; i < height * kProductColumns; ++i) sums[i] += part[i];
  }
}

}  // namespace quantized
}  // namespace mxnet
