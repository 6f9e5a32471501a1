/* Loops of the packed layers on 8-bit integers (packed_layer.h). */
#ifndef MXNET_OPERATOR_QUANTIZED_PACKED_KERNELS_H_
#define MXNET_OPERATOR_QUANTIZED_PACKED_KERNELS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"
#include "base/round_up.h"

namespace mxnet {
namespace quantized {

/*
 * A matrix (k, n) of int8 in panels of kWideColumns columns: [panel][k / 2][column][2]. Rows and
 * columns that it has not are zeros.
 */
constexpr int64_t kWideColumns = 16;
inline int64_t WidePairs(int64_t k) { return (k + 1) / 2; }
inline int64_t WidePanels(int64_t n) { return (n + kWideColumns - 1) / kWideColumns; }
inline int64_t WidePanelBytes(int64_t k) { return WidePairs(k) * 2 * kWideColumns; }

/*
 * What becomes of a row of sums, in this order; arrays of columns have whole panels. Values are
 * counted in steps of the result, or first in those of `between`, so that nothing is divided. Each
 * operation is rounded to float32 by itself, but for the addend, which is a fused multiply-add. All
 * kernels keep to this order, and so does what oneDNN is told: bytes are the same at each level and
 * by each method (docs/onnx.md).
 */
struct SumsFinish {
  int out_type = 0;  // int8, uint8, int32 (the sums, and an addend that is cut to 32 bits), float32
  const float *scales = nullptr, *bias = nullptr;
  bool between = false;  // values are rounded, within these limits, and scaled
  float between_low = 0, between_high = 0, between_scale = 1;
  const float* later = nullptr;  // a bias behind that rounding; null: none
  int addend_type = 0;
  float addend_scale = 1, addend_zero = 0;  // of addends of 8 bits
  float low = 0, high = 0;                  // of the values, which are whole numbers where the result has 8 bits
  int zero = 0;                             // what is added to those then
};

}  // namespace quantized

/*
 * WidenLess: x - zero. WideProducts: sums[i * pitch + j] = sum over 2 * pairs numbers of a[i *
 * a_pitch + k] * B(k, j), exact where the sum fits into 32 bits; of sums there are whole panels, in
 * which what is no column is anything. SumWide: of n numbers.
 *
 * DepthwiseBytes: sums[c] = start[c] + sum over taps of taps[t][c] * B(t, c), for B (taps,
 * channels) in panels of 16 bits; there are 2 * pairs taps. Of sums and start there are whole
 * panels.
 *
 * PackPairs: B (k, n) as it lies, in panels. TakeZeros: sums[i * pitch + j] -= row_sums[i] *
 * zeros[j].
 *
 * FinishSums: columns [at, at + n) of `rows` rows, whose sums are `pitch` apart, and whose results
 * `out_pitch` elements. `addend` (null: none) lies as `out` does, and may be it.
 */
MXNET_CPU_DECLARE(void WidenLess(const void* x, bool is_unsigned, int zero, int64_t n, int16_t* out);
                  void WideProducts(const int16_t* a, int64_t rows, int64_t a_pitch, int64_t pairs, const int8_t* packed, int64_t columns,
                                    int32_t* sums, int64_t pitch);
                  int32_t SumWide(const int16_t* x, int64_t n);
                  void DepthwiseBytes(const void* const* taps, int64_t pairs, bool is_unsigned, const int16_t* packed, const int32_t* start,
                                      int64_t channels, int32_t* sums);
                  void PackPairs(const int8_t* b, int64_t k, int64_t n, int8_t* packed);
                  void TakeZeros(int64_t rows, const int32_t* row_sums, const int32_t* zeros, int64_t n, int32_t* sums, int64_t pitch);
                  void FinishSums(const quantized::SumsFinish& f, int64_t rows, const int32_t* sums, int64_t pitch, int64_t at, int64_t n,
                                  const void* addend, void* out, int64_t out_pitch);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_PACKED_KERNELS_H_
