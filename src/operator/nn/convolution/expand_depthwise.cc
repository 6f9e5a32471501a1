// _fused_expand_depthwise: a 1x1 convolution and the 3x3 depthwise convolution that alone reads it
// (Sandler et al., "MobileNetV2: inverted residuals and linear bottlenecks", 2018), without writing
// what lies between.
#include "operator/nn/convolution/expand_depthwise.h"

#include <algorithm>

#include "base/cpu_dispatch.h"
#include "base/ran.h"
#include "base/round_up.h"
#include "mxnet/op.h"
#include "operator/nn/common/epilogue.h"
#include "operator/nn/common/kept_weights.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/cpu_gemm/packed.h"
#include "operator/record/param.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace nn {
namespace {

constexpr char kName[] = "_fused_expand_depthwise";

int NumInputs(const ExpandDepthwiseParam& p) { return 3 + p.expand_bias + p.bias; }

bool InferShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<ExpandDepthwiseParam>();
  const Shape& x = (*in)[0];
  if (!x.known()) return false;
  MXNET_CHECK_KIND(x.ndim() == 4, Value) << Named(attrs) << "data of shape " << x << "; accepted: (batch, channels, height, width)";
  const int64_t f = p.num_filter;
  int i = 1;
  AssignShape(attrs, "expand_weight", &(*in)[i++], Shape{f, x[1], 1, 1});
  if (p.expand_bias) AssignShape(attrs, "expand_bias", &(*in)[i++], Shape{f});
  AssignShape(attrs, "weight", &(*in)[i++], Shape{f, 1, 3, 3});
  if (p.bias) AssignShape(attrs, "bias", &(*in)[i++], Shape{f});
  const auto size = [&](int64_t n) { return (n + 2 * p.pad - 3) / p.stride + 1; };
  AssignShape(attrs, "output", &(*out)[0], Shape{x[0], f, size(x[2]), size(x[3])});
  return true;
}

// (outer, a, b) -> (outer, b, a)
void Swap(const float* from, int64_t outer, int64_t a, int64_t b, float* to) {
  for (int64_t n = 0; n < outer; ++n)
    for (int64_t i = 0; i < a; ++i)
      for (int64_t j = 0; j < b; ++j) to[(n * b + j) * a + i] = from[(n * a + i) * b + j];
}

void Forward(KernelArgs& args) {
  const TBlob &x = args.in[0], &y = args.out[0];
  if (args.req[0] == OpReq::kNull || y.Size() == 0) return;
  const auto& p = args.param<ExpandDepthwiseParam>();
  const int second = p.expand_bias ? 3 : 2;
  ConvCall expand, depthwise;
  ConvDims &a = expand.dims, &b = depthwise.dims;
  a.batch = b.batch = x.shape[0], a.channels = x.shape[1], a.filters = b.channels = b.filters = b.groups = p.num_filter;
  for (int i = 1; i < 3; ++i) {
    a.in[i] = a.out[i] = b.in[i] = x.shape[i + 1], b.out[i] = y.shape[i + 1];
    b.kernel[i] = 3, b.stride[i] = p.stride, b.pad[i] = p.pad;
  }
  expand.src = {x.dptr, true}, expand.weight = {args.in[1].dptr, false}, expand.dst = {nullptr, true}, expand.post = p.expand_post;
  depthwise.src = {nullptr, true}, depthwise.weight = {args.in[second].dptr, false}, depthwise.dst = {y.dptr, true},
  depthwise.post = p.post;
  expand.bias = p.expand_bias ? args.in[2].dptr : nullptr;
  depthwise.bias = p.bias ? args.in[second + 1].dptr : nullptr;
  // Without the layout pass images come in planes.
  const bool x_planes = x.layout != Layout::kChannelsLast && a.InSize() > 1 && a.channels > 1,
             y_planes = y.layout != Layout::kChannelsLast && b.OutSize() > 1;
  if (x_planes) {
    float* rows = Workspace<float>(args, x.Size());
    Swap(x.data<float>(), a.batch, a.channels, a.InSize(), rows);
    expand.src.ptr = rows;
  }
  if (y_planes) depthwise.dst.ptr = Workspace<float>(args, y.Size());
  MXNET_CHECK_KIND(ExpandDepthwiseTakes(expand, depthwise), Value)
      << Named(*args.attrs) << "data of shape " << x.shape << "; accepted: filters in multiples of 16";
  // The packed weights of both lie beside each other, and change when either does.
  const int64_t size = RoundUp(PackedSize(expand), 16);
  const uint64_t form = static_cast<uint64_t>(CurrentCpuLevel()) ^ uint64_t { 1 } << 62;
  const float* packed = KeptWeights(args, 1, expand.weight.ptr, form, size + DepthwiseSize(depthwise),
                                    [&](float* to) {
                                      args.NeedWeights(depthwise.weight.ptr);
                                      PackWeights(expand, to);
                                      PackDepthwise(depthwise, to + size);
                                      args.DoneWithWeights(depthwise.weight.ptr);
                                    },
                                    {second});
  Ran("packed GEMM with depthwise");
  ExpandDepthwiseRun(expand, depthwise, packed, packed + size, args.workspace);
  if (y_planes) Swap(static_cast<const float*>(depthwise.dst.ptr), b.batch, b.OutSize(), b.channels, y.data<float>());
}

