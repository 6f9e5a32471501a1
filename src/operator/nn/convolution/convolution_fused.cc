// _fused_convolution: a convolution with the addition and the activation behind it, in one pass
// over its result.
#include <cstring>

#include "operator/nn/common/fused.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/convolution/convolution.h"
#include "operator/nn/convolution/depthwise_planes.h"
#include "operator/nn/cpu_gemm/packed.h"

namespace mxnet {
namespace nn {
namespace {

bool Run(KernelArgs& args, bool reference) {
  const TBlob& out = args.out[0];
  const auto& p = args.param<FusedParam>();
  const auto& conv = p.layer->get<ConvolutionParam>();
  const TBlob& addend = args.in[args.in.size() - 1];
  const bool bias = p.LayerInputs() > 2, last = ChannelsLastAttr(conv.layout);
  auto ordered = [last](const TBlob& b) { return Ordered{b.dptr, last || b.layout == Layout::kChannelsLast}; };
  ConvCall call;
  call.dims = DimsOf(conv, args.in[0].shape, out.shape);
  call.dtype = out.dtype;
  call.src = ordered(args.in[0]), call.weight = ordered(args.in[1]), call.dst = ordered(out);
  call.bias = bias ? args.in[2].dptr : nullptr;
  call.wide_bias = bias && IsHalf(out.dtype) && args.in[2].dtype == kFloat32;
  call.weight_input = 1;
  call.accumulate = p.add;
  call.post = p.post;
  if (DepthwisePlanes(args, call) || DepthwiseSequences(args, call)) return true;
  if (NativeConvolution(args, call, p.add ? addend.dptr : nullptr)) return true;
  if (auto hook = ActiveHooks().convolution) {
    if (p.add) BeginWithAddend(addend, out);
    if (hook(args, call)) return true;
  }
  if (!reference) return false;
  const int64_t n = out.Size();
  float *y = out.data<float>(), *added = nullptr;
  if (p.add) {  // may be the result's own memory
    added = Workspace<float>(args, n);
    std::memcpy(added, addend.dptr, out.Bytes());
  }
  call.accumulate = false;
  call.post = EpilogueOp();
  RunConvolution(args, call);
  ParallelFor(n, 0, [&](int64_t b, int64_t e) {
    if (added)
      for (int64_t i = b; i < e; ++i) y[i] += added[i];
    ApplyPost(p.post, y + b, y + b, e - b);
  });
  return true;
}

void Forward(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  RunFused(args, Run);
}

[[maybe_unused]] Op& record =
    RegisterFused("_fused_convolution", "Convolution")
        .set_trait(AsksForWeights{0b10, true})
        .set_images({0b1101, 0b1, 0b1100})
        .set_trait(NamesLayout{[](const Attrs& a) { return ChannelsLastAttr(a.get<FusedParam>().layer->get<ConvolutionParam>().layout); }})
        .set_kernel(DeviceType::kCPU, Forward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
