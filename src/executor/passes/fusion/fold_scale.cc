// Inference: BatchNorm and numbers behind a convolution or dense layer become part of its weight
// and bias.
//
//   layer(x) = w x + b
//   y = post_scale * BN(pre_scale * layer(x) + pre_shift) + post_shift,   BN(z) = (z - mean) * s +
//   beta,   s = gamma / sqrt(var + eps)
//
// is a layer again. Its weight and bias are computed by a constant node of the plan, which runs
// again only when a parameter has changed.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "base/half.h"
#include "executor/passes/core/passes.h"
#include "operator/nn/common/nn_common.h"
#include "rtc/loop.h"
#include "rtc/prelude.h"

namespace mxnet {
namespace {

constexpr char kFold[] = "_fold_scale_shift";

struct FoldParam {
  double eps = 1e-3, pre_scale = 1, pre_shift = 0, post_scale = 1, post_shift = 0;
  bool fix_gamma = true, has_bias = true, has_norm = false;
  int dtype = kFloat32;  // of the new weight; the new bias is float32 in any case
};

bool IsOn(const AttrDict& dict, const char* key, bool otherwise) {
  auto it = dict.find(key);
  if (it == dict.end()) return otherwise;
  return it->second == "1" || it->second == "True" || it->second == "true";
}

double Number(const AttrDict& dict, const char* key, double otherwise) {
  auto it = dict.find(key);
  return it == dict.end() ? otherwise : std::strtod(it->second.c_str(), nullptr);
}

FoldParam Read(const AttrDict& d) {
  FoldParam p;
  p.eps = Number(d, "eps", p.eps);
  p.pre_scale = Number(d, "pre_scale", 1), p.pre_shift = Number(d, "pre_shift", 0);
  p.post_scale = Number(d, "post_scale", 1), p.post_shift = Number(d, "post_shift", 0);
  p.fix_gamma = IsOn(d, "fix_gamma", true), p.has_bias = IsOn(d, "has_bias", true), p.has_norm = IsOn(d, "has_norm", false);
  auto dtype = d.find("dtype");
  if (dtype != d.end()) p.dtype = DTypeFromName(dtype->second);
  return p;
}

AttrDict Write(const FoldParam& p) {
  auto exact = [](double v) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", v);
    return std::string(text);
  };
  return {{"eps", exact(p.eps)},
          {"pre_scale", exact(p.pre_scale)},
          {"pre_shift", exact(p.pre_shift)},
          {"post_scale", exact(p.post_scale)},
          {"post_shift", exact(p.post_shift)},
          {"fix_gamma", p.fix_gamma ? "1" : "0"},
          {"has_bias", p.has_bias ? "1" : "0"},
          {"has_norm", p.has_norm ? "1" : "0"},
          {"dtype", DTypeName(p.dtype)},
          {kPlanConstant, "1"}};
}

// Items: the elements of the weight, then those of the bias.
void FoldOnDevice(KernelArgs& args) {
  const auto& p = args.param<FoldParam>();
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

void FoldKernel(KernelArgs& args) {
  if (args.run.ctx.is_gpu()) return FoldOnDevice(args);
  const auto& p = args.param<FoldParam>();
  const int k = p.has_bias ? 2 : 1;
  const auto input = [&](int i) { return nn::AsFloat(args, args.in[i]); };
  const float *weight = input(0), *bias = p.has_bias ? input(1) : nullptr;
  const float *gamma = nullptr, *beta = nullptr, *mean = nullptr, *var = nullptr;
  if (p.has_norm) gamma = input(k), beta = input(k + 1), mean = input(k + 2), var = input(k + 3);
  float *new_weight = IsHalf(p.dtype) ? nn::Workspace<float>(args, args.out[0].Size()) : args.out[0].data<float>(),
        *new_bias = args.out[1].data<float>();
  const int64_t filters = args.in[0].shape[0], row = filters ? args.in[0].Size() / filters : 0;
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
  if (p.dtype == kFloat16) FloatToHalf(new_weight, args.out[0].data<float16>(), args.out[0].Size());
  if (p.dtype == kBfloat16) FloatToBfloat(new_weight, args.out[0].data<bfloat16>(), args.out[0].Size());
}

bool FoldTypes(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "weight", &(*out)[0], attrs.get<FoldParam>().dtype);
  AssignType(attrs, "bias", &(*out)[1], kFloat32);
  for (int& t : *in)
    if (t == kDTypeUnknown) t = kFloat32;
  return true;
}

bool FoldShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape weight = (*in)[0];
  if (!weight.known()) return false;
  MXNET_CHECK_KIND(weight.ndim() > 0, Value) << "[" << kFold << "] the weight has no dimensions";
  AssignShape(attrs, "weight", &(*out)[0], weight);
  const Shape channels({weight[0]});
  AssignShape(attrs, "bias", &(*out)[1], channels);
  for (size_t i = 1; i < in->size(); ++i) AssignShape(attrs, "a parameter", &(*in)[i], channels);
  return true;
}

