// Chains and small graphs of pointwise operators become one operator that goes over cache-sized
// tiles (MXNET_USE_FUSION).
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "executor/passes/core/passes.h"
#include "operator/nodes/graph_operators.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/recipe.h"

namespace mxnet {
namespace {

constexpr size_t kMostNodes = 64, kMostInputs = 16;  // of one fused operator: its tiles must stay in the cache

// A GPU's kernel has its arguments in rtc::Arguments, and goes over no more dimensions than this.
constexpr size_t kMostArguments = 240;
constexpr int kMostDimensions = 8;

constexpr uint32_t kNobody = UINT32_MAX;
constexpr int kMostRounds = 8;  // of forming groups

using pointwise::Recipe;

/*
 * Does a fused graph that computes in `compute` convert from one dtype to another as a cast does?
 * What comes from outside is loaded into the compute type, and then rounded to the cast's own: both
 * may round only where the second does not.
 */
bool ConvertsAsCast(int from, int to, int compute) {
  if (from == kUint64) return false;  // a cast goes through int64
  if (to == pointwise::ComputeDType(compute)) return true;
  if (compute == pointwise::kF64) return IsFloating(from);
  return pointwise::ComputeFor(to, false) == compute && DTypeSize(from) <= (IsFloating(from) ? 4 : 2);
}

/* Are the elements repeated as NumPy does it, along dimensions that both shapes have? */
bool Repeats(const Shape& from, const Shape& to) {
  if (from.Size() == 1) return true;
  if (from.ndim() != to.ndim()) return false;
  for (int d = 0; d < to.ndim(); ++d)
    if (from[d] != to[d] && from[d] != 1) return false;
  return true;
}

/* What forming groups and fusing them asks of the graph's nodes. */
class PointwiseGraph {
 public:
  PointwiseGraph(const PassGraph& graph, const GraphInfo& info, bool on_cpu) : indexed(info.g), on_cpu(on_cpu), graph_(graph), info_(info) {
    const size_t n = indexed.nodes.size();
    users.resize(n);
    for (uint32_t id = 0; id < n; ++id) {
      for (const auto& e : indexed.nodes[id].inputs) users[e.node].push_back(id);
      for (uint32_t d : indexed.nodes[id].control_deps) users[d].push_back(id);
    }
    head.assign(n, 0);
    forward.assign(n, 0);
    for (const auto& e : indexed.outputs) head[e.node] = 1;
    DFSVisit(graph.outputs, [&](const NodePtr& node) { forward[indexed.id.at(node.get())] = 1; });
    recipes.resize(n);
    fits.assign(n, 0);
    for (uint32_t id = 0; id < n; ++id) fits[id] = Suits(id);
  }

  size_t size() const { return indexed.nodes.size(); }
  const Node& source(uint32_t id) const { return *indexed.nodes[id].source; }
  const Shape& shape(uint32_t id) const { return info_.types[indexed.eid(id, 0)].shape; }
  const Shape& shape(const NodeEntry& e) const { return info_.shape(e); }
  int dtype(uint32_t id) const { return info_.types[indexed.eid(id, 0)].dtype; }
  int64_t ElementsOf(const IndexedGraph::Entry& e) const { return info_.types[indexed.eid(e)].shape.Size(); }

  /* How many inputs the node reads the numbers of. */
  size_t Reads(uint32_t id) const {
    size_t count = 0;
    while (count < indexed.nodes[id].inputs.size() && !source(id).attrs->ReadsOnlyShape(static_cast<int>(count))) ++count;
    return count;
  }

  bool IsCast(uint32_t id) const { return recipes[id].kind == Recipe::kCopy && SourceType(id) != dtype(id); }
  /* Does it do nothing but repeat elements? */
  bool IsRepeat(uint32_t id) const { return recipes[id].kind == Recipe::kCopy && SourceType(id) == dtype(id) && !recipes[id].mean; }

