// Inputs that an operator looks at for their shape and dtype alone come from nodes that nobody
// computes: the value whose shape it was may die early or need not be computed at all, and no
// longer counts as read by others when chains of operators are put together.
#include <map>
#include <string>
#include <utility>

#include "executor/passes/core/passes.h"
#include "mxnet/op.h"
#include "operator/nodes/graph_operators.h"

namespace mxnet {
namespace {

/* By node: does it depend on something that must run although its numbers lead to no result? Such a
 * node stays in the graph as long as others refer to it. */
std::vector<char> MustStay(const IndexedGraph& g) {
  const std::vector<char> computed = Computed(g), for_results = Computed(g, true);
  std::vector<char> stays(g.nodes.size(), 0);
  for (size_t k = 0; k < g.nodes.size(); ++k) {
    stays[k] = computed[k] && !for_results[k];
    for (const auto& e : g.nodes[k].inputs) stays[k] = stays[k] || (stays[e.node] && !for_results[k]);
  }
  return stays;
}

}  // namespace

int DetachShapes(PassGraph* g, PassContext* context) {
  const auto looks = [](const NodePtr& n) {
    for (int i = 0; i < n->num_inputs(); ++i)
      if (n->attrs->ReadsOnlyShape(i)) return true;
    return false;
  };
  if (!AnyNode(*g, looks)) return 0;
  const GraphInfo& info = context->info(*g);
  const std::vector<char> stays = MustStay(info.g);
  std::map<std::pair<std::string, int>, NodeEntry> stand_ins;
  int detached = 0;
  Rewrite(g, [&](const NodePtr& renewed, const NodePtr& original) -> NodePtr {
    NodePtr result = renewed;
    for (int i = 0; i < original->num_inputs(); ++i) {
      const NodeEntry& e = original->inputs[i];
      if (!original->attrs->ReadsOnlyShape(i) || IsConstantNode(*e.node) || stays[info.g.id.at(e.node.get())]) continue;
      NodeEntry& stand_in = stand_ins[{info.shape(e).str(), info.dtype(e)}];
      if (!stand_in) stand_in = graph_ops::ShapeOnly(info.shape(e), info.dtype(e), "shape" + std::to_string(stand_ins.size() - 1));
      if (result == renewed) result = std::make_shared<Node>(*renewed);
      result->inputs[i] = stand_in;
      ++detached;
    }
    return result;
  });
  return detached;
}

}  // namespace mxnet
