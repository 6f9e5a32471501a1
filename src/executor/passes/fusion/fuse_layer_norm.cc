// Layer normalization (Ba et al., arXiv 1607.06450) written out, (x - mean(x)) / sqrt(mean((x -
// mean(x))^2) + eps) over the last dimension, and gamma and beta behind it, becomes LayerNorm: one
// pass over the data forward and one backward, before the gradient is made. Over the channels of
// images it does so in inference on the CPU, between transposes: images whose channels are last in
// memory need not be moved for them.
#include "executor/passes/core/pattern.h"
#include "operator/nodes/graph_operators.h"
#include "operator/nodes/make_nodes.h"

namespace mxnet {
namespace {

using namespace pattern;

struct Norm {
  NodeEntry x, gamma, beta;  // of the graph before the pass; empty: 1, 0
  double eps = 0;
  Shape channels;
  int dtype = kFloat32;
  bool images = false;  // their channels are normalized, else the last dimension
};

class LayerNorms {
 public:
  LayerNorms(const GraphView& view, bool images) : view_(view), images_(images) {
    const Pattern centred = x_ - Mean(x_, axis_);
    const Pattern variance = Mean(Square(centred), axis_) | Reduce(Role::kVariance, x_, axis_);
    const Pattern normal = centred / Sqrt(variance + eps_);
    const Pattern scaled = Apply(Role::kMultiply, {normal.Once(), gamma_});
    written_ = (scaled.Once() + beta_) | (normal.Once() + beta_) | scaled | normal;
  }

  bool operator()(const NodeEntry& out, Norm* norm) {
    norm->dtype = view_.dtype(out);
    if (norm->dtype != kFloat32 && norm->dtype != kFloat64) return false;
    if (!Matches(written_, out, view_, &match_)) return false;
    *norm = {match_[x_], match_[gamma_], match_[beta_], match_[eps_], Shape(), norm->dtype};
    const Shape& data = view_.shape(norm->x);
    const int axis = match_[axis_], last = data.ndim() - 1;
    norm->images = axis < last;
    norm->channels = Shape{data[axis]};
    const auto fits = [&](const NodeEntry& e) {
      return !e || (AlongChannels(view_.shape(e), data, axis) && view_.dtype(e) == view_.dtype(norm->x));
    };
    return (axis == last || (images_ && axis == 1 && last == 3)) && norm->channels[0] > 1 && norm->eps > 0 && view_.shape(out) == data &&
           fits(norm->gamma) && fits(norm->beta);
  }

 private:
  // One number for each channel: the shape ends with the channels and a 1 for each dimension behind
  // them, or has such in front as well.
  static bool AlongChannels(const Shape& s, const Shape& data, int axis) {
    const int behind = data.ndim() - 1 - axis, at = s.ndim() - 1 - behind;
    if (behind == 0) return s == Shape{data[axis]};
    return at >= 0 && s.ndim() <= data.ndim() && s[at] == data[axis] && s.Size() == data[axis];
  }

  const GraphView& view_;
  const bool images_;
  const Axis axis_;
  const Number eps_;
  const Pattern x_ = Any(), gamma_ = Any(), beta_ = Any();
  Pattern written_ = Any();
  Match match_;
};

}  // namespace

int FuseLayerNorm(PassGraph* g, PassContext* context) {
  if (!context->inference() && RecomputeNamed(g->outputs, context->request)) return 0;
  if (!Has(*g, Role::kMean)) return 0;
  const GraphView view(*g, context->info(*g));
  LayerNorms norms(view, context->inference() && context->on_cpu());
  std::map<const Node*, Norm> found;
  int fused = 0;
  VisitForward(*g, [&](const NodePtr& n) {
    Norm norm;
    if (n->is_variable() || !norms({n, 0, 0}, &norm)) return;
    fused += !norm.gamma && !norm.beta;  // with them it stands around one that was counted
    found.emplace(n.get(), std::move(norm));
  });
  Replace(g, found, [](const Norm& norm, const Renew& renew, const std::string& name) {
    const auto factors = [&](const NodeEntry& e, const char* end) {
      return norm.images ? graph_ops::ReshapeTo(renew(e), norm.channels, name + end) : renew(e);
    };
    const NodeEntry gamma = norm.gamma ? factors(norm.gamma, "_gamma") : MakeOnes(norm.channels, norm.dtype, name + "_gamma");
    const NodeEntry beta = norm.beta ? factors(norm.beta, "_beta") : MakeZeros(norm.channels, norm.dtype, name + "_beta");
    if (!norm.images) return MakeLayerNorm(renew(norm.x), gamma, beta, norm.eps, name);
    const NodeEntry rows = graph_ops::TransposeTo(renew(norm.x), {0, 2, 3, 1}, name + "_rows");
    const NodePtr made = MakeLayerNorm(rows, gamma, beta, norm.eps, name);
    return graph_ops::TransposeTo({made, 0, 0}, {0, 3, 1, 2}, name + "_images").node;
  });
  return fused;
}

}  // namespace mxnet
