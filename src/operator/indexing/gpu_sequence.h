/* Padded sequences with their lengths: what is done on a GPU, and the mask on the CPU. */
#ifndef MXNET_OPERATOR_INDEXING_GPU_SEQUENCE_H_
#define MXNET_OPERATOR_INDEXING_GPU_SEQUENCE_H_

#include "mxnet/run_context.h"

namespace mxnet {

/* `steps` along the sequences, `batch` sequences, each step a piece of `inner` elements; strides in
 * pieces. */
struct Sequences {
  int64_t steps, batch, inner, step_stride, batch_stride;
};

/* out = in with `value` behind each sequence's end. On a GPU lengths are cut to [0, steps], and
 * given like that on the CPU, where neither array is empty. */
void MaskOnCpu(const Sequences& s, const int64_t* lengths, double value, const TBlob& in, const TBlob& out);
void MaskOnDevice(const RunContext& run, const Sequences& s, const int64_t* lengths, double value, const TBlob& in, const TBlob& out);
/* kLast: the last step of each; kLastBack: that at its place among zeros; kReverse: each turned
 * round. Null lengths: all steps. */
enum class SequenceMove { kLast, kLastBack, kReverse };
void MoveOnDevice(const RunContext& run, SequenceMove move, const Sequences& s, const int64_t* lengths, const TBlob& in, const TBlob& out);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_INDEXING_GPU_SEQUENCE_H_
