// Rewriting, and common subexpression elimination (MXNET_ELIMINATE_COMMON_EXPR).
#include "executor/passes.h"

namespace mxnet {

void Rewrite(PassGraph* g, const std::function<NodePtr(const NodePtr&, const NodePtr&)>& map_node) {
  std::unordered_map<const Node*, NodePtr> now;
  auto renew = [&](const NodeEntry& e) {
    auto it = now.find(e.node.get());
    return it == now.end() ? e : NodeEntry{it->second, e.index, e.version};
  };
  std::vector<NodeEntry> heads = g->outputs;
  heads.insert(heads.end(), g->grads.begin(), g->grads.end());
  std::unordered_map<const Node*, int> sequence;
  std::vector<NodePtr> keep;   // originals stay alive while their addresses are keys
  DFSVisit(heads, [&](const NodePtr& n) {
    keep.push_back(n);
    bool changed = false;
    for (const auto& e : n->inputs) changed = changed || now.at(e.node.get()) != e.node;
    for (const auto& d : n->control_deps) changed = changed || now.at(d.get()) != d;
    NodePtr renewed = n;
    if (changed) {
      renewed = std::make_shared<Node>();
      renewed->name = n->name;
      renewed->attrs = n->attrs;
      for (const auto& e : n->inputs) renewed->inputs.push_back(renew(e));
      for (const auto& d : n->control_deps) renewed->control_deps.push_back(now.at(d.get()));
    }
    NodePtr result = map_node(renewed, n);
    now[n.get()] = result;
    auto s = g->sequence.find(n.get());
    if (s != g->sequence.end()) sequence.emplace(result.get(), s->second);
  });
  for (auto& e : g->outputs) e = renew(e);
  for (auto& e : g->grads) e = renew(e);
  for (auto& p : g->alike) {
    p.first = renew(p.first);
    p.second = renew(p.second);
  }
  g->sequence = std::move(sequence);
}

int EliminateCommonExpressions(PassGraph* g) {
  std::unordered_map<std::string, NodePtr> seen;
  int removed = 0;
  Rewrite(g, [&](const NodePtr& n, const NodePtr&) -> NodePtr {
    if (n->is_variable()) return n;
    const Op* op = n->op();
    if (op->uses_random || op->stateful || op->array_fn || op->mutate_inputs || !n->attrs->subgraphs.empty() || !n->control_deps.empty()) return n;
    std::string key;
    auto raw = [&key](const void* p, size_t size) { key.append(static_cast<const char*>(p), size); };
    raw(&op, sizeof op);
    for (const auto& kv : n->attrs->dict) {
      const size_t sizes[2] = {kv.first.size(), kv.second.size()};
      raw(sizes, sizeof sizes);
      key += kv.first;
      key += kv.second;
    }
    // equal text parses to equal parameters; parameters without text (backward nodes made from a parsed struct) count by identity
    if (n->attrs->dict.empty()) {
      const void* param = n->attrs->param.get();
      if (op->parse && param) raw(&param, sizeof param);
    }
    for (const auto& e : n->inputs) {
      const Node* in = e.node.get();
      raw(&in, sizeof in);
      raw(&e.index, sizeof e.index);
      raw(&e.version, sizeof e.version);
    }
    auto added = seen.emplace(std::move(key), n);
    removed += !added.second;
    return added.first->second;
  });
  return removed;
}

}  // namespace mxnet
