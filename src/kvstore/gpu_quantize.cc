#include "kvstore/reduce.h"
#include "rtc/loop.h"

namespace mxnet {

void QuantizeTwoBitOnDevice(const RunContext& run, const TBlob& in, const TBlob& residual, const TBlob& out, float threshold) {
  rtc::Arguments args;
  args.Add(in.dptr).Add(residual.dptr).Add(out.dptr).Add(static_cast<double>(threshold));
  rtc::LaunchItems(run, {"kvstore/gpu_quantize.cuh", "quantize_two_bit"}, in.Size(), &args);
}

}  // namespace mxnet