Op& WithParser(Op& op) {
  op.parse = [](const AttrDict& dict) -> std::shared_ptr<const void> { return std::make_shared<FoldParam>(Read(dict)); };
  return op;
}

[[maybe_unused]] Op& record =
    WithParser(Op::Register(kFold))
        .describe(
            "Weight and bias of a convolution or dense layer with the BatchNorm and the numbers behind it folded in; made by the plan "
            "compiler.")
        .set_dtypes({kFloat32, kFloat16, kBfloat16})
        .set_infer_type(FoldTypes)
        .set_inputs({"weight", "bias", "gamma", "beta", "moving_mean", "moving_var"},
                    [](const Attrs& a) { return 1 + (a.get<FoldParam>().has_bias ? 1 : 0) + (a.get<FoldParam>().has_norm ? 4 : 0); })
        .set_list_inputs([](const Attrs& a) {
          std::vector<std::string> names = {"weight"};
          if (a.get<FoldParam>().has_bias) names.push_back("bias");
          if (a.get<FoldParam>().has_norm) names.insert(names.end(), {"gamma", "beta", "moving_mean", "moving_var"});
          return names;
        })
        .set_outputs({"weight", "bias"})
        .set_infer_shape(FoldShape)
        .set_kernel(FoldKernel);

// ---- the pass

bool IsDense(const Node& n) { return n.op()->name == "FullyConnected" || n.op()->name == "_fused_dense"; }

/* The fused forms of 16-bit layers, whose bias may be float32, are layers as long as nothing else
 * is fused into them. */
bool IsLayer(const Node& n) {
  if (n.is_variable()) return false;
  if (n.op()->name == "Convolution" || n.op()->name == "FullyConnected") return true;
  return (n.op()->name == "_fused_convolution" || n.op()->name == "_fused_dense") && !n.attrs->dict.count("post") &&
         !n.attrs->dict.count("with_add");
}

/* The parameter behind `e`, through a cast from its dtype to the layer's; null where `e` is
 * computed otherwise. */
const NodeEntry* ParameterOf(const NodeEntry& e) {
  if (e.node->is_variable()) return &e;
  const bool cast = e.node->op()->name == "amp_cast" || e.node->op()->name == "Cast";
  return cast && e.node->inputs[0].node->is_variable() ? &e.node->inputs[0] : nullptr;
}

bool ChannelsLastAttr(const AttrDict& dict) {
  auto it = dict.find("layout");
  return it != dict.end() && !it->second.empty() && it->second.back() == 'C';
}

/* The dimension of a layer's result that its filters run along. */
int ChannelAxis(const Node& layer, int ndim) {
  const AttrDict& d = layer.attrs->dict;
  if (IsDense(layer)) return ndim - 1;
  return ChannelsLastAttr(d) ? ndim - 1 : 1;
}

/* y = scale * x + shift with numbers. */
bool IsAffine(const Node& n, double* scale, double* shift) {
  const std::string& op = n.op()->name;
  const double c = Number(n.attrs->dict, "scalar", 1);
  *scale = 1, *shift = 0;
  if (op == "_mul_scalar" || op == "_npi_multiply_scalar") return *scale = c, true;
  if (op == "_div_scalar" || op == "_npi_true_divide_scalar") return *scale = 1 / c, c != 0;
  if (op == "_plus_scalar" || op == "_npi_add_scalar") return *shift = c, true;
  if (op == "_minus_scalar" || op == "_npi_subtract_scalar") return *shift = -c, true;
  if (op == "_rminus_scalar" || op == "_npi_rsubtract_scalar") return *scale = -1, *shift = c, true;
  if (op == "negative" || op == "_npi_negative") return *scale = -1, true;
  return false;
}

