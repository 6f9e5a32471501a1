// Layer normalization (Ba et al., arXiv 1607.06450) written out, (x - mean(x)) / sqrt(mean((x -
// mean(x))^2) + eps) over the last dimension, and gamma and beta behind it, becomes LayerNorm: one
// pass over the data forward and one backward, before the gradient is made.
#include "executor/passes/core/pattern.h"
#include "operator/nodes/make_nodes.h"

namespace mxnet {
namespace {

using namespace pattern;

struct Norm {
  NodeEntry x, gamma, beta;  // of the graph before the pass; empty: 1, 0
  double eps = 0;
  Shape channels;
  int dtype = kFloat32;
};

class LayerNorms {
 public:
  explicit LayerNorms(const GraphView& view) : view_(view) {
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
    norm->channels = Shape{data[data.ndim() - 1]};
    const auto fits = [&](const NodeEntry& e) {
      return !e || (view_.shape(e) == norm->channels && view_.dtype(e) == view_.dtype(norm->x));
    };
    return match_[axis_] == data.ndim() - 1 && norm->channels[0] > 1 && norm->eps > 0 && view_.shape(out) == data && fits(norm->gamma) &&
           fits(norm->beta);
  }

 private:
  const GraphView& view_;
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
  LayerNorms norms(view);
  std::map<const Node*, Norm> found;
  int fused = 0;
  VisitForward(*g, [&](const NodePtr& n) {
    Norm norm;
    if (n->is_variable() || !norms({n, 0, 0}, &norm)) return;
    fused += !norm.gamma && !norm.beta;  // with them it stands around one that was counted
    found.emplace(n.get(), std::move(norm));
  });
  Replace(g, found, [](const Norm& norm, const Renew& renew, const std::string& name) {
    return MakeLayerNorm(renew(norm.x), norm.gamma ? renew(norm.gamma) : MakeOnes(norm.channels, norm.dtype, name + "_gamma"),
                         norm.beta ? renew(norm.beta) : MakeZeros(norm.channels, norm.dtype, name + "_beta"), norm.eps, name);
  });
  return fused;
}

}  // namespace mxnet
