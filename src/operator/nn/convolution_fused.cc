// _fused_convolution: a convolution with the addition and the activation behind it, in one pass over its result.
#include <algorithm>
#include <cstring>

#include "operator/nn/convolution.h"
#include "operator/nn/nn_common.h"
#include "operator/nn/packed.h"

namespace mxnet {
namespace nn {
namespace {

int ConvolutionInputs(const FusedConvolutionParam& p) { return p.convolution->op->NumInputs(*p.convolution); }

bool InferFusedShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<FusedConvolutionParam>();
  ShapeVector own(in->begin(), in->begin() + ConvolutionInputs(p));
  const bool known = p.convolution->op->infer_shape(*p.convolution, &own, out);
  std::copy(own.begin(), own.end(), in->begin());
  if (!p.add) return known;
  AssignShape(attrs, "addend", &in->back(), (*out)[0]);
  return known && in->back().known();
}

void Forward(KernelArgs& args) {
  const TBlob& out = args.out[0];
  if (args.req[0] == OpReq::kNull || out.Size() == 0) return;
  MXNET_CHECK_KIND(out.dtype == kFloat32, Type) << Named(*args.attrs) << "dtype " << DTypeName(out.dtype) << "; accepted: float32";
  const auto& p = args.param<FusedConvolutionParam>();
  const auto& conv = p.convolution->get<ConvolutionParam>();
  const TBlob& addend = args.in[args.in.size() - 1];
  const bool bias = ConvolutionInputs(p) > 2, last = ChannelsLastAttr(conv.layout);
  auto ordered = [last](const TBlob& b) { return Ordered{b.dptr, last || b.layout == Layout::kChannelsLast}; };
  ConvCall call;
  call.dims = DimsOf(conv, args.in[0].shape, out.shape);
  call.dtype = out.dtype;
  call.src = ordered(args.in[0]), call.weight = ordered(args.in[1]), call.dst = ordered(out);
  call.bias = bias ? args.in[2].dptr : nullptr;
  call.weight_input = 1;
  call.accumulate = p.add;
  call.post = p.post;
  if (OwnConvolution(args, call, p.add ? addend.dptr : nullptr)) return;
  if (auto hook = ActiveHooks().convolution) {
    if (p.add && addend.dptr != out.dptr) {
      const char* from = static_cast<const char*>(addend.dptr);
      char* to = static_cast<char*>(out.dptr);
      ParallelFor(static_cast<int64_t>(out.Bytes()), 1 << 18, [&](int64_t b, int64_t e) { std::memcpy(to + b, from + b, e - b); });
    }
    if (hook(args, call)) return;
  }
  const int64_t n = out.Size();
  float *y = out.data<float>(), *added = nullptr;
  if (p.add) {   // may be the result's own memory
    added = Scratch<float>(args, n);
    std::memcpy(added, addend.dptr, out.Bytes());
  }
  call.accumulate = false;
  call.post = PostOp();
  RunConvolution(args, call);
  ParallelFor(n, 0, [&](int64_t b, int64_t e) {
    if (added) for (int64_t i = b; i < e; ++i) y[i] += added[i];
    ApplyPost(p.post, y + b, y + b, e - b);
  });
}

// Convolution's own parameters, and with_add and post.
std::shared_ptr<const void> Parse(const AttrDict& dict) {
  AttrDict rest = dict;
  auto p = std::make_shared<FusedConvolutionParam>();
  std::string post;
  p->add = TakeFlag("_fused_convolution", &rest, "with_add");
  TakeText(&rest, "post", &post);
  p->post = ParsePost("_fused_convolution", post);
  p->convolution = MakeAttrs(Op::Get("Convolution"), std::move(rest));
  return p;
}

Op& WithParser(Op& op) {
  op.parse = Parse;
  return op;
}

[[maybe_unused]] Op& record = WithParser(Op::Register("_fused_convolution"))
    .describe("Convolution with the addition and the activation behind it; made by the plan compiler.")
    .set_inputs({"data", "weight", "bias", "addend"},
                [](const Attrs& a) { return ConvolutionInputs(a.get<FusedConvolutionParam>()) + (a.get<FusedConvolutionParam>().add ? 1 : 0); })
    .set_list_inputs([](const Attrs& a) {
      const auto& p = a.get<FusedConvolutionParam>();
      std::vector<std::string> names = p.convolution->op->ListInputs(*p.convolution);
      if (p.add) names.push_back("addend");
      return names;
    })
    .set_infer_shape(InferFusedShape)
    .set_dtypes({kFloat32})
    .set_images({0b1101, 0b1, 0b1100})
    .set_inplace([](const Attrs& a) {
      const auto& p = a.get<FusedConvolutionParam>();
      return p.add ? std::vector<std::pair<int, int>>{{ConvolutionInputs(p), 0}} : std::vector<std::pair<int, int>>();
    })
    .set_flops([](const Attrs& a, Span<const TBlob> in, Span<const TBlob> out) {
      const Attrs& conv = *a.get<FusedConvolutionParam>().convolution;
      return conv.op->flops(conv, in, out);
    })
    .set_stateful()
    .set_kernel(DeviceType::kCPU, Forward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
