// Inference: BatchNorm after a convolution becomes part of the convolution's weight and bias.
//
//   BN(conv(x, w) + b) = conv(x, w * s) + (b - mean) * s + beta,   s = gamma / sqrt(var + eps)
//
// The folded weight and bias are computed by a node of the plan that runs again only when a parameter has changed.
#include <cmath>
#include <cstdlib>
#include <map>

#include "executor/passes.h"
#include "mxnet/env.h"

namespace mxnet {
namespace {

struct FoldParam {
  double eps;
  bool fix_gamma, has_bias;
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

bool PlainLayout(const AttrDict& dict) {
  auto it = dict.find("layout");
  return it == dict.end() || it->second == "None" || it->second == "NCHW" || it->second == "NCW" || it->second == "NCDHW";
}

bool Foldable(const Node& bn) {
  const AttrDict& d = bn.attrs->dict;
  if (bn.is_variable() || bn.op()->name != "BatchNorm" || Number(d, "axis", 1) != 1 || IsOn(d, "output_mean_var", false)) return false;
  const NodeEntry& in = bn.inputs[0];
  if (in.node->is_variable() || in.node->op()->name != "Convolution" || !PlainLayout(in.node->attrs->dict)) return false;
  for (size_t i = 1; i < bn.inputs.size(); ++i)
    if (!bn.inputs[i].node->is_variable()) return false;
  for (size_t i = 1; i < in.node->inputs.size(); ++i)
    if (!in.node->inputs[i].node->is_variable()) return false;
  return true;
}

void FoldKernel(KernelArgs& args) {
  MXNET_CHECK_KIND(args.in[0].dtype == kFloat32, Type) << "[_fold_batch_norm] dtype " << DTypeName(args.in[0].dtype) << "; accepted: float32";
  const auto& p = args.param<FoldParam>();
  const int k = p.has_bias ? 2 : 1;
  const float *weight = args.in[0].data<float>(), *bias = p.has_bias ? args.in[1].data<float>() : nullptr, *gamma = args.in[k].data<float>(),
              *beta = args.in[k + 1].data<float>(), *mean = args.in[k + 2].data<float>(), *var = args.in[k + 3].data<float>();
  float *new_weight = args.out[0].data<float>(), *new_bias = args.out[1].data<float>();
  const int64_t filters = args.in[0].shape[0], row = filters ? args.in[0].Size() / filters : 0;
  for (int64_t f = 0; f < filters; ++f) {
    const double scale = (p.fix_gamma ? 1.0 : gamma[f]) / std::sqrt(var[f] + p.eps);
    for (int64_t i = 0; i < row; ++i) new_weight[f * row + i] = static_cast<float>(weight[f * row + i] * scale);
    new_bias[f] = static_cast<float>(((bias ? bias[f] : 0.0) - mean[f]) * scale + beta[f]);
  }
}

bool FoldShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape weight = (*in)[0];
  if (!weight.known()) return false;
  MXNET_CHECK_KIND(weight.ndim() > 0, Value) << "[_fold_batch_norm] the weight has no dimensions";
  AssignShape(attrs, "weight", &(*out)[0], weight);
  const Shape channels({weight[0]});
  AssignShape(attrs, "bias", &(*out)[1], channels);
  for (size_t i = 1; i < in->size(); ++i) AssignShape(attrs, "a parameter", &(*in)[i], channels);
  return true;
}

std::shared_ptr<const void> ParseFold(const AttrDict& dict) {
  return std::make_shared<FoldParam>(FoldParam{Number(dict, "eps", 1e-3), IsOn(dict, "fix_gamma", true), IsOn(dict, "has_bias", true)});
}

Op& WithParser(Op& op) {
  op.parse = ParseFold;
  return op;
}

[[maybe_unused]] Op& record = WithParser(Op::Register("_fold_batch_norm"))
    .describe("Weight and bias of a convolution with the BatchNorm behind it folded in; made by the plan compiler.")
    .set_dtypes({kFloat32})
    .set_inputs({"weight", "bias", "gamma", "beta", "moving_mean", "moving_var"}, [](const Attrs& a) { return a.get<FoldParam>().has_bias ? 6 : 5; })
    .set_outputs({"weight", "bias"})
    .set_infer_shape(FoldShape)
    .set_kernel(DeviceType::kCPU, FoldKernel);

}  // namespace

bool IsConstantNode(const Node& node) { return node.op()->name == "_fold_batch_norm"; }

int FoldBatchNorm(PassGraph* g) {
  // a convolution whose plain result somebody else reads stays
  std::map<std::pair<const Node*, uint32_t>, int> users;
  DFSVisit(g->outputs, [&](const NodePtr& n) {
    for (const auto& e : n->inputs) ++users[{e.node.get(), e.index}];
  });
  for (const auto& e : g->outputs) users[{e.node.get(), e.index}] += e.index > 0 ? 1000 : 1;
  int folded = 0;
  Rewrite(g, [&](const NodePtr& bn, const NodePtr& original) -> NodePtr {
    if (bn->is_variable() || !Foldable(*bn) || users[{original->inputs[0].node.get(), 0}] != 1 || users[{original.get(), 1}] || users[{original.get(), 2}]) return bn;
    const NodePtr& conv = bn->inputs[0].node;
    const bool has_bias = conv->inputs.size() > 2;
    auto fold = std::make_shared<Node>();
    AttrDict about = {{"has_bias", has_bias ? "1" : "0"}};
    for (const char* key : {"eps", "fix_gamma"})
      if (bn->attrs->dict.count(key)) about[key] = bn->attrs->dict.at(key);
    fold->attrs = MakeAttrs(Op::Get("_fold_batch_norm"), std::move(about));
    fold->name = bn->name + "_fold";
    for (size_t i = 1; i < conv->inputs.size(); ++i) fold->inputs.push_back(conv->inputs[i]);
    for (size_t i = 1; i < bn->inputs.size(); ++i) fold->inputs.push_back(bn->inputs[i]);
    AttrDict dict = conv->attrs->dict;
    dict["no_bias"] = "False";
    auto made = std::make_shared<Node>();
    made->name = bn->name;
    made->attrs = MakeAttrs(conv->op(), std::move(dict));
    made->inputs = {conv->inputs[0], {fold, 0, 0}, {fold, 1, 0}};
    ++folded;
    return made;
  });
  return folded;
}

}  // namespace mxnet
