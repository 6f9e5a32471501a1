// Chains and small graphs of pointwise operators become one operator that goes over cache-sized
// tiles (MXNET_USE_FUSION).
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "executor/passes/core/passes.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/recipe.h"
#include "operator/pointwise/records.h"

namespace mxnet {
namespace {

constexpr size_t kMostNodes = 64, kMostInputs = 16;  // of one fused operator: its tiles must stay in the cache

// A GPU's kernel has its arguments in rtc::Arguments, and walks over no more dimensions than this.
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

  auto shape = [&](uint32_t id) -> const Shape& { return info.shapes[indexed.eid(id, 0)]; };
  auto dtype = [&](uint32_t id) { return info.dtypes[indexed.eid(id, 0)]; };
  auto source_dtype = [&](uint32_t id) { return info.dtypes[indexed.eid(indexed.nodes[id].inputs[0])]; };
  // Inputs whose numbers a member reads.
  auto reads = [&](uint32_t id) {
    size_t count = 0;
    while (count < indexed.nodes[id].inputs.size() && !indexed.nodes[id].source->op()->ReadsOnlyShape(static_cast<int>(count))) ++count;
    return count;
  };

  // Pointwise with every input broadcasting to the one floating output, and of its dtype unless it
  // is a cast.
  std::vector<Recipe> recipes(n);
  std::map<uint32_t, Shape> seen;  // members' first inputs that have to be reshaped: reductions dropped dimensions
  auto suits = [&](uint32_t id) {
    const Node& node = *indexed.nodes[id].source;
    if (node.is_variable() || !node.control_deps.empty() || node.num_outputs() != 1 || IsConstantNode(node)) return false;
    if (!IsFloating(dtype(id)) || shape(id).Size() == 0 || (!context->on_cpu() && shape(id).ndim() > kMostDimensions)) return false;
    Recipe& recipe = recipes[id];
    if (!pointwise::RecipeOf(*node.attrs, dtype(id), &recipe)) return false;
    if (recipe.kind == Recipe::kCopy) {
      const Shape& from = info.shapes[indexed.eid(indexed.nodes[id].inputs[0])];
      const Shape as = recipe.seen_as && from.Size() != 1 ? recipe.seen_as(*node.attrs, shape(id)) : from;
      if (!(as == from)) seen[id] = as;
      return Repeats(as, shape(id));
    }
    for (const auto& e : indexed.nodes[id].inputs)
      if (info.dtypes[indexed.eid(e)] != dtype(id)) return false;
    return recipe.kind != Recipe::kSum || reads(id) > 1;
  };
  std::vector<char> fits(n);
  for (uint32_t id = 0; id < n; ++id) fits[id] = suits(id);
  auto cast = [&](uint32_t id) { return recipes[id].kind == Recipe::kCopy && source_dtype(id) != dtype(id); };
  auto repeat = [&](uint32_t id) { return recipes[id].kind == Recipe::kCopy && source_dtype(id) == dtype(id) && !recipes[id].mean; };
  // What a group with this root computes in; every step is rounded to its own dtype.
  auto compute = [&](uint32_t root) {
    return cast(root) && source_dtype(root) == kFloat64 ? int{pointwise::kF64} : pointwise::ComputeFor(dtype(root), false);
  };
  auto computes_in = [&](uint32_t id, int type) {
    return cast(id) ? ConvertsAsCast(source_dtype(id), dtype(id), type) : pointwise::ComputeFor(dtype(id), false) == type;
  };

  // Numbers among the arguments of a GPU's kernel.
  auto numbers = [&](uint32_t id) -> size_t {
    const Recipe& r = recipes[id];
    if (r.kind == Recipe::kCopy || r.kind == Recipe::kSum) return r.mean;
    const bool activation = r.kind == Recipe::kActivation || r.kind == Recipe::kActivationGradient;
    return static_cast<size_t>(std::count(r.operand, r.operand + r.count, Recipe::kNumber)) + (activation || r.has_params ? 3 : 0);
  };

  // When a node runs, roughly: forward nodes as they are numbered, backward nodes as the gradient
  // pass made them.
  auto position = [&](uint32_t id) -> int64_t {
    if (forward[id]) return id;
    auto s = g->sequence.find(indexed.nodes[id].source);
    return static_cast<int64_t>(n) + (s == g->sequence.end() ? 0 : s->second);
  };

