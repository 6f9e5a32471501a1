// Walking a graph and putting other nodes in place of its own.
#include <algorithm>

#include "executor/passes/core/passes.h"

namespace mxnet {

bool IsConstantNode(const Node& node) {
  static const std::string& key = *new std::string(kPlanConstant);
  return !node.is_variable() && node.attrs->dict.count(key) > 0;
}

NodePtr ConstantNodeLike(const Node& like) {
  auto attrs = std::make_shared<Attrs>(*like.attrs);
  attrs->dict[kPlanConstant] = "1";
  auto made = std::make_shared<Node>();
  made->name = like.name;
  made->attrs = std::move(attrs);
  made->inputs = like.inputs;
  return made;
}

static bool SameHeads(const std::vector<NodeEntry>& a, const std::vector<NodeEntry>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const NodeEntry& x, const NodeEntry& y) { return x.node == y.node; });
}

static const std::shared_ptr<const NodeOrder>& Ordered(const std::vector<NodeEntry>& heads, std::shared_ptr<const NodeOrder>* last) {
  if (*last && SameHeads((*last)->heads, heads)) return *last;
  auto order = std::make_shared<NodeOrder>();
  DFSVisit(heads, [&](const NodePtr& n) {
    order->nodes.push_back(n);
    if (n->is_variable()) return;
    ++order->operators;
    order->roles.insert(RoleOf(*n));
  });
  order->heads = heads;
  return *last = std::move(order);
}

std::shared_ptr<const NodeOrder> ForwardOrderOf(const PassGraph& g) { return Ordered(g.outputs, &g.forward_order); }

std::shared_ptr<const NodeOrder> OrderOf(const PassGraph& g) {
  if (g.grads.empty()) return ForwardOrderOf(g);
  std::vector<NodeEntry> heads = g.outputs;
  heads.insert(heads.end(), g.grads.begin(), g.grads.end());
  return Ordered(heads, &g.order);
}

namespace {

/* What became of entries. */
class Renewed {
 public:
  bool any() const { return !now_.empty(); }
  void Put(const Node* was, std::vector<NodeEntry> is) { now_[was] = std::move(is); }
  NodeEntry Of(const NodeEntry& e) const {
    const NodeEntry* r = Find(e);
    return !r || r->node == e.node ? e : *r;
  }
  bool Changed(const NodeEntry& e) const {
    const NodeEntry* r = Find(e);
    return r && (r->node != e.node || r->index != e.index);
  }
  const NodePtr& Of(const NodePtr& n) const {
    const auto it = now_.find(n.get());
    return it == now_.end() ? n : it->second.at(0).node;
  }
  /* The node with inputs as they have become; itself where these are as they were. */
  NodePtr OnNewInputs(const NodePtr& n) const {
    bool any = false;
    for (const auto& e : n->inputs) any = any || Changed(e);
    for (const auto& d : n->control_deps) any = any || Of(d) != d;
    if (!any) return n;
    auto renewed = std::make_shared<Node>();
    renewed->name = n->name;
    renewed->attrs = n->attrs;
    for (const auto& e : n->inputs) renewed->inputs.push_back(Of(e));
    for (const auto& d : n->control_deps) renewed->control_deps.push_back(Of(d));
    return renewed;
  }

 private:
  const NodeEntry* Find(const NodeEntry& e) const {
    const auto it = now_.find(e.node.get());
    return it == now_.end() ? nullptr : &it->second.at(e.index);
  }
  std::unordered_map<const Node*, std::vector<NodeEntry>> now_;  // of the nodes that are others now
};

bool IsAllOf(const std::vector<NodeEntry>& entries, const NodePtr& n) {
  for (size_t i = 0; i < entries.size(); ++i)
    if (entries[i].node != n || entries[i].index != i) return false;
  return true;
}

/* `map` gives what becomes of a node: no entries when that is the second argument, which is `n`
 * where none of its inputs has changed. */
template <typename Map>
void RewriteNodes(PassGraph* g, const Map& map) {
  const std::shared_ptr<const NodeOrder> order = OrderOf(*g);  // keeps the originals, whose addresses are keys
  Renewed now;
  std::unordered_map<const Node*, int> sequence;
  for (const NodePtr& n : order->nodes) {
    const NodePtr renewed = now.any() ? now.OnNewInputs(n) : n;
    std::vector<NodeEntry> result = map(renewed, n);
    const bool stays = result.empty() && renewed == n;
    if (result.empty() && !stays)
      for (int i = 0; i < n->num_outputs(); ++i) result.push_back({renewed, static_cast<uint32_t>(i), 0});
    const auto s = g->sequence.find(n.get());
    if (s != g->sequence.end()) {
      if (stays) sequence.emplace(n.get(), s->second);
      for (const auto& e : result) sequence.emplace(e.node.get(), s->second);
    }
    if (!stays && !IsAllOf(result, n)) now.Put(n.get(), std::move(result));
  }
  for (auto& e : g->outputs) e = now.Of(e);
  for (auto& e : g->grads) e = now.Of(e);
  for (auto& p : g->alike) {
    p.first = now.Of(p.first);
    p.second = now.Of(p.second);
  }
  g->sequence = std::move(sequence);
}

}  // namespace

void RewriteEntries(PassGraph* g, const std::function<std::vector<NodeEntry>(const NodePtr&, const NodePtr&)>& map_node) {
  RewriteNodes(g, map_node);
}

void Rewrite(PassGraph* g, const std::function<NodePtr(const NodePtr&, const NodePtr&)>& map_node) {
  RewriteNodes(g, [&](const NodePtr& renewed, const NodePtr& original) {
    const NodePtr result = map_node(renewed, original);
    std::vector<NodeEntry> entries;
    if (result == renewed) return entries;
    for (int i = 0; i < original->num_outputs(); ++i) entries.push_back({result, static_cast<uint32_t>(i), 0});
    return entries;
  });
}

const NodeEntry& BeforeReshapes(const NodeEntry& e) {
  const NodeEntry* at = &e;
  while (IsResultOf(*at, Role::kReshape)) at = &at->node->inputs[0];
  return *at;
}

EntryUsers CountUsers(const PassGraph& g) {
  EntryUsers users;
  VisitForward(g, [&](const NodePtr& n) {
    for (const auto& e : n->inputs) ++users[e];
  });
  for (const auto& e : g.outputs) ++users[e];
  return users;
}

}  // namespace mxnet
