// Walking a graph and putting other nodes in place of its own.
#include "executor/passes/core/passes.h"

namespace mxnet {

bool IsConstantNode(const Node& node) { return !node.is_variable() && node.attrs->dict.count(kPlanConstant) > 0; }

NodePtr ConstantNodeLike(const Node& like) {
  auto attrs = std::make_shared<Attrs>(*like.attrs);
  attrs->dict[kPlanConstant] = "1";
  auto made = std::make_shared<Node>();
  made->name = like.name;
  made->attrs = std::move(attrs);
  made->inputs = like.inputs;
  return made;
}

void RewriteEntries(PassGraph* g, const std::function<std::vector<NodeEntry>(const NodePtr&, const NodePtr&)>& map_node) {
  std::unordered_map<const Node*, std::vector<NodeEntry>> now;  // of the nodes that are others now
  auto renew = [&](const NodeEntry& e) {
    auto it = now.find(e.node.get());
    if (it == now.end()) return e;
    const NodeEntry& r = it->second.at(e.index);
    return r.node == e.node ? e : r;
  };
  auto changed = [&](const NodeEntry& e) {
    const auto it = now.find(e.node.get());
    if (it == now.end()) return false;
    const NodeEntry& r = it->second.at(e.index);
    return r.node != e.node || r.index != e.index;
  };
  auto follows = [&](const NodePtr& d) -> const NodePtr& {
    const auto it = now.find(d.get());
    return it == now.end() ? d : it->second.at(0).node;
  };
  auto same = [](const std::vector<NodeEntry>& entries, const NodePtr& n) {
    for (size_t i = 0; i < entries.size(); ++i)
      if (entries[i].node != n || entries[i].index != i) return false;
    return true;
  };
  std::vector<NodeEntry> heads = g->outputs;
  heads.insert(heads.end(), g->grads.begin(), g->grads.end());
  std::unordered_map<const Node*, int> sequence;
  std::vector<NodePtr> keep;  // originals stay alive while their addresses are keys
  DFSVisit(heads, [&](const NodePtr& n) {
    keep.push_back(n);
    bool any = false;
    for (const auto& e : n->inputs) any = any || changed(e);
    for (const auto& d : n->control_deps) any = any || follows(d) != d;
    NodePtr renewed = n;
    if (any) {
      renewed = std::make_shared<Node>();
      renewed->name = n->name;
      renewed->attrs = n->attrs;
      for (const auto& e : n->inputs) renewed->inputs.push_back(renew(e));
      for (const auto& d : n->control_deps) renewed->control_deps.push_back(follows(d));
    }
    std::vector<NodeEntry> result = map_node(renewed, n);
    auto s = g->sequence.find(n.get());
    if (s != g->sequence.end())
      for (const auto& e : result) sequence.emplace(e.node.get(), s->second);
    if (!same(result, n)) now[n.get()] = std::move(result);
  });
  for (auto& e : g->outputs) e = renew(e);
  for (auto& e : g->grads) e = renew(e);
  for (auto& p : g->alike) {
    p.first = renew(p.first);
    p.second = renew(p.second);
  }
  g->sequence = std::move(sequence);
}

void Rewrite(PassGraph* g, const std::function<NodePtr(const NodePtr&, const NodePtr&)>& map_node) {
  RewriteEntries(g, [&](const NodePtr& renewed, const NodePtr& original) {
    const NodePtr result = map_node(renewed, original);
    std::vector<NodeEntry> entries(original->num_outputs());
    for (size_t i = 0; i < entries.size(); ++i) entries[i] = {result, static_cast<uint32_t>(i), 0};
    return entries;
  });
}

EntryUsers CountUsers(const PassGraph& g) {
  EntryUsers users;
  DFSVisit(g.outputs, [&](const NodePtr& n) {
    for (const auto& e : n->inputs) ++users[e];
  });
  for (const auto& e : g.outputs) ++users[e];
  return users;
}

}  // namespace mxnet
