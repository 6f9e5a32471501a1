/* Convolutions of 8-bit integers with windows of single channels (packed_layer.h). */
#ifndef MXNET_OPERATOR_QUANTIZED_PACKED_DEPTHWISE_H_
#define MXNET_OPERATOR_QUANTIZED_PACKED_DEPTHWISE_H_

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
/* Some lines of the result, of channels [begin, end). */
struct NineTask {
  int64_t first, last, begin, end;
};

/* Tasks that make up a job. */
class NineTasks {
 public:
  /* `outside`: the channels of a place that is no part of the image. */
  NineTasks(const PackedJob& job, const char* outside);
  int64_t count() const { return blocks_ * parts_; }
  int64_t most_windows() const { return together_ * job_.d.out[2]; }  // of a task
  /* `runs`: all windows of the task; before, those of the last one, or none. */
  NineTask At(int64_t task, std::vector<NineTaps>* runs) const;

 private:
  const PackedJob& job_;
  const char* const outside_;
  int64_t lines_, together_, blocks_, parts_;
};

}  // namespace quantized

/* sums[p * pitch + c - begin] = start[c] + sum over taps, for channels [begin, end), whole eights,
 * and the places of all runs one behind the other. Weights of eight channels: [k][those of lines 0
 * and 1, those of line 2 and zeros][channel][2]. */
MXNET_CPU_DECLARE(void DepthwiseNines(const quantized::NineTaps* runs, int64_t count, bool is_unsigned, const int16_t* packed,
                                      const int32_t* start, int64_t begin, int64_t end, int32_t* sums, int64_t pitch);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_PACKED_DEPTHWISE_H_
