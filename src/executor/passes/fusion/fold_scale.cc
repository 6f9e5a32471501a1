// Inference: BatchNorm and numbers behind a convolution or dense layer become part of its weight
// and bias (operator/nn/common/scale_shift.h). These are computed by a constant node of the plan,
// which runs again only when a parameter has changed.
#include "executor/passes/fusion/fold_parameters.h"
#include "operator/nn/common/fused.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/common/scale_shift.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace {

/* The fused forms of 16-bit layers, whose bias may be float32, are layers as long as nothing else
 * is fused into them. */
bool IsLayer(const Node& n) {
  const auto layer = nn::LayerOf(n);
  return layer && !layer->packed() && !layer->add && !layer->post;
}

/* The parameter behind `e`, through a cast from its dtype to the layer's; null where `e` is
 * computed otherwise. */
const NodeEntry* ParameterOf(const NodeEntry& e) {
  if (e.node->is_variable()) return &e;
  return IsResultOf(e, Role::kCast) && e.node->inputs[0].node->is_variable() ? &e.node->inputs[0] : nullptr;
}

/* A normalization over the dimension that the layer's filters run along, with parameters that are
 * variables. */
std::optional<BatchNormView> NormBehind(const Node& n, const Node& layer, int ndim) {
  const auto norm = View<BatchNormView>(n);
  if (!norm || norm->gives_moments) return std::nullopt;
  const int axis = n.op()->trait<AlongAxis>()->axis(*n.attrs);
  if ((axis < 0 ? axis + ndim : axis) != nn::LayerOf(layer)->channel_axis(ndim)) return std::nullopt;
  for (size_t i = 1; i < n.inputs.size(); ++i)
    if (!n.inputs[i].node->is_variable()) return std::nullopt;
  return norm;
}

/* What was folded into the layer before, or nothing yet. `inputs`: the parameters that it is
 * computed from, which must not be rounded before. False: they are computed otherwise. */
bool FoldedSoFar(const Node& layer, int dtype, nn::ScaleShiftParam* p, std::vector<NodeEntry>* inputs) {
  const Node& weight = *layer.inputs[1].node;
  if (const nn::ScaleShiftParam* folded = nn::ScaleShiftOf(weight)) {
    *p = *folded;
    *inputs = weight.inputs;
    return true;
  }
  p->ReadKnown("fold_scale", {});  // the defaults
  p->has_bias = layer.inputs.size() > 2;
  p->dtype = dtype;
  for (size_t i = 1; i < layer.inputs.size(); ++i) {
    const NodeEntry* parameter = ParameterOf(layer.inputs[i]);
    if (!parameter) return false;
    inputs->push_back(*parameter);
  }
  return true;
}

void AddAffine(const Affine& affine, nn::ScaleShiftParam* p) {
  double &scale = p->has_norm ? p->post_scale : p->pre_scale, &shift = p->has_norm ? p->post_shift : p->pre_shift;
  scale *= affine.scale;
  shift = shift * affine.scale + affine.shift;
}

bool AddNorm(const BatchNormView& norm, const Node& n, nn::ScaleShiftParam* p, std::vector<NodeEntry>* inputs) {
  if (p->has_norm) return false;
  p->has_norm = true;
  p->eps = norm.eps;
  p->fix_gamma = norm.fix_gamma;
  inputs->insert(inputs->end(), n.inputs.begin() + 1, n.inputs.end());
  return true;
}

}  // namespace

bool FoldsIntoLayer(const Node& norm, int ndim) {
  const Node& layer = *norm.inputs[0].node;
  if (!IsLayer(layer) || !NormBehind(norm, layer, ndim)) return false;
  for (size_t i = 1; i < layer.inputs.size(); ++i)
    if (!ParameterOf(layer.inputs[i])) return false;
  return true;
}

int FoldScaleShift(PassGraph* g, PassContext* context) {
  return FoldScaleShift(g, context->info(*g), [](const Node&, const Node&) { return true; });
}

int FoldScaleShift(PassGraph* g, const GraphInfo& info, const std::function<bool(const Node& layer, const Node& behind)>& wanted) {
  EntryUsers users = CountUsers(*g);  // a layer whose plain result somebody else reads stays
  int folded = 0;
  Rewrite(g, [&](const NodePtr& n, const NodePtr& original) -> NodePtr {
    if (n->is_variable() || n->inputs.empty()) return n;
    const Node& layer = *n->inputs[0].node;
    const NodeEntry& before = original->inputs[0];
    if (!IsLayer(layer) || users[before] != 1 || users[{original.get(), 1}] || users[{original.get(), 2}]) return n;
    const int dtype = info.dtype(before);
    if (info.dtype({original, 0, 0}) != dtype || (dtype != kFloat32 && !IsHalf(dtype)) || !wanted(*before.node, *original)) return n;
    const auto affine = AffineOf(*n);
    const auto norm = affine ? std::nullopt : NormBehind(*n, layer, info.shape(before).ndim());
    if (!affine && !norm) return n;

    nn::ScaleShiftParam p;
    std::vector<NodeEntry> inputs;
    if (!FoldedSoFar(layer, dtype, &p, &inputs)) return n;
    if (affine)
      AddAffine(*affine, &p);
    else if (!AddNorm(*norm, *n, &p, &inputs))
      return n;
    const NodePtr fold = ConstantNodeLike(*nn::MakeScaleShift(p, std::move(inputs), n->name + "_fold"));
    auto made = std::make_shared<Node>();
    made->name = n->name;
    made->attrs = nn::WithBias(layer, dtype);
    made->inputs = {layer.inputs[0], {fold, 0, 0}, {fold, 1, 0}};
    ++folded;
    return made;
  });
  return folded;
}

}  // namespace mxnet
