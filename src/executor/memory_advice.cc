// What a symbol's training step should recompute, as attributes of a copy.
#include <algorithm>

#include "executor/interpret.h"
#include "executor/plan/plan.h"

namespace mxnet {
namespace {

/* A copy whose marked nodes carry `__force_mirroring__`. Variables stay the same nodes. */
Symbol Mark(const Symbol& symbol, const NodeSet& marked, std::vector<std::string>* names) {
  std::unordered_map<const Node*, NodePtr> copies;
  DFSVisit(symbol.outputs, [&](const NodePtr& n) {
    if (n->is_variable()) {
      copies[n.get()] = n;
      return;
    }
    auto copy = std::make_shared<Node>();
    copy->name = n->name;
    copy->attrs = n->attrs;
    if (marked.count(n.get())) {
      auto attrs = std::make_shared<Attrs>(*n->attrs);
      attrs->dict["__force_mirroring__"] = "True";
      copy->attrs = std::move(attrs);
      names->push_back(n->name);
    }
    for (const auto& e : n->inputs) copy->inputs.push_back({copies.at(e.node.get()), e.index, e.version});
    for (const auto& d : n->control_deps) copy->control_deps.push_back(copies.at(d.get()));
    copies[n.get()] = std::move(copy);
  });
  Symbol result;
  for (const auto& e : symbol.outputs) result.outputs.push_back({copies.at(e.node.get()), e.index, e.version});
  return result;
}

}  // namespace

MemoryAdvice AdviseMemory(const Symbol& symbol, Context ctx, const std::map<std::string, TensorType>& types,
                          const std::vector<std::string>& wanted, size_t budget) {
  MXNET_CHECK_KIND(!HasDynamicShape(symbol), Value) << "[memory] a graph with value-dependent shapes has no memory plan";
  PlanRequest request;
  request.symbol = symbol;
  request.ctx = ctx;
  request.is_train = true;
  request.memory_budget = budget;
  request.least_memory = budget == 0;
  const auto inputs = symbol.ListInputs(Symbol::kAll), arguments = symbol.ListInputs(Symbol::kReadOnlyArgs);
  for (const auto& w : wanted)
    MXNET_CHECK_KIND(std::any_of(arguments.begin(), arguments.end(), [&](const NodePtr& n) { return n->name == w; }), Value)
        << "[memory] a gradient of '" << w << "' is wanted; the symbol has no such argument";
  const IndexedGraph g(symbol.outputs);
  TensorTypes entries(g.num_entries());
  for (uint32_t id : g.input_nodes) {
    auto given = types.find(g.nodes[id].source->name);
    if (given != types.end()) entries[g.eid(id, 0)] = given->second;
  }
  GraphInference how;
  how.default_dtype = kFloat32;
  how.switches = request.switches;
  InferEntries(g, &entries, how);
  for (const auto& n : inputs) {
    const TensorType& type = entries[g.eid(g.id.at(n.get()), 0)];
    MXNET_CHECK_KIND(type.shape.known(), Value) << "[memory] the shape of " << n->name << " cannot be inferred; give more input shapes";
    request.inputs.push_back(type);
    const bool argument = std::find(arguments.begin(), arguments.end(), n) != arguments.end();
    const bool asked = wanted.empty() || std::find(wanted.begin(), wanted.end(), n->name) != wanted.end();
    request.grad_req.push_back(argument && asked && IsFloating(type.dtype) ? OpReq::kWrite : OpReq::kNull);
  }
  const auto plan = Plan::Compile(request);
  MemoryAdvice advice;
  advice.symbol = Mark(symbol, plan->recompute.nodes, &advice.recomputed);
  advice.arena_bytes = plan->stats.arena_bytes;
  advice.lower_bound_bytes = plan->stats.lower_bound_bytes;
  advice.kept_bytes = plan->recompute.kept_bytes;
  advice.step_ns = plan->recompute.step_ns;
  advice.step_flops = plan->recompute.step_flops;
  advice.extra_ns = plan->recompute.extra_ns;
  advice.extra_flops = plan->recompute.extra_flops;
  return advice;
}

}  // namespace mxnet
