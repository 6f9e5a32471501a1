/* Convolutions of 8-bit integers with windows of single channels (packed_layer.h). */
#ifndef MXNET_OPERATOR_QUANTIZED_PACKED_DEPTHWISE_H_
#define MXNET_OPERATOR_QUANTIZED_PACKED_DEPTHWISE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/cpu_dispatch.h"
#include "operator/quantized/packed_job.h"

namespace mxnet {
namespace quantized {

/* Windows of 3 x 3 of whole eights of channels: then job.packed is what PackNines made of the
 * weights (channels, 3, 3), so many numbers of 16 bits. */
bool HasNines(const PackedJob& job);
int64_t NineWeights(int64_t channels);
void PackNines(int64_t channels, const int8_t* weights, int16_t* to);

void Depthwise(KernelArgs& args, const PackedJob& job);

/* Windows of `count` places of the result that follow each other: tap (i, k) of place p lies at
 * tap[3 * i + k] + p * step[i]. The first columns of a window are the last ones of that before, all
 * but `fresh`, and are read at place 0 alone. */
struct NineTaps {
  const char* tap[9];
  int64_t step[3];
  int64_t count;
  int fresh;
};

/* Do runs of NineTaps say all windows? */
bool HasNineTaps(const nn::ConvDims& d);
/* All windows of a line of the result. `outside`: the channels of a place that is no part of the
 * image. */
void AddNineLine(const PackedJob& job, int64_t line, const char* outside, std::vector<NineTaps>* runs);

/* Tasks: some lines of some channels. */
struct NineTasks {
  int64_t lines, together, blocks, parts;
  explicit NineTasks(const nn::ConvDims& d) {
    constexpr int64_t kLinePlaces = 64;  // whose sums are finished together, of whole lines
    lines = d.batch * d.out[1];
    together = std::max<int64_t>(1, kLinePlaces / d.out[2]);
    blocks = (lines + together - 1) / together, parts = (d.channels + kColumns - 1) / kColumns;
  }
};

}  // namespace quantized

/* sums[p * pitch + c - begin] = start[c] + sum over taps, for channels [begin, end), whole eights,
 * and the places of all runs one behind the other. Weights of eight channels: [k][those of lines 0
 * and 1, those of line 2 and zeros][channel][2]. */
MXNET_CPU_DECLARE(void DepthwiseNines(const quantized::NineTaps* runs, int64_t count, bool is_unsigned, const int16_t* packed,
                                      const int32_t* start, int64_t begin, int64_t end, int32_t* sums, int64_t pitch);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_PACKED_DEPTHWISE_H_
