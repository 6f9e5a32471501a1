// The graph of a plan: gradient, passes, what results are written into, shapes.
#include <algorithm>

#include "executor/plan/monitor_names.h"
#include "executor/plan/plan_steps.h"
#include "graph/gradient.h"
#include "operator/nodes/graph_operators.h"

namespace mxnet {

PlanTask MakeTask(const PlanRequest& request) {
  PlanTask task{request, request.symbol.ListInputs(Symbol::kAll), request.grad_req, {}, {}, {}};
  const size_t count = task.inputs.size();
  MXNET_CHECK_KIND(request.inputs.size() == count, Value)
      << "[plan] got the types of " << request.inputs.size() << " inputs; the symbol has " << count << " inputs";
  task.grad_req.resize(count, OpReq::kNull);
  task.slots.num_inputs = static_cast<int>(count);
  task.slots.num_outputs = static_cast<int>(request.symbol.outputs.size());
  for (size_t i = 0; i < count; ++i) {
    task.types[task.inputs[i].get()] = request.inputs[i];
    if (task.grad_req[i] != OpReq::kNull) task.grad_inputs.push_back(static_cast<int>(i));
  }
  return task;
}

std::vector<NodeEntry> MakeForward(const PlanTask& task, std::vector<PassRecord>* passes) {
  PassGraph graph;
  graph.outputs = task.request.symbol.outputs;
  PassContext context(task.request, task.has_backward(), &task.types);
  RunPasses(&graph, &context, Stage::kEarly, passes);
  return std::move(graph.outputs);
}

namespace {

/* The forward graph with the gradients that are wanted. The variables that stand for the gradients
 * of the outputs are put into `heads`, and their dtypes into `types`. */
PassGraph WithGradient(const PlanTask& task, const std::vector<NodeEntry>& forward, const NodeSet& again, std::vector<NodePtr>* heads,
                       VariableTypes* types) {
  const IndexedGraph g(forward);
  TensorTypes known(g.num_entries());
  for (uint32_t id : g.input_nodes) {
    auto given = task.types.find(g.nodes[id].source);
    if (given != task.types.end()) known[g.eid(id, 0)].dtype = given->second.dtype;
  }
  GraphInference how;
  how.shapes = false;
  how.switches = task.request.switches;
  InferEntries(g, &known, how);
  const auto dtype_of = [&](const NodeEntry& e) {
    auto id = g.id.find(e.node.get());
    return id == g.id.end() ? int{kDTypeUnknown} : known[g.eid(id->second, e.index)].dtype;
  };
  std::vector<NodeEntry> xs, ys;
  for (int input : task.grad_inputs) xs.push_back({task.inputs[input], 0, 0});
  for (size_t i = 0; i < forward.size(); ++i) {
    heads->push_back(MakeVariable("_head_grad" + std::to_string(i)));
    ys.push_back({heads->back(), 0, 0});
    // Said here, before inference in both directions guesses: the gradient of an output is bound in
    // the output's dtype.
    (*types)[heads->back().get()].dtype = dtype_of(forward[i]);
  }
  GradientResult made = BuildGradient(
      forward, xs, ys, [&](const Node& n) { return again.count(&n) > 0; }, dtype_of);
  PassGraph graph;
  graph.outputs = forward;
  graph.alike = std::move(made.alike);
  graph.sequence = std::move(made.sequence);
  for (size_t k = 0; k < xs.size(); ++k)
    graph.grads.push_back(made.grads[k] ? made.grads[k] : graph_ops::ZerosLike(xs[k], xs[k].node->name + kNoGrad));
  return graph;
}

/* `made` stands for `like` from now on. */
NodeEntry InPlaceOf(PassGraph* graph, const NodeEntry& like, NodeEntry made) {
  auto s = graph->sequence.find(like.node.get());
  if (s != graph->sequence.end()) graph->sequence[made.node.get()] = s->second;
  graph->alike.emplace_back(made, like);
  return made;
}

/* Gives every result an entry of its own. */
class ResultMaker {
 public:
  ResultMaker(const PlanTask& task, PlanGraph* made) : task_(task), made_(*made), graph_(made->graph) {
    std::vector<NodeEntry> heads = graph_.outputs;
    heads.insert(heads.end(), graph_.grads.begin(), graph_.grads.end());
    DFSVisit(heads, [&](const NodePtr& n) {
      for (const auto& e : n->inputs) ++users_[e];
    });
    for (const auto& e : graph_.grads) ++users_[e];
    for (const auto& e : graph_.outputs) ++outputs_[e];
  }

  /* The copies and sums that were put in. */
  std::vector<NodePtr> Run() {
    for (int i = 0; i < task_.slots.num_outputs; ++i) {
      NodeEntry& e = graph_.outputs[i];
      const bool alone = users_[e] == 0 && outputs_[e] == 1;
      const auto& req = task_.request.output_req;
      Make(&e, i < static_cast<int>(req.size()) ? req[i] : OpReq::kWrite, task_.slots.output_slot(i), "_output" + std::to_string(i), alone,
           e);
    }
    for (size_t k = 0; k < graph_.grads.size(); ++k) {
      NodeEntry& e = graph_.grads[k];
      const int input = task_.grad_inputs[k];
      const NodePtr& x = task_.inputs[input];
      Make(&e, task_.grad_req[input], task_.slots.grad_slot(input), x->name + "_grad", users_[e] == 1, {x, 0, 0});
    }
    return std::move(added_);
  }

