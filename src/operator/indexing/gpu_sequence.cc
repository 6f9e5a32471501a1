#include "operator/indexing/gpu_sequence.h"

#include <string>

#include "rtc/loop.h"

namespace mxnet {
namespace {

rtc::Arguments ArgumentsOf(const Sequences& s, const int64_t* lengths, const TBlob& in, const TBlob& out) {
  rtc::Arguments args;
  args.Add(in.dptr).Add(out.dptr).Add(lengths).Add(s.steps).Add(s.batch).Add(s.inner).Add(s.step_stride).Add(s.batch_stride);
  return args;
}
const char* const kFile = "operator/indexing/gpu_sequence.cuh";

}  // namespace

void MaskOnDevice(const RunContext& run, const Sequences& s, const int64_t* lengths, double value, const TBlob& in, const TBlob& out) {
  rtc::Arguments args = ArgumentsOf(s, lengths, in, out);
  args.Add(value);
  rtc::LaunchItems(run, {kFile, "sequence_mask", {in.dtype}}, in.Size(), &args);
}

void MoveOnDevice(const RunContext& run, SequenceMove move, const Sequences& s, const int64_t* lengths, const TBlob& in, const TBlob& out) {
  rtc::Arguments args = ArgumentsOf(s, lengths, in, out);
  const int dtypes[9] = {0, kUint8, kUint16, 0, kUint32, 0, 0, 0, kUint64};
  rtc::LaunchItems(run, {kFile, "sequence_move", {dtypes[DTypeSize(in.dtype)]}, {static_cast<int>(move)}}, out.Size(), &args);
}

}  // namespace mxnet
