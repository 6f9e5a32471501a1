#include "graph/rewrite.h"

namespace mxnet {

Symbol RemoveAmpCast(const Symbol& symbol) {
  std::unordered_map<const Node*, NodePtr> renewed;
  std::function<NodeEntry(NodeEntry)> resolve = [&](NodeEntry e) {
    while (!e.node->is_variable() && (e.node->op()->name == "amp_cast" || e.node->op()->name == "amp_multicast")) e = NodeEntry(e.node->inputs.at(e.index));
    auto it = renewed.find(e.node.get());
    return it == renewed.end() ? e : NodeEntry{it->second, e.index, e.version};
  };
  DFSVisit(symbol.outputs, [&](const NodePtr& n) {
    std::vector<NodeEntry> inputs;
    bool changed = false;
    for (const auto& e : n->inputs) {
      inputs.push_back(resolve(e));
      changed = changed || inputs.back().node != e.node;
    }
    if (!changed) return;
    auto copy = std::make_shared<Node>();
    copy->name = n->name;
    copy->attrs = n->attrs;
    copy->inputs = std::move(inputs);
    for (const auto& d : n->control_deps) copy->control_deps.push_back(renewed.count(d.get()) ? renewed[d.get()] : d);
    renewed[n.get()] = copy;
  });
  Symbol s;
  for (const auto& e : symbol.outputs) s.outputs.push_back(resolve(e));
  return s;
}

}  // namespace mxnet