  /* What a group with this root computes in; every step is rounded to its own dtype. */
  int ComputeType(uint32_t root) const {
    return IsCast(root) && SourceType(root) == kFloat64 ? int{pointwise::kF64} : pointwise::ComputeFor(dtype(root), false);
  }
  bool ComputesIn(uint32_t id, int type) const {
    return IsCast(id) ? ConvertsAsCast(SourceType(id), dtype(id), type) : pointwise::ComputeFor(dtype(id), false) == type;
  }

  /* Numbers among the arguments of a GPU's kernel. */
  size_t Numbers(uint32_t id) const {
    const Recipe& r = recipes[id];
    if (r.kind == Recipe::kCopy || r.kind == Recipe::kSum) return r.mean;
    const bool activation = r.kind == Recipe::kActivation || r.kind == Recipe::kActivationGradient;
    return static_cast<size_t>(std::count(r.operand, r.operand + r.count, Recipe::kNumber)) + (activation || r.has_params ? 3 : 0);
  }

  /* When a node runs, roughly: forward nodes as they are numbered, backward nodes as the gradient
   * pass made them. */
  int64_t Position(uint32_t id) const {
    if (forward[id]) return id;
    auto s = graph_.sequence.find(indexed.nodes[id].source);
    return static_cast<int64_t>(size()) + (s == graph_.sequence.end() ? 0 : s->second);
  }

  const IndexedGraph& indexed;
  const bool on_cpu;
  std::vector<std::vector<uint32_t>> users;
  std::vector<char> head, forward, fits;  // a result of the graph; of the forward pass; may be a member of a group
  std::vector<Recipe> recipes;            // of what fits
  std::map<uint32_t, Shape> seen;         // first inputs that have to be reshaped: reductions dropped dimensions

 private:
  int SourceType(uint32_t id) const { return info_.types[indexed.eid(indexed.nodes[id].inputs[0])].dtype; }

  // Pointwise with every input broadcasting to the one floating output, and of its dtype unless it
  // is a cast.
  bool Suits(uint32_t id) {
    const Node& node = source(id);
    if (node.is_variable() || !node.control_deps.empty() || node.num_outputs() != 1 || IsConstantNode(node)) return false;
    if (!IsFloating(dtype(id)) || shape(id).Size() == 0 || (!on_cpu && shape(id).ndim() > kMostDimensions)) return false;
    Recipe& recipe = recipes[id];
    if (!pointwise::RecipeOf(*node.attrs, dtype(id), &recipe)) return false;
    if (recipe.kind == Recipe::kCopy) {
      const Shape& from = info_.types[indexed.eid(indexed.nodes[id].inputs[0])].shape;
      const Shape as = recipe.seen_as && from.Size() != 1 ? recipe.seen_as(*node.attrs, shape(id)) : from;
      if (!(as == from)) seen[id] = as;
      return Repeats(as, shape(id));
    }
    for (const auto& e : indexed.nodes[id].inputs)
      if (info_.types[indexed.eid(e)].dtype != dtype(id)) return false;
    return recipe.kind != Recipe::kSum || Reads(id) > 1;
  }

  const PassGraph& graph_;
  const GraphInfo& info_;
};

/* Which nodes become one operator. */
class Groups {
 public:
  explicit Groups(const PointwiseGraph& graph) : g_(graph) {
    // Whether a member has to wait is known when all are there: what it waited for may have joined,
    // too.
    for (int round = 0;; ++round) {
      Form(round == kMostRounds);
      const size_t before = careful_.size();
      for (size_t at = 0; at < members_.size(); ++at)
        if (NeedsOf(static_cast<int>(at), kNobody).waits) careful_.insert(members_[at][0]);
      if (round == kMostRounds || careful_.size() == before) break;
    }
  }

  /* -1: none. */
  int group_of(uint32_t id) const { return group_of_[id]; }
  /* The root, whose result the group gives, comes first. */
  const std::vector<uint32_t>& members(int group) const { return members_[group]; }

