// Chains and small graphs of pointwise operators become one operator that goes over cache-sized tiles (MXNET_USE_FUSION).
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "executor/passes.h"
#include "operator/pointwise/recipe.h"

namespace mxnet {
namespace {

constexpr size_t kMostNodes = 64, kMostInputs = 16;   // of one fused operator: its tiles must stay in the cache

struct Group {
  const Node* root;
  std::set<const Node*> members;
};

}  // namespace

int FusePointwise(PassGraph* g, PassContext* context) {
  const GraphInfo& info = context->info(*g);
  const IndexedGraph& indexed = info.g;
  const size_t n = indexed.nodes.size();
  std::vector<std::vector<uint32_t>> users(n);
  for (uint32_t id = 0; id < n; ++id) {
    for (const auto& e : indexed.nodes[id].inputs) users[e.node].push_back(id);
    for (uint32_t d : indexed.nodes[id].control_deps) users[d].push_back(id);
  }
  std::vector<char> head(n, 0), forward(n, 0);
  for (const auto& e : indexed.outputs) head[e.node] = 1;
  std::vector<NodeEntry> outputs = g->outputs;
  DFSVisit(outputs, [&](const NodePtr& node) { forward[indexed.id.at(node.get())] = 1; });

  // Pointwise with every input broadcasting to the one output, all of one floating dtype.
  auto fits = [&](uint32_t id) {
    const Node& node = *indexed.nodes[id].source;
    if (node.is_variable() || !node.control_deps.empty() || node.num_outputs() != 1 || IsConstantNode(node)) return false;
    const int dtype = info.dtypes[indexed.eid(id, 0)];
    if (!IsFloating(dtype)) return false;
    pointwise::Recipe recipe;
    if (!pointwise::RecipeOf(*node.attrs, dtype, &recipe)) return false;
    for (const auto& e : indexed.nodes[id].inputs)
      if (info.dtypes[indexed.eid(e)] != dtype) return false;
    return info.shapes[indexed.eid(id, 0)].Size() > 0;
  };

  // When a node runs, roughly: forward nodes as they are numbered, backward nodes as the gradient pass made them.
  auto position = [&](uint32_t id) -> int64_t {
    if (forward[id]) return id;
    auto s = g->sequence.find(indexed.nodes[id].source);
    return static_cast<int64_t>(n) + (s == g->sequence.end() ? 0 : s->second);
  };

  // Backwards through the order: a node joins the group of its users when all of them are in one, so no path leaves a group and comes back.
  std::vector<int> group_of(n, -1);
  std::vector<std::vector<uint32_t>> groups;
  for (uint32_t id = static_cast<uint32_t>(n); id-- > 0;) {
    if (!fits(id)) continue;
    int joined = users[id].empty() || head[id] ? -1 : group_of[users[id][0]];
    for (uint32_t u : users[id]) joined = group_of[u] == joined ? joined : -1;
    if (joined >= 0) {
      const uint32_t root = groups[joined][0];
      const bool alike = info.shapes[indexed.eid(id, 0)] == info.shapes[indexed.eid(root, 0)] && info.dtypes[indexed.eid(id, 0)] == info.dtypes[indexed.eid(root, 0)];
      if (!alike || forward[id] != forward[root] || groups[joined].size() >= kMostNodes) joined = -1;
    }
    if (joined >= 0) {
      // Not too many inputs. A member that reads several results keeps them all until the root runs: it must not have to wait for
      // what is computed later (sums of gradients would otherwise hold every term).
      std::set<std::pair<uint32_t, uint32_t>> inputs;
      int64_t last_input = -1, first_sum = INT64_MAX;
      auto add = [&](uint32_t member, bool root) {
        int large = 0;
        for (const auto& e : indexed.nodes[member].inputs) {
          if (group_of[e.node] == joined || e.node == id) continue;
          inputs.insert({e.node, e.index});
          if (indexed.nodes[e.node].source->is_variable()) continue;
          last_input = std::max(last_input, position(e.node));
          large += info.shapes[indexed.eid(e)].Size() > 1;
        }
        if (!root && large > 1) first_sum = std::min(first_sum, position(member));
      };
      for (uint32_t member : groups[joined]) add(member, member == groups[joined][0]);
      add(id, false);
      if (inputs.size() > kMostInputs || last_input >= first_sum) joined = -1;
    }
    if (joined < 0) {
      joined = static_cast<int>(groups.size());
      groups.emplace_back();
    }
    group_of[id] = joined;
    groups[joined].push_back(id);
  }

  int fused = 0;
  Rewrite(g, [&](const NodePtr& renewed, const NodePtr& original) -> NodePtr {
    const uint32_t id = indexed.id.at(original.get());
    const int at = group_of[id];
    if (at < 0 || groups[at].size() < 2 || groups[at][0] != id) return renewed;
    // The members, copied onto variables: children come first in the graph's order. Members' inputs from outside were renewed when they were met.
    std::map<const Node*, NodePtr> copy;                       // of renewed members
    std::map<std::pair<const Node*, uint32_t>, NodePtr> variable;
    std::vector<NodeEntry> inputs;
    std::set<const Node*> members;
    std::vector<NodePtr> order;
    // renewed members are reached from the root; which they are is told by how deep the originals go
    std::function<NodePtr(const NodePtr&, const NodePtr&)> take = [&](const NodePtr& now, const NodePtr& before) -> NodePtr {
      auto found = copy.find(now.get());
      if (found != copy.end()) return found->second;
      auto made = std::make_shared<Node>();
      made->name = now->name;
      made->attrs = now->attrs;
      for (size_t i = 0; i < now->inputs.size(); ++i) {
        const NodeEntry& e = now->inputs[i];
        const NodePtr& was = before->inputs[i].node;
        if (group_of[indexed.id.at(was.get())] == at) {
          made->inputs.push_back({take(e.node, was), 0, 0});
          continue;
        }
        NodePtr& v = variable[{e.node.get(), e.index}];
        if (!v) v = MakeVariable("i" + std::to_string(variable.size() - 1));
        made->inputs.push_back({v, 0, 0});
      }
      return copy[now.get()] = made;
    };
    auto graph = std::make_shared<Symbol>();
    graph->outputs = {{take(renewed, original), 0, 0}};
    std::map<const Node*, NodeEntry> outside;
    std::function<void(const NodePtr&, const NodePtr&)> find = [&](const NodePtr& now, const NodePtr& before) {
      if (!members.insert(now.get()).second) return;
      for (size_t i = 0; i < now->inputs.size(); ++i) {
        const NodeEntry& e = now->inputs[i];
        if (group_of[indexed.id.at(before->inputs[i].node.get())] == at) find(e.node, before->inputs[i].node);
        else outside[variable.at({e.node.get(), e.index}).get()] = e;
      }
    };
    find(renewed, original);
    for (const auto& v : graph->ListInputs(Symbol::kAll)) inputs.push_back(outside.at(v.get()));
    auto attrs = std::make_shared<Attrs>(*MakeAttrs(Op::Get("_fused_pointwise"), {{"num_args", std::to_string(inputs.size())}}));
    attrs->subgraphs.push_back(std::move(graph));
    auto made = std::make_shared<Node>();
    made->name = renewed->name;
    made->attrs = std::move(attrs);
    made->inputs = std::move(inputs);
    fused += static_cast<int>(groups[at].size()) - 1;
    return made;
  });
  return fused;
}

}  // namespace mxnet
