// x * Phi(x) written out, 0.5 x (1 + erf(x / sqrt(2))), becomes LeakyReLU(act_type="gelu"), which a
// dense layer can take in. (The approximation with tanh is another function; fuse_pointwise makes
// one operator of it.)
#include <cmath>

#include "executor/passes/core/pattern.h"
#include "operator/nodes/make_nodes.h"

namespace mxnet {

int FuseGelu(PassGraph* g, PassContext* context) {
  using namespace pattern;
  if (!Has(*g, Role::kErf)) return 0;
  const GraphView view(*g, context->info(*g));
  const Pattern x = Any(), gelu = 0.5 * x * (1 + Erf(x * std::sqrt(0.5)).Once()).Once();
  Match match;
  std::map<const Node*, NodeEntry> found;  // what it is gelu of
  VisitForward(*g, [&](const NodePtr& n) {
    const NodeEntry out{n, 0, 0};
    if (n->is_variable() || !IsFloating(view.dtype(out)) || !Matches(gelu, out, view, &match)) return;
    if (view.shape(match[x]) == view.shape(out)) found.emplace(n.get(), match[x]);
  });
  Replace(g, found, [](const NodeEntry& of, const Renew& renew, const std::string& name) { return MakeGelu(renew(of), name); });
  return static_cast<int>(found.size());
}

}  // namespace mxnet