 private:
  /* `waits`: a member that reads several results keeps them all until the root runs, and waits for
   * what is computed later (sums of gradients would hold every term). */
  struct Needs {
    size_t inputs = 0, arguments = 2;
    bool waits = false;
  };

  // With one more member, or without (kNobody).
  Needs NeedsOf(int group, uint32_t more) const {
    std::set<std::pair<uint32_t, uint32_t>> inputs;
    int64_t last_input = -1, first_sum = INT64_MAX;
    Needs result;
    auto add = [&](uint32_t member) {
      int large = 0;
      result.arguments += g_.Numbers(member);
      for (size_t i = 0; i < g_.Reads(member); ++i) {
        const auto& e = g_.indexed.nodes[member].inputs[i];
        if (group_of_[e.node] == group || e.node == more) continue;
        inputs.insert({e.node, e.index});
        if (g_.source(e.node).is_variable()) continue;
        last_input = std::max(last_input, g_.Position(e.node));
        large += g_.ElementsOf(e) > 1;
      }
      if (member != members_[group][0] && large > 1) first_sum = std::min(first_sum, g_.Position(member));
    };
    for (uint32_t member : members_[group]) add(member);
    if (more != kNobody) add(more);
    const size_t ndim = static_cast<size_t>(g_.shape(members_[group][0]).ndim());
    result.inputs = inputs.size();
    result.arguments += inputs.size() * (1 + ndim) + 3 * ndim;  // pointers, the size, and steps and divisors where inputs are broadcast
    result.waits = last_input > first_sum;
    return result;
  }

  // Backwards through the order: a node joins the group of its users when all of them are in one,
  // so no path leaves a group and comes back.
  void Form(bool all_careful) {
    group_of_.assign(g_.size(), -1);
    members_.clear();
    for (uint32_t id = static_cast<uint32_t>(g_.size()); id-- > 0;) {
      if (!g_.fits[id]) continue;
      int joined = GroupOfUsers(id);
      if (joined >= 0 && !MayJoin(id, joined, all_careful)) joined = -1;
      if (joined < 0) {
        if (g_.IsRepeat(id)) continue;  // what only repeats elements has users that may do that themselves
        joined = static_cast<int>(members_.size());
        members_.emplace_back();
      }
      group_of_[id] = joined;
      members_[joined].push_back(id);
    }
  }

  int GroupOfUsers(uint32_t id) const {
    int joined = g_.users[id].empty() || g_.head[id] ? -1 : group_of_[g_.users[id][0]];
    for (uint32_t u : g_.users[id]) joined = group_of_[u] == joined ? joined : -1;
    return joined;
  }

  bool MayJoin(uint32_t id, int group, bool all_careful) const {
    const uint32_t root = members_[group][0];
    // On a GPU the cast of something that is broadcast is cheaper done again for each element than
    // launched.
    const bool alike = (g_.shape(id) == g_.shape(root) || (!g_.on_cpu && g_.IsCast(id))) && g_.ComputesIn(id, g_.ComputeType(root));
    if (!alike || g_.forward[id] != g_.forward[root] || members_[group].size() >= kMostNodes) return false;
    const Needs all = NeedsOf(group, id);
    return all.inputs <= kMostInputs && (g_.on_cpu || all.arguments <= kMostArguments) &&
           !(all.waits && (all_careful || careful_.count(root)));
  }

  const PointwiseGraph& g_;
  std::vector<int> group_of_;                   // by node
  std::vector<std::vector<uint32_t>> members_;  // by group
  std::set<uint32_t> careful_;                  // roots of groups that may have no member that waits
};

/* One group as one node: its members copied onto variables. Inputs from outside were renewed when
 * they were met. */
class FusedNode {
 public:
  FusedNode(const PointwiseGraph& graph, const Groups& groups, int group) : g_(graph), groups_(groups), group_(group) {}