 private:
  /* The array of `slot` is like `like`; `alone`: nobody else wants the entry. */
  void Make(NodeEntry* e, OpReq req, int slot, const std::string& name, bool alone, const NodeEntry& like) {
    const bool own = !e->node->is_variable() && !taken_.count(*e);
    if (req == OpReq::kAdd)
      AddOnto(e, slot, name, own && alone, like);
    else if (!own)
      *e = InPlaceOf(&graph_, *e, Added(graph_ops::CopyOf(*e, name)));
    taken_.insert(*e);
    made_.result_slots[*e] = slot;
  }

  void AddOnto(NodeEntry* e, int slot, const std::string& name, bool alone, const NodeEntry& like) {
    if (alone && e->node->op()->supports_add) {
      made_.added_directly.insert(*e);
      return;
    }
    NodePtr before = MakeVariable(name + "_before");
    made_.variable_slots[before.get()] = slot;
    made_.variables.push_back(before);
    graph_.alike.emplace_back(NodeEntry{before, 0, 0}, like);
    *e = InPlaceOf(&graph_, *e, Added(graph_ops::AddGradient({before, 0, 0}, *e, name)));
  }

  NodeEntry Added(const NodeEntry& e) {
    added_.push_back(e.node);
    return e;
  }

  const PlanTask& task_;
  PlanGraph& made_;
  PassGraph& graph_;
  std::vector<NodePtr> added_;       // copies and sums
  std::map<EntryKey, int> users_;    // operators and gradients
  std::map<EntryKey, int> outputs_;  // how many an entry is
  std::set<EntryKey> taken_;
};

/* By gradient that is wanted. */
StorageTypes GradientStorages(const PlanTask& task) {
  StorageTypes wanted;
  for (int input : task.grad_inputs)
    wanted.push_back(task.request.grad_storage.empty() ? StorageType::kUndefined : task.request.grad_storage[static_cast<size_t>(input)]);
  return wanted;
}

/* What results are added onto are arrays of the caller's. */
void AddTypesOfSlots(const PlanTask& task, const PlanGraph& made, VariableTypes* types) {
  for (const NodePtr& n : made.variables) {
    const auto [kind, input] = task.slots.KindOf(made.variable_slots.at(n.get()));
    if (kind == PlanSlots::SlotKind::kGradient && !task.request.grad_storage.empty())
      (*types)[n.get()].storage = task.request.grad_storage[static_cast<size_t>(input)];
  }
}

/* Gradients are written into arrays that lie as the inputs do. */
void CheckGradients(const PlanTask& task, const PlanGraph& made) {
  for (size_t k = 0; k < made.graph.grads.size(); ++k) {
    const int input = task.grad_inputs[k];
    const TensorType &type = made.info->type(made.graph.grads[k]), &wanted = task.request.inputs[input];
    MXNET_CHECK_KIND(type.shape == wanted.shape && type.dtype == wanted.dtype, Value)
        << "[plan] the gradient of " << task.inputs[input]->name << " is " << type.shape << ' ' << DTypeName(type.dtype)
        << "; the array is " << wanted.shape << ' ' << DTypeName(wanted.dtype);
  }
}

}  // namespace

Recompute ChooseWhatToRecompute(const PlanTask& task, const std::vector<NodeEntry>& forward,
                                const std::function<size_t(const NodeSet&)>& arena_bytes) {
  if (!task.has_backward()) return {};
  const bool wanted = RecomputeWanted(forward, task.request);
  bool nearly_free = false;
  DFSVisit(forward, [&](const NodePtr& n) { nearly_free = nearly_free || NearlyFree(*n); });
  if (!wanted && !nearly_free) return {};
  std::vector<NodePtr> heads;
  VariableTypes types = task.types;
  const PassGraph graph = WithGradient(task, forward, {}, &heads, &types);
  const auto info = InferGraph(graph, types, task.request.switches);
  const RecomputeQuestion question{graph, *info, task.request.memory_budget, task.request.least_memory, arena_bytes};
  return wanted ? ChooseRecomputed(question) : RecomputeNearlyFree(question);
}

PlanGraph MakeGraph(const PlanTask& task, const std::vector<NodeEntry>& forward, const NodeSet& again, std::vector<PassRecord>* passes) {
  PlanGraph made;
  VariableTypes types = task.types;
  for (int i = 0; i < task.slots.num_inputs; ++i) made.variable_slots[task.inputs[i].get()] = i;
  if (task.has_backward()) {
    made.graph = WithGradient(task, forward, again, &made.variables, &types);
    for (int i = 0; i < task.slots.num_outputs; ++i) made.variable_slots[made.variables[i].get()] = task.slots.head_slot(i);
  } else {
    made.graph.outputs = forward;
  }
  const bool sparse =
      ChooseStorages(&made.graph, &types, GradientStorages(task), made.variables, task.request.head_storages, passes == nullptr);
  for (const NodePtr& head : made.variables) made.head_storages.push_back(types[head.get()].storage);
  PassContext context(task.request, task.has_backward(), &types);
  context.quiet = passes == nullptr;
  std::vector<PassRecord> unwanted;
  RunPasses(&made.graph, &context, Stage::kLate, passes ? passes : &unwanted);
  made.optimized.outputs = sparse ? WithoutForms(made.graph.outputs) : made.graph.outputs;
  const std::vector<NodePtr> added = ResultMaker(task, &made).Run();
  if (sparse) AddTypesOfSlots(task, made, &types);
  made.info = added.empty() && !sparse ? context.TakeInfo(made.graph) : InferGraph(made.graph, types, task.request.switches);
  if (sparse) GiveForms(added, *made.info);
  CheckGradients(task, made);
  return made;
}

}  // namespace mxnet
