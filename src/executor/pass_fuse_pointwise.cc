// Chains and small graphs of pointwise operators become one operator that goes over cache-sized tiles (MXNET_USE_FUSION).
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "executor/passes.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/recipe.h"

namespace mxnet {
namespace {

constexpr size_t kMostNodes = 64, kMostInputs = 16;   // of one fused operator: its tiles must stay in the cache

// A GPU's kernel has its arguments in rtc::Arguments, and walks over no more dimensions than this.
constexpr size_t kMostArguments = 240;
constexpr int kMostDimensions = 8;

/* Does it only convert its first input to the dtype of its output? */
bool IsCast(const Node& n) {
  const std::string name = n.is_variable() ? "" : n.op()->name;
  return name == "Cast" || name == "amp_cast" || name == "_backward_cast";
}

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

  auto cast = [&](uint32_t id) { return !context->on_cpu() && IsCast(*indexed.nodes[id].source); };
  // What a member reads: of casts the data alone, not what only tells a dtype.
  auto reads = [&](uint32_t id) { return cast(id) ? size_t{1} : indexed.nodes[id].inputs.size(); };
  // Do members of these dtypes go together? A GPU's kernel rounds after each step to the dtype of that step.
  auto mix = [&](int a, int b) { return a == b || (!context->on_cpu() && pointwise::ComputeFor(a, false) == pointwise::ComputeFor(b, false)); };

  // Pointwise with every input broadcasting to the one output, all of one floating dtype; on a GPU also casts from what float32 holds exactly.
  auto fits = [&](uint32_t id) {
    const Node& node = *indexed.nodes[id].source;
    if (node.is_variable() || !node.control_deps.empty() || node.num_outputs() != 1 || IsConstantNode(node)) return false;
    const int dtype = info.dtypes[indexed.eid(id, 0)];
    if (!IsFloating(dtype) || (!context->on_cpu() && info.shapes[indexed.eid(id, 0)].ndim() > kMostDimensions)) return false;
    if (cast(id)) {
      const int from = info.dtypes[indexed.eid(indexed.nodes[id].inputs[0])];
      return mix(dtype, kFloat32) && (from == kUint8 || from == kInt8 || from == kBool || (IsFloating(from) && mix(from, kFloat32))) && info.shapes[indexed.eid(id, 0)].Size() > 0;
    }
    pointwise::Recipe recipe;
    if (!pointwise::RecipeOf(*node.attrs, dtype, &recipe)) return false;
    for (const auto& e : indexed.nodes[id].inputs)
      if (info.dtypes[indexed.eid(e)] != dtype) return false;
    return info.shapes[indexed.eid(id, 0)].Size() > 0;
  };

  // Numbers among the arguments of a GPU's kernel.
  auto numbers = [&](uint32_t id) -> size_t {
    pointwise::Recipe r;
    if (cast(id) || !pointwise::RecipeOf(*indexed.nodes[id].source->attrs, info.dtypes[indexed.eid(id, 0)], &r)) return 0;
    const bool activation = r.kind == pointwise::Recipe::kActivation || r.kind == pointwise::Recipe::kActivationGradient;
    return static_cast<size_t>(std::count(r.operand, r.operand + r.count, pointwise::Recipe::kNumber)) + (activation || r.has_params ? 3 : 0);
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
      // The cast of something that is broadcast is cheaper done again for each element than launched.
      const bool alike = (info.shapes[indexed.eid(id, 0)] == info.shapes[indexed.eid(root, 0)] || cast(id)) && mix(info.dtypes[indexed.eid(id, 0)], info.dtypes[indexed.eid(root, 0)]);
      if (!alike || forward[id] != forward[root] || groups[joined].size() >= kMostNodes) joined = -1;
    }
    if (joined >= 0) {
      // Not too many inputs. A member that reads several results keeps them all until the root runs: it must not have to wait for
      // what is computed later (sums of gradients would otherwise hold every term).
      std::set<std::pair<uint32_t, uint32_t>> inputs;
      int64_t last_input = -1, first_sum = INT64_MAX;
      size_t arguments = 0;
      auto add = [&](uint32_t member, bool root) {
        int large = 0;
        arguments += numbers(member);
        for (size_t i = 0; i < reads(member); ++i) {
          const auto& e = indexed.nodes[member].inputs[i];
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
      const size_t ndim = static_cast<size_t>(info.shapes[indexed.eid(groups[joined][0], 0)].ndim());
      arguments += 2 + inputs.size() * (1 + ndim) + 3 * ndim;   // pointers, the size, and steps and divisors where inputs are broadcast
      if (inputs.size() > kMostInputs || (!context->on_cpu() && arguments > kMostArguments) || last_input >= first_sum) joined = -1;
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
      const uint32_t member = indexed.id.at(before.get());
      made->attrs = cast(member) ? MakeAttrs(Op::Get("Cast"), {{"dtype", DTypeName(info.dtypes[indexed.eid(member, 0)])}}) : now->attrs;
      for (size_t i = 0; i < reads(member); ++i) {
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
      for (size_t i = 0; i < reads(indexed.id.at(before.get())); ++i) {
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
