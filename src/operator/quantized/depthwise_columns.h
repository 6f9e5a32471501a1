/* Depthwise convolutions of bytes, windows of 3 x 3, by instructions that add products of four
 * bytes: a column of a window and a byte of nothing are such four. */
#ifndef MXNET_OPERATOR_QUANTIZED_DEPTHWISE_COLUMNS_H_
#define MXNET_OPERATOR_QUANTIZED_DEPTHWISE_COLUMNS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"
#include "operator/quantized/packed_depthwise.h"

namespace mxnet {
namespace quantized {

/*
 * Channels are taken by 64, then by 32 and 16, as many as there are; the last ones may be fewer.
 * Numbers of so many channels, n, lie in the order in which their sums come: [q][lane][i] is
 * channel 16 * lane + 4 * q + i, for q and i below 4.
 */
inline int64_t ColumnChannels(int64_t left) { return left >= 64 ? 64 : left >= 32 ? 32 : 16; }
inline int64_t InColumnOrder(int64_t n, int64_t channel) { return channel % 16 / 4 * (n / 4) + channel / 16 * 4 + channel % 4; }

/* Weights (channels, 3, 3) in this order: [column of the window][place in the order][line, 0]. */
int64_t ColumnWeights(int64_t channels);  // bytes
void PackColumns(int64_t channels, const int8_t* weights, int8_t* to);

/* Does DepthwiseColumns compute it, and are there the instructions for it? */
bool HasColumns(const PackedJob& job);

/* What becomes of sums: the nearest whole number to sum * scale + bias, cut to [low, high], plus
 * zero. Arrays have the channels in the order from above. */
struct ColumnFinish {
  const int32_t* start;  // of the sums
  const float *scales, *bias;
  int low, high, zero;  // limits with the zero point
  float most;           // limit of the number before it is rounded
  bool is_unsigned;     // the result
};

/* job.packed is what PackColumns made. */
void DepthwiseColumns(KernelArgs& args, const PackedJob& job);

}  // namespace quantized

/*
 * Channels [begin, end) of the windows of all runs, one behind the other: bytes to out, `pitch`
 * apart, of which the first is channel `begin`. `begin` is a multiple of 64. All arrays are of all
 * channels. `flip`: what is added (exclusive or) to bytes of data that makes them unsigned.
 */
MXNET_CPU_DECLARE(void ByteColumns(const quantized::NineTaps* runs, int64_t count, uint8_t flip, const int8_t* packed,
                                   const quantized::ColumnFinish& finish, int64_t begin, int64_t end, char* out, int64_t pitch);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_DEPTHWISE_COLUMNS_H_