int Number(const AttrDict& dict, const char* key, int least, int most) {
  auto it = dict.find(key);
  const std::string text = it == dict.end() ? "" : it->second;
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  MXNET_CHECK_KIND(!text.empty() && !*end && value >= least && value <= most, Value)
      << "[" << kName << "] " << key << " = '" << text << "'; accepted: " << least << " to " << most;
  return static_cast<int>(value);
}

std::shared_ptr<const void> Parse(const AttrDict& dict) {
  AttrDict rest = dict;
  auto p = std::make_shared<ExpandDepthwiseParam>();
  std::string post;
  if (TakeText(&rest, "expand_post", &post)) p->expand_post = ParsePost(kName, post);
  post.clear();
  if (TakeText(&rest, "post", &post)) p->post = ParsePost(kName, post);
  p->expand_bias = TakeFlag(kName, &rest, "with_expand_bias");
  p->bias = TakeFlag(kName, &rest, "with_bias");
  p->num_filter = Number(rest, "num_filter", 16, 1 << 30);
  p->stride = Number(rest, "stride", 1, 2);
  p->pad = Number(rest, "pad", 0, 1);
  return p;
}

Op& WithParser(Op& op) {
  op.parse = Parse;
  return op;
}

[[maybe_unused]] Op& record =
    WithParser(Op::Register(kName))
        .describe("A 1x1 convolution and the 3x3 depthwise convolution behind it, with their activations; made by the plan compiler.")
        .set_inputs({"data", "expand_weight", "expand_bias", "weight", "bias"},
                    [](const Attrs& a) { return NumInputs(a.get<ExpandDepthwiseParam>()); })
        .set_list_inputs([](const Attrs& a) {
          const auto& p = a.get<ExpandDepthwiseParam>();
          std::vector<std::string> names = {"data", "expand_weight"};
          if (p.expand_bias) names.push_back("expand_bias");
          names.push_back("weight");
          if (p.bias) names.push_back("bias");
          return names;
        })
        .set_infer_shape(InferShape)
        .set_dtypes({kFloat32})
        .set_trait(AsksForWeights{0b1110})
        .set_images({0b1, 0b1, 0b1})
        .set_flops([](const Attrs& a, Span<const TBlob> in, Span<const TBlob> out) {
          return 2.0 * static_cast<double>(a.get<ExpandDepthwiseParam>().num_filter) * static_cast<double>(in[0].Size()) +
                 18.0 * static_cast<double>(out[0].Size());
        })
        .set_stateful()
        .set_kernel(DeviceType::kCPU, Forward);

}  // namespace

AttrsPtr ExpandDepthwiseAttrs(const ExpandDepthwiseParam& p) {
  AttrDict dict = {{"num_filter", std::to_string(p.num_filter)}, {"stride", std::to_string(p.stride)}, {"pad", std::to_string(p.pad)}};
  if (p.expand_bias) dict["with_expand_bias"] = "True";
  if (p.bias) dict["with_bias"] = "True";
  if (p.expand_post) dict["expand_post"] = EpilogueText(p.expand_post);
  if (p.post) dict["post"] = EpilogueText(p.post);
  return MakeAttrs(Op::Get(kName), std::move(dict));
}

}  // namespace nn
}  // namespace mxnet
