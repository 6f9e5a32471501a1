// _fold_scale_shift: the weight and bias of a layer with a normalization and numbers folded in.
#include "operator/nn/common/scale_shift.h"

#include <cmath>

#include "base/half.h"
#include "mxnet/op.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nodes/make_nodes.h"
#include "operator/record/dtypes.h"
#include "operator/record/traits_graph.h"
#include "rtc/loop.h"

namespace mxnet {
namespace nn {

MXNET_REGISTER_PARAM(ScaleShiftParam);

namespace {

constexpr char kName[] = "_fold_scale_shift";

// Items: the elements of the weight, then those of the bias.
void RunOnGpu(KernelArgs& args) {
  const auto& p = args.param<ScaleShiftParam>();
  const int k = p.has_bias ? 2 : 1;
  auto dtype = [&](int i) { return args.in[i].dtype; };
  auto address = [&](int i) { return args.in[i].dptr; };
  const int64_t size = args.in[0].Size(), filters = args.in[0].shape[0];
  rtc::Arguments a;
  a.Add(address(0)).Add(p.has_bias ? address(1) : nullptr);
  for (int i = 0; i < 4; ++i) a.Add(p.has_norm ? address(k + i) : nullptr);
  a.Add(args.out[0].dptr).Add(args.out[1].dptr).Add(size).Add(filters ? size / filters : 1);
  for (double v : {p.eps, p.pre_scale, p.pre_shift, p.post_scale, p.post_shift}) a.Add(v);
  const bool norm = p.has_norm;
  rtc::LaunchItems(args.run,
                   {"operator/nn/common/gpu_scale_shift.cuh",
                    "fold_scale_shift",
                    {dtype(0), p.has_bias ? dtype(1) : -1, norm ? dtype(k) : -1, norm ? dtype(k + 1) : -1, norm ? dtype(k + 2) : -1,
                     norm ? dtype(k + 3) : -1, args.out[0].dtype},
                    {p.has_bias, norm, p.fix_gamma}},
                   size + filters, &a);
}

void Run(KernelArgs& args) {
  if (args.run.ctx.is_gpu()) return RunOnGpu(args);
  const auto& p = args.param<ScaleShiftParam>();
  const int k = p.has_bias ? 2 : 1;
  const auto input = [&](int i) { return AsFloat(args, args.in[i]); };
  const bool weight_wanted = Wanted(args, 0);
  const float *weight = weight_wanted ? input(0) : nullptr, *bias = p.has_bias ? input(1) : nullptr;
  const float *gamma = nullptr, *beta = nullptr, *mean = nullptr, *var = nullptr;
  if (p.has_norm) gamma = input(k), beta = input(k + 1), mean = input(k + 2), var = input(k + 3);
  float *new_weight = IsHalf(p.dtype) && weight_wanted ? Workspace<float>(args, args.out[0].Size()) : args.out[0].data<float>(),
        *new_bias = args.out[1].data<float>();
  const int64_t filters = args.in[0].shape[0], row = filters && weight_wanted ? args.in[0].Size() / filters : 0;
  for (int64_t f = 0; f < filters; ++f) {
    double scale = p.pre_scale, shift = p.pre_shift;
    if (p.has_norm) {
      const double s = (p.fix_gamma ? 1.0 : static_cast<double>(gamma[f])) / std::sqrt(static_cast<double>(var[f]) + p.eps);
      scale *= s;
      shift = (shift - static_cast<double>(mean[f])) * s + static_cast<double>(beta[f]);
    }
    scale *= p.post_scale;
    shift = shift * p.post_scale + p.post_shift;
    for (int64_t i = 0; i < row; ++i) new_weight[f * row + i] = static_cast<float>(static_cast<double>(weight[f * row + i]) * scale);
    new_bias[f] = static_cast<float>((bias ? static_cast<double>(bias[f]) * scale : 0.0) + shift);
  }
  if (!weight_wanted) return;
  if (p.dtype == kFloat16) FloatToHalf(new_weight, args.out[0].data<float16>(), args.out[0].Size());
  if (p.dtype == kBfloat16) FloatToBfloat(new_weight, args.out[0].data<bfloat16>(), args.out[0].Size());
}

bool InferTypes(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const int dtype = attrs.get<ScaleShiftParam>().dtype;
  MXNET_CHECK_KIND(dtype == kFloat32 || IsHalf(dtype), Type)  // the kernels write nothing else
      << Named(attrs) << "dtype=" << DTypeName(dtype) << "; accepted: float32, float16, bfloat16";
  AssignType(attrs, "weight", &(*out)[0], dtype);
  AssignType(attrs, "bias", &(*out)[1], kFloat32);
  for (int& t : *in)
    if (t == kDTypeUnknown) t = kFloat32;
  return true;
}

bool InferShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape weight = (*in)[0];
  if (!weight.known()) return false;
  MXNET_CHECK_KIND(weight.ndim() > 0, Value) << Named(attrs) << "the weight has no dimensions";
  AssignShape(attrs, "weight", &(*out)[0], weight);
  const Shape channels({weight[0]});
  AssignShape(attrs, "bias", &(*out)[1], channels);
  for (size_t i = 1; i < in->size(); ++i) AssignShape(attrs, "a parameter", &(*in)[i], channels);
  return true;
}

MXNET_REGISTER_OP(_fold_scale_shift)
    .describe(
        "Weight and bias of a convolution or dense layer with the BatchNorm and the numbers behind it folded in; made by the plan "
        "compiler.")
    .set_param<ScaleShiftParam>()
    .set_dtypes(dtypes::kFloatsUpTo32)
    .set_infer_type(InferTypes)
    .set_inputs({"weight", "bias", "gamma", "beta", "moving_mean", "moving_var"},
                [](const Attrs& a) {
                  return 1 + (a.get<ScaleShiftParam>().has_bias ? 1 : 0) + (a.get<ScaleShiftParam>().has_norm ? 4 : 0);
                })
    .set_list_inputs([](const Attrs& a) {
      std::vector<std::string> names = {"weight"};
      if (a.get<ScaleShiftParam>().has_bias) names.push_back("bias");
      if (a.get<ScaleShiftParam>().has_norm) names.insert(names.end(), {"gamma", "beta", "moving_mean", "moving_var"});
      return names;
    })
    .set_outputs({"weight", "bias"})
    .set_infer_shape(InferShape)
    .set_trait(ReadOnlyFor{0, 0})
    .set_kernel(Run);

}  // namespace

const ScaleShiftParam* ScaleShiftOf(const Node& node) {
  static const Op* op = Op::Get(kName);
  return node.op() == op ? &node.attrs->get<ScaleShiftParam>() : nullptr;
}

NodePtr MakeScaleShift(const ScaleShiftParam& p, std::vector<NodeEntry> inputs, const std::string& name) {
  const AttrDict dict = {{"eps", ExactText(p.eps)},
                         {"pre_scale", ExactText(p.pre_scale)},
                         {"pre_shift", ExactText(p.pre_shift)},
                         {"post_scale", ExactText(p.post_scale)},
                         {"post_shift", ExactText(p.post_shift)},
                         {"fix_gamma", p.fix_gamma ? "1" : "0"},
                         {"has_bias", p.has_bias ? "1" : "0"},
                         {"has_norm", p.has_norm ? "1" : "0"},
                         {"dtype", DTypeName(p.dtype)}};
  NodePtr node = MakeNode(kName, std::move(inputs), dict, name);
  auto attrs = std::make_shared<Attrs>(*node->attrs);
  attrs->param = std::make_shared<ScaleShiftParam>(p);  // the same numbers: read from text they may be off by a bit
  node->attrs = std::move(attrs);
  return node;
}

}  // namespace nn
}  // namespace mxnet
