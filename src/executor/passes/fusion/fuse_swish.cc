// x * sigmoid(b x) and x * clip(a x + b, 0, 1) written out become one operator each, which a
// convolution or dense layer can take in.
#include <cmath>

#include "executor/passes/core/pattern.h"
#include "operator/nn/common/epilogue.h"
#include "operator/nodes/make_nodes.h"

namespace mxnet {
namespace {

using namespace pattern;

struct Swish {
  NodeEntry of;
  bool hard = false;
  double slope = 1, offset = 0;
};

nn::EpilogueOp BoundedBy(const NodeEntry& e) {
  nn::EpilogueOp post;
  const bool bounded =
      nn::EpilogueOf(*e.node, &post) && (post.kind == nn::EpilogueKind::kClip || post.kind == nn::EpilogueKind::kHardSigmoid);
  return bounded ? post : nn::EpilogueOp();
}

/* Products whose one factor is bounded. */
class HardSwishes {
 public:
  bool Find(const NodeEntry& out, const GraphView& view, Swish* found) const {
    Match match;
    if (!Matches(product_, out, view, &match)) return false;
    const NodeEntry x = match[x_], inner = match[bounded_].node->inputs[0];
    const nn::EpilogueOp post = BoundedBy(match[bounded_]);
    const double factor = match[factor_];
    *found = {x, true, 1, 0};
    if (post.kind == nn::EpilogueKind::kHardSigmoid) {
      found->slope = static_cast<double>(post.a), found->offset = static_cast<double>(post.b);
      return Same(inner, x) && Near(factor, 1);
    }
    // clip(x + offset, 0, high) / high
    const double high = static_cast<double>(post.b);
    if (post.a != 0 || !(high > 0) || !Near(factor * high, 1)) return false;
    found->slope = factor;
    const Number offset;
    const Pattern own = Any(), sum = own + offset;
    Match line;
    if (!Matches(sum, inner, view, &line) || !Same(line[own], x)) return false;
    found->offset = line[offset] * factor;
    return true;
  }

 private:
  static bool Near(double a, double b) { return std::abs(a - b) < 1e-6; }
  const Number factor_;
  const Pattern x_ = Any(), bounded_ = Any().If([](const NodeEntry&e) { return bool(BoundedBy(e)); }).Once(),
                product_ = bounded_ * x_ * factor_;
};

}  // namespace

int FuseSwish(PassGraph* g, PassContext* context) {
  const auto bounded = [](const NodePtr& n) { return !n->is_variable() && BoundedBy({n, 0, 0}); };
  if (!Has(*g, Role::kSigmoid) && !AnyForward(*g, bounded)) return 0;
  const GraphView view(*g, context->info(*g));
  const Number slope;
  const Pattern x = Any(), silu = x * Apply(Role::kSigmoid, {x * slope}).Once();
  const HardSwishes hard;
  std::map<const Node*, Swish> found;
  VisitForward(*g, [&](const NodePtr& n) {
    const NodeEntry out{n, 0, 0};
    if (n->is_variable() || !IsFloating(view.dtype(out))) return;
    Swish swish;
    Match match;
    if (Matches(silu, out, view, &match))
      swish = {match[x], false, match[slope], 0};
    else if (!hard.Find(out, view, &swish))
      return;
    if (view.shape(swish.of) == view.shape(out) && view.dtype(swish.of) == view.dtype(out)) found.emplace(n.get(), swish);
  });
  Replace(g, found, [](const Swish& s, const Renew& renew, const std::string& name) {
    return s.hard ? MakeHardSwish(renew(s.of), s.slope, s.offset, name) : MakeSilu(renew(s.of), s.slope, name);
  });
  return static_cast<int>(found.size());
}

}  // namespace mxnet