  std::vector<int> group_of;
  std::vector<std::vector<uint32_t>> groups;  // the root first
  // What a group needs, with or without one more member. `waits`: a member that reads several
  // results keeps them all until the root runs, and waits for what is computed later (sums of
  // gradients would hold every term).
  struct Needs {
    size_t inputs = 0, arguments = 2;
    bool waits = false;
  };
  auto needs = [&](int group, uint32_t more) {
    std::set<std::pair<uint32_t, uint32_t>> inputs;
    int64_t last_input = -1, first_sum = INT64_MAX;
    Needs result;
    auto add = [&](uint32_t member) {
      int large = 0;
      result.arguments += numbers(member);
      for (size_t i = 0; i < reads(member); ++i) {
        const auto& e = indexed.nodes[member].inputs[i];
        if (group_of[e.node] == group || e.node == more) continue;
        inputs.insert({e.node, e.index});
        if (indexed.nodes[e.node].source->is_variable()) continue;
        last_input = std::max(last_input, position(e.node));
        large += info.shapes[indexed.eid(e)].Size() > 1;
      }
      if (member != groups[group][0] && large > 1) first_sum = std::min(first_sum, position(member));
    };
    for (uint32_t member : groups[group]) add(member);
    if (more != kNobody) add(more);
    const size_t ndim = static_cast<size_t>(shape(groups[group][0]).ndim());
    result.inputs = inputs.size();
    result.arguments += inputs.size() * (1 + ndim) + 3 * ndim;  // pointers, the size, and steps and divisors where inputs are broadcast
    result.waits = last_input > first_sum;
    return result;
  };
  // Backwards through the order: a node joins the group of its users when all of them are in one,
  // so no path leaves a group and comes back.
  std::set<uint32_t> careful;  // roots of groups that may have no member that waits
  auto form = [&](bool all_careful) {
    group_of.assign(n, -1);
    groups.clear();
    for (uint32_t id = static_cast<uint32_t>(n); id-- > 0;) {
      if (!fits[id]) continue;
      int joined = users[id].empty() || head[id] ? -1 : group_of[users[id][0]];
      for (uint32_t u : users[id]) joined = group_of[u] == joined ? joined : -1;
      if (joined >= 0) {
        const uint32_t root = groups[joined][0];
        // On a GPU the cast of something that is broadcast is cheaper done again for each element
        // than launched.
        const bool alike = (shape(id) == shape(root) || (!context->on_cpu() && cast(id))) && computes_in(id, compute(root));
        if (!alike || forward[id] != forward[root] || groups[joined].size() >= kMostNodes) joined = -1;
      }
      if (joined >= 0) {
        const Needs all = needs(joined, id);
        if (all.inputs > kMostInputs || (!context->on_cpu() && all.arguments > kMostArguments) ||
            (all.waits && (all_careful || careful.count(groups[joined][0]))))
          joined = -1;
      }
      if (joined < 0) {
        if (repeat(id)) continue;  // what only repeats elements has users that may do that themselves
        joined = static_cast<int>(groups.size());
        groups.emplace_back();
      }
      group_of[id] = joined;
      groups[joined].push_back(id);
    }
  };
  // Whether a member has to wait is known when all are there: what it waited for may have joined,
  // too.
  for (int round = 0;; ++round) {
    form(round == kMostRounds);
    const size_t before = careful.size();
    for (size_t at = 0; at < groups.size(); ++at)
      if (needs(static_cast<int>(at), kNobody).waits) careful.insert(groups[at][0]);
    if (round == kMostRounds || careful.size() == before) break;
  }

  int fused = 0;
  Rewrite(g, [&](const NodePtr& renewed, const NodePtr& original) -> NodePtr {
    const uint32_t root = indexed.id.at(original.get());
    const int at = group_of[root];
    if (at < 0 || groups[at].size() < 2 || groups[at][0] != root) return renewed;
    // The members, copied onto variables: children come first in the graph's order. Members' inputs
    // from outside were renewed when they were met.
    std::map<const Node*, NodePtr> copy;                                         // of renewed members
    std::map<std::tuple<const Node*, uint32_t, std::string>, NodePtr> variable;  // with the shape that it is to have
    std::map<const Node*, NodeEntry> outside;                                    // by variable
    Shape told;                                                                  // by the inputs
    std::function<NodePtr(const NodePtr&, const NodePtr&)> take = [&](const NodePtr& now, const NodePtr& before) -> NodePtr {
      auto found = copy.find(now.get());
      if (found != copy.end()) return found->second;
      const uint32_t id = indexed.id.at(before.get());
      std::vector<NodeEntry> inputs;
      for (size_t i = 0; i < reads(id); ++i) {
        const NodeEntry &e = now->inputs[i], &was = before->inputs[i];
        if (group_of[indexed.id.at(was.node.get())] == at) {
          inputs.push_back({take(e.node, was.node), 0, 0});
          continue;
        }
        const auto reshaped = i == 0 ? seen.find(id) : seen.end();
        const Shape& as = reshaped == seen.end() ? info.shape(was) : reshaped->second;
        NodePtr& v = variable[{e.node.get(), e.index, as.str()}];
        if (!v) {
          v = MakeVariable("i" + std::to_string(variable.size() - 1));
          outside[v.get()] = reshaped == seen.end() ? e : MakeOp("Reshape", {e}, {{"shape", as.str()}}, before->name + "_reshape");
          told = told.known() ? BroadcastShape("_fused_pointwise", told, as) : as;
        }
        inputs.push_back({v, 0, 0});
      }
      if (repeat(id)) return copy[now.get()] = inputs[0].node;  // inputs are repeated wherever it is needed
      auto made = std::make_shared<Node>();
      made->name = now->name;
      // as the operator computes it; inputs are repeated wherever it is needed
      const double share = static_cast<double>(shape(id).Size() / std::max<int64_t>(1, info.shape(before->inputs[0]).Size()));
      if (recipes[id].mean)
        made->attrs = pointwise::NumberAttrs("_mul_scalar", 1.0 / share);
      else
        made->attrs = cast(id) ? MakeAttrs(Op::Get("Cast"), {{"dtype", DTypeName(dtype(id))}}) : now->attrs;
      made->inputs = std::move(inputs);
      return copy[now.get()] = made;
    };
    auto graph = std::make_shared<Symbol>();
    graph->outputs = {{take(renewed, original), 0, 0}};
    std::vector<NodeEntry> inputs;
    for (const auto& v : graph->ListInputs(Symbol::kAll)) inputs.push_back(outside.at(v.get()));
    AttrDict dict = {{"num_args", std::to_string(inputs.size())}};
    if (!(told == shape(root))) dict["shape"] = shape(root).str();
    auto attrs = std::make_shared<Attrs>(*MakeAttrs(Op::Get("_fused_pointwise"), std::move(dict)));
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
