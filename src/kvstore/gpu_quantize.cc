#include "kvstore/reduce.h"
#include "rtc/loop.h"

namespace mxnet {

void QuantizeTwoBitOnDevice(const RunContext& run, const TBlob& in, const TBlob& residual, const TBlob& out, float threshold) {
  rtc::Arguments args;
  args.Add(in.dptr).Add(residual.dptr).Add(out.dptr).Add(static_cast<double>(threshold));
  rtc::LaunchItems(run, {"quantize_two_bit", {}}, in.Size(), &args, [] {
    return rtc::LoopText{"const float* in; float* residual; float* out; double threshold;", "",
                         "    const float t = static_cast<float>(a.threshold), sum = a.residual[i] + a.in[i];\n"
                         "    const float q = sum >= t ? t : sum <= -t ? -t : 0.0f;\n"
                         "    a.residual[i] = sum - q;\n"
                         "    a.out[i] = q;\n"};
  });
}

}  // namespace mxnet
