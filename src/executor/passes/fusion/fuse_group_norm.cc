// Group normalization as other frameworks write it: the channels of a group lie one behind the
// other in a view of the image, whose "channels" are the groups, and an instance normalization goes
// over that.
#include "executor/passes/core/pattern.h"
#include "operator/nodes/make_nodes.h"

namespace mxnet {

int FuseGroupNorm(PassGraph* g, PassContext* context) {
  using namespace pattern;
  if (!AnyForward(*g, [](const NodePtr& n) { return View<InstanceNormView>(*n).has_value(); })) return 0;
  const GraphView view(*g, context->info(*g));
  struct Found {
    NodeEntry data, norm;
    int64_t groups;
  };
  std::map<const Node*, Found> found;
  VisitForward(*g, [&](const NodePtr& n) {
    const NodeEntry out{n, 0, 0};
    if (n->is_variable() || RoleOf(*n) != Role::kReshape) return;
    const NodeEntry& norm = n->inputs[0];
    if (!View<InstanceNormView>(*norm.node) || view.Readers(norm) != 1) return;
    const NodeEntry& grouped = norm.node->inputs[0];
    if (!IsResultOf(grouped, Role::kReshape)) return;
    const NodeEntry& data = grouped.node->inputs[0];
    const Shape &whole = view.shape(data), &parts = view.shape(grouped);
    const bool fits = view.shape(out) == whole && whole.ndim() >= 3 && parts.ndim() >= 3 && whole[0] == parts[0] && parts[1] > 0 &&
                      whole[1] % parts[1] == 0 && view.dtype(data) == view.dtype(out);
    if (fits) found.emplace(n.get(), Found{data, norm, parts[1]});
  });
  Replace(g, found, [](const Found& f, const Renew& renew, const std::string& name) {
    const Node& norm = *f.norm.node;
    return MakeGroupNorm(renew(f.data), renew(norm.inputs[1]), renew(norm.inputs[2]), f.groups, View<InstanceNormView>(norm)->eps, name);
  });
  return static_cast<int>(found.size());
}

}  // namespace mxnet
