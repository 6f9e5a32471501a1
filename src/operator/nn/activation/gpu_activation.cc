#include "operator/nn/activation/gpu_activation.h"

#include "operator/nn/common/gpu_channels.h"
#include "operator/nn/common/nn_common.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/gpu_activation.h"
#include "operator/pointwise/gpu_program.h"
#include "operator/pointwise/rows.h"
#include "rtc/loop.h"

namespace mxnet {
namespace nn {
namespace {

const char* const kFile = "operator/nn/activation/gpu_activation.cuh";

}  // namespace

void ActivationOnDevice(KernelArgs& a, int type, double slope, bool gradient) {
  pointwise::DeviceProgram p;
  pointwise::DeviceStep step;
  step.function = pointwise::ActivationFunction(type, gradient);
  for (int i = 0; i <= static_cast<int>(gradient); ++i) step.from.push_back({pointwise::DeviceValue::kInput, i});
  step.params = 0;
  p.numbers = 3;
  p.name = "activation_" + pointwise::DeviceName(step.function);
  p.compute = pointwise::ComputeFor(a.out[0].dtype, false);
  p.steps.push_back(step);
  const double numbers[3] = {slope, 0, 0};
  pointwise::RunProgram(p, Span<const TBlob>(a.in.ptr, gradient ? 2 : 1), numbers, a.out[0], a.req[0], a.run);
}

void MultiplyOnDevice(KernelArgs& a, const TBlob& x, const TBlob& y, const TBlob& out) {
  const pointwise::Operand in[2] = {x, y};
  pointwise::Execute(a.run, pointwise::Forward(pointwise::k_mul), pointwise::ComputeFor(out.dtype, false), in, 2, pointwise::kBinaryMasks,
                     nullptr, out, OpReq::kWrite);
}

void DropoutOnDevice(const RunContext& run, const DeviceDraws& draws, uint64_t threshold, double scale, const TBlob* x, const TBlob& mask,
                     const TBlob& out) {
  rtc::Arguments args;
  args.Add(x ? x->dptr : nullptr)
      .Add(mask.dptr)
      .Add(x ? out.dptr : nullptr)
      .Add(mask.Size())
      .Add(static_cast<int64_t>(threshold))
      .Add(scale);
  draws.AddTo(&args);
  rtc::LaunchItems(run, {kFile, "dropout", {mask.dtype}, {x != nullptr}}, (mask.Size() + 3) / 4, &args);
}

void PreluOnDevice(KernelArgs& a, int64_t channels, int64_t inner, const TBlob& x, const TBlob& gamma, const TBlob& y) {
  rtc::Arguments args;
  args.Add(x.dptr).Add(gamma.dptr).Add(y.dptr).Add(gamma.Size() == 1 ? int64_t{1} : channels).Add(inner);
  rtc::LaunchItems(a.run, {kFile, "prelu", {x.dtype, gamma.dtype}}, y.Size(), &args);
}

void PreluBackwardOnDevice(KernelArgs& a, int64_t outer, int64_t channels, int64_t inner) {  // ograd, data, gamma -> data_grad, gamma_grad
  const TBlob &og = a.in[0], &x = a.in[1], &gamma = a.in[2];
  const bool shared = gamma.Size() == 1;
  if (Wanted(a, 0)) {
    rtc::Arguments args;
    args.Add(og.dptr).Add(x.dptr).Add(gamma.dptr).Add(a.out[0].dptr).Add(shared ? int64_t{1} : channels).Add(inner);
    rtc::LaunchItems(a.run, {kFile, "prelu_backward", {x.dtype, gamma.dtype}}, x.Size(), &args);
  }
  if (!Wanted(a, 1)) return;
  rtc::Arguments own;
  own.Add(a.out[1].dptr);
  const ChannelView view = shared ? ChannelView{1, 1, outer * channels * inner} : ChannelView{outer, channels, inner};
  ChannelSums(a, view, {kFile, "prelu_gamma", rtc::TypeText("PreluGamma", {x.dtype, gamma.dtype})}, x.dtype, {og.dptr, x.dptr}, own);
}

void RreluOnDevice(KernelArgs& a, bool drawn, const DeviceDraws& draws, double low, double range, double mean, const TBlob& mask) {
  rtc::Arguments args;
  args.Add(a.in[0].dptr).Add(mask.dptr).Add(a.out[0].dptr).Add(mask.Size()).Add(low).Add(range).Add(mean);
  draws.AddTo(&args);
  rtc::LaunchItems(a.run, {kFile, "rrelu", {mask.dtype}, {drawn}}, (mask.Size() + 3) / 4, &args);
}

}  // namespace nn
}  // namespace mxnet
