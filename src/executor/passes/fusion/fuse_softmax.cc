// Softmax written out, exp(x - max(x)) / sum(exp(x - max(x))) over one dimension, becomes softmax,
// and x - max(x) - log(sum(exp(x - max(x)))) log_softmax, before the gradient is made: one pass
// over the data forward and one backward. Through the largest element no gradient flows in either
// form, with or without BlockGrad.
#include "executor/passes/core/pattern.h"
#include "operator/nodes/make_nodes.h"

namespace mxnet {
namespace {

using namespace pattern;

struct Found {
  NodeEntry x;
  int axis;
  bool logarithm;
};

class Softmaxes {
 public:
  explicit Softmaxes(const GraphView& view) : view_(view) {
    // what others read too is computed in any case
    const auto alone = [this](const NodeEntry& e) { return view_.Readers(e) <= 2; };
    const Pattern max = Reduce(Role::kMax, x_, axis_, true), centred = x_ - max, exponentials = Exp(centred);
    const Pattern log_sum = Log(Sum(exponentials, axis_));
    softmax_ = exponentials.If(alone) / Sum(exponentials, axis_);
    log_softmax_ = (centred.If(alone) - log_sum) | (x_ - (max + log_sum));
  }

  bool operator()(const NodeEntry& out, Found* found) {
    if (!IsFloating(view_.dtype(out))) return false;
    const bool plain = Matches(softmax_, out, view_, &match_);
    if (!plain && !Matches(log_softmax_, out, view_, &match_)) return false;
    *found = {match_[x_], match_[axis_], !plain};
    return view_.shape(out) == view_.shape(found->x) && view_.dtype(out) == view_.dtype(found->x);
  }

 private:
  const GraphView& view_;
  const Axis axis_;
  const Pattern x_ = Any();
  Pattern softmax_ = Any(), log_softmax_ = Any();
  Match match_;
};

}  // namespace

int FuseSoftmax(PassGraph* g, PassContext* context) {
  if (!context->inference() && RecomputeNamed(g->outputs, context->request)) return 0;
  if (!Has(*g, Role::kMax)) return 0;
  const GraphView view(*g, context->info(*g));
  Softmaxes softmaxes(view);
  std::map<const Node*, Found> found;
  VisitForward(*g, [&](const NodePtr& n) {
    Found f;
    if (!n->is_variable() && softmaxes({n, 0, 0}, &f)) found.emplace(n.get(), std::move(f));
  });
  Replace(g, found,
          [](const Found& f, const Renew& renew, const std::string& name) { return MakeSoftmax(renew(f.x), f.axis, f.logarithm, name); });
  return static_cast<int>(found.size());
}

}  // namespace mxnet