  NodePtr Make(const NodePtr& renewed, const NodePtr& original) {
    auto graph = std::make_shared<Symbol>();
    graph->outputs = {{Take(renewed, original), 0, 0}};
    std::vector<NodeEntry> inputs;
    for (const auto& v : graph->ListInputs(Symbol::kAll)) inputs.push_back(outside_.at(v.get()));
    const Shape& shape = g_.shape(g_.indexed.id.at(original.get()));
    auto made = std::make_shared<Node>();
    made->name = renewed->name;
    made->attrs = graph_ops::FusedPointwiseAttrs(std::move(graph), inputs.size(), told_ == shape ? Shape() : shape);
    made->inputs = std::move(inputs);
    return made;
  }

 private:
  NodePtr Take(const NodePtr& now, const NodePtr& before) {
    auto found = copy_.find(now.get());
    if (found != copy_.end()) return found->second;
    const uint32_t id = g_.indexed.id.at(before.get());
    std::vector<NodeEntry> inputs;
    for (size_t i = 0; i < g_.Reads(id); ++i) {
      const NodeEntry &e = now->inputs[i], &was = before->inputs[i];
      const bool member = groups_.group_of(g_.indexed.id.at(was.node.get())) == group_;
      inputs.push_back({member ? Take(e.node, was.node) : VariableFor(e, was, id, i), 0, 0});
    }
    NodePtr& copy = copy_[now.get()];
    if (g_.IsRepeat(id)) return copy = inputs[0].node;  // inputs are repeated wherever it is needed
    copy = std::make_shared<Node>();
    copy->name = now->name;
    copy->attrs = AttrsOf(*now, *before, id);
    copy->inputs = std::move(inputs);
    return copy;
  }

  // What stands for input `i` of the member `id`, which comes from outside.
  NodePtr VariableFor(const NodeEntry& e, const NodeEntry& was, uint32_t id, size_t i) {
    const auto reshaped = i == 0 ? g_.seen.find(id) : g_.seen.end();
    const bool reshape = reshaped != g_.seen.end();
    const Shape& as = reshape ? reshaped->second : g_.shape(was);
    NodePtr& v = variable_[{e.node.get(), e.index, as.str()}];
    if (!v) {
      v = MakeVariable("i" + std::to_string(variable_.size() - 1));
      outside_[v.get()] = reshape ? graph_ops::ReshapeTo(e, as, g_.source(id).name + "_reshape") : e;
      told_ = told_.known() ? BroadcastShape("fuse_pointwise", told_, as) : as;
    }
    return v;
  }

  // As the operator computes it; inputs are repeated wherever it is needed.
  AttrsPtr AttrsOf(const Node& now, const Node& before, uint32_t id) const {
    if (g_.recipes[id].mean) {
      const double share = static_cast<double>(g_.shape(id).Size() / std::max<int64_t>(1, g_.shape(before.inputs[0]).Size()));
      return graph_ops::MultiplyAttrs(1.0 / share);
    }
    return g_.IsCast(id) ? graph_ops::CastAttrs(g_.dtype(id)) : now.attrs;
  }

  const PointwiseGraph& g_;
  const Groups& groups_;
  const int group_;
  std::map<const Node*, NodePtr> copy_;                                         // of renewed members
  std::map<std::tuple<const Node*, uint32_t, std::string>, NodePtr> variable_;  // with the shape that it is to have
  std::map<const Node*, NodeEntry> outside_;                                    // by variable
  Shape told_;                                                                  // by the inputs
};

}  // namespace

int FusePointwise(PassGraph* g, PassContext* context) {
  const PointwiseGraph graph(*g, context->info(*g), context->on_cpu());
  const Groups groups(graph);
  int fused = 0;
  Rewrite(g, [&](const NodePtr& renewed, const NodePtr& original) -> NodePtr {
    const uint32_t id = graph.indexed.id.at(original.get());
    const int group = groups.group_of(id);
    if (group < 0 || groups.members(group).size() < 2 || groups.members(group)[0] != id) return renewed;
    fused += static_cast<int>(groups.members(group).size()) - 1;
    return FusedNode(graph, groups, group).Make(renewed, original);
  });
  return fused;
}

}  // namespace mxnet
