/*
 * 1x1 convolutions of bytes by instructions for products of bytes (VNNI): the channels of pixels
 * times panels of filters. Sums become results in registers, and the next panels' weights are
 * fetched beside them.
 */
#ifndef MXNET_OPERATOR_QUANTIZED_PIXEL_PRODUCTS_H_
#define MXNET_OPERATOR_QUANTIZED_PIXEL_PRODUCTS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"
#include "operator/nn/common/kept_weights.h"
#include "operator/quantized/packed_job.h"

namespace mxnet {
namespace quantized {

/*
 * Filters are packed by pairs of panels of 16: [pair][channel / 4][filter's place][4]. A place is
 * chosen such that narrowing sums of both panels to bytes brings filters into their order. Where 16
 * or fewer filters are left, they make a panel of their own.
 */
constexpr int64_t kPanelPair = 32;
inline int64_t PixelWidth(int64_t left) { return left > kPanelPair / 2 ? kPanelPair : kPanelPair / 2; }
inline int64_t PixelPlace(int64_t width, int64_t filter) {
  return width == kPanelPair ? filter / 4 % 2 * 16 + filter / 8 * 4 + filter % 4 : filter;
}

/* Bytes of packed weights with the sum of each filter behind them. */
int64_t PixelWeights(const PackedJob& job);
nn::WeightParts PixelWeightParts(const PackedJob& job);

/* Is the job such a convolution, and are there the instructions? */
bool HasPixelProducts(const PackedJob& job);

/* job.packed is of PixelWeightParts. What becomes of sums is what SumsFinish says. */
void PixelProducts(KernelArgs& args, const PackedJob& job);

/* Arrays have the filters as they are packed, but scales and bias of floats, which have them in
 * their order, in whole panels. `between`: values are first rounded to whole numbers
 * in these limits, which stand for `between_scale` each and come with the filter's
 * `between_bias`. */
struct PixelFinish {
  const int32_t* start;  // of the sums
  const float *scales, *bias;
  float addend_scale;
  int addend_zero, addend_type;  // int8 or uint8
  float most;                    // limit of the number before it is rounded
  int least, zero;               // limit before the zero point is added
  bool between = false;
  float between_low = 0, between_high = 0, between_scale = 1;
  const float* between_bias = nullptr;
  bool floats = false;
  float low = 0, high = 0;  // limits of those
};

/* Pixels, `row` bytes apart, and where their results lie, `pitch` bytes apart. */
struct PixelRows {
  const uint8_t* a;
  int64_t row, count, quads;
  const char* addend;  // null: none
  char* out;
  int64_t pitch;
};

}  // namespace quantized

/* PixelsTimesPanels: filters [begin, end) of the rows, of which `begin` is a multiple of
 * kPanelPair; `filters`: all there are. FlipBytes: n of them, with exclusive or. PixelStart:
 * start[i] = -zero * sums[i]. */
MXNET_CPU_DECLARE(void PixelsTimesPanels(const quantized::PixelRows& rows, const int8_t* packed, const quantized::PixelFinish& finish,
                                         int64_t begin, int64_t end, int64_t filters);
                  void FlipBytes(const uint8_t* from, int64_t n, uint8_t flip, uint8_t* to);
                  void PixelStart(const int32_t* sums, int64_t n, int zero, int32_t* start);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_PIXEL_PRODUCTS_H_