bool IsNorm(const Node& n, const Node& layer, int ndim) {
  if (n.op()->name != "BatchNorm") return false;
  const AttrDict& d = n.attrs->dict;
  int axis = static_cast<int>(Number(d, "axis", 1));
  if (axis < 0) axis += ndim;
  if (axis != ChannelAxis(layer, ndim) || IsOn(d, "output_mean_var", false)) return false;
  for (size_t i = 1; i < n.inputs.size(); ++i)
    if (!n.inputs[i].node->is_variable()) return false;
  return true;
}

}  // namespace

bool IsConstantNode(const Node& node) { return !node.is_variable() && node.attrs->dict.count(kPlanConstant) > 0; }

bool FoldsIntoLayer(const Node& norm, int ndim) {
  const NodeEntry& in = norm.inputs[0];
  if (!IsLayer(*in.node) || !IsNorm(norm, *in.node, ndim)) return false;
  for (size_t i = 1; i < in.node->inputs.size(); ++i)
    if (!ParameterOf(in.node->inputs[i])) return false;
  return true;
}

int FoldScaleShift(PassGraph* g, PassContext* context) {
  const GraphInfo& info = context->info(*g);
  EntryUsers users = CountUsers(*g);  // a layer whose plain result somebody else reads stays
  int folded = 0;
  Rewrite(g, [&](const NodePtr& n, const NodePtr& original) -> NodePtr {
    if (n->is_variable() || n->inputs.empty()) return n;
    const NodePtr& layer = n->inputs[0].node;
    const NodeEntry& before = original->inputs[0];
    if (!IsLayer(*layer) || users[{before.node.get(), before.index}] != 1 || users[{original.get(), 1}] || users[{original.get(), 2}])
      return n;
    const int dtype = info.dtype(before);
    if (info.dtype({original, 0, 0}) != dtype || (dtype != kFloat32 && !IsHalf(dtype))) return n;
    double scale, shift;
    const bool affine = IsAffine(*n, &scale, &shift);
    if (!affine && !IsNorm(*n, *layer, info.shape(before).ndim())) return n;

    FoldParam p;
    std::vector<NodeEntry> inputs;
    const Node& weight = *layer->inputs[1].node;
    if (!weight.is_variable() && weight.op()->name == kFold) {  // what was folded before
      p = weight.attrs->get<FoldParam>();
      inputs = weight.inputs;
    } else {
      p.has_bias = layer->inputs.size() > 2;
      for (size_t i = 1; i < layer->inputs.size(); ++i) {
        const NodeEntry* parameter = ParameterOf(layer->inputs[i]);
        if (!parameter) return n;
        inputs.push_back(*parameter);  // not rounded before it is folded
      }
      p.dtype = dtype;
    }
    if (affine && !p.has_norm) {
      p.pre_scale *= scale, p.pre_shift = p.pre_shift * scale + shift;
    } else if (affine) {
      p.post_scale *= scale, p.post_shift = p.post_shift * scale + shift;
    } else {
      if (p.has_norm) return n;
      p.has_norm = true;
      p.eps = Number(n->attrs->dict, "eps", p.eps);
      p.fix_gamma = IsOn(n->attrs->dict, "fix_gamma", true);
      inputs.insert(inputs.end(), n->inputs.begin() + 1, n->inputs.end());
    }
    auto fold = std::make_shared<Node>();
    fold->attrs = MakeAttrs(Op::Get(kFold), Write(p));
    fold->name = n->name + "_fold";
    fold->inputs = std::move(inputs);
    AttrDict dict = layer->attrs->dict;
    dict["no_bias"] = "False";
    auto made = std::make_shared<Node>();
    made->name = n->name;
    made->attrs =
        MakeAttrs(dtype == kFloat32 ? layer->op() : Op::Get(IsDense(*layer) ? "_fused_dense" : "_fused_convolution"), std::move(dict));
    made->inputs = {layer->inputs[0], {fold, 0, 0}, {fold, 1, 0}};
    ++folded;
    return made;
  });
  return folded;
}

}  // namespace mxnet
