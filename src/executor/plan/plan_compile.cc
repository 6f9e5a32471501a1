// From a symbol with known input shapes to a plan, step by step.
#include <algorithm>
#include <chrono>
#include <limits>

#include "executor/plan/plan_steps.h"
#include "mxnet/env.h"

namespace mxnet {
namespace {

constexpr int kAllNodes = std::numeric_limits<int>::max();

int ForwardBulk(const PlanTask& task) {
  const Env& env = Env::Get();
  if (task.request.forward_bulk >= 0) return task.request.forward_bulk;
  if (task.request.is_train || task.has_backward()) return env.exec_bulk_exec_train ? env.exec_bulk_exec_max_node_train_fwd : 1;
  return env.exec_bulk_exec_inference ? kAllNodes : 1;
}

int BackwardBulk(const PlanTask& task) {
  const Env& env = Env::Get();
  if (task.request.backward_bulk >= 0) return task.request.backward_bulk;
  return env.exec_bulk_exec_train ? env.exec_bulk_exec_max_node_train_bwd : 1;
}

void Describe(const PlanTask& task, PlanGraph* graph, Plan* plan) {
  static_cast<PlanSlots&>(*plan) = task.slots;
  plan->ctx = task.request.ctx;
  plan->is_train = task.request.is_train;
  plan->switches = task.request.switches;
  plan->has_backward = task.has_backward();
  plan->grad_req = task.grad_req;
  plan->per_call = task.request.per_call;
  plan->per_call.resize(task.inputs.size(), 0);
  plan->optimized = std::move(graph->optimized);
  for (const NodeEntry& e : graph->graph.outputs) plan->output_types.push_back(graph->info->type(e));
  plan->head_storages = graph->head_storages;
  plan->grad_types.resize(task.inputs.size());
  for (size_t k = 0; k < graph->graph.grads.size(); ++k)
    plan->grad_types[static_cast<size_t>(task.grad_inputs[k])] = graph->info->type(graph->graph.grads[k]);
}

PlanStats Summarize(const Plan& plan, const EntryPlaces& places) {
  PlanStats stats;
  stats.arena_bytes = plan.memory.arena_bytes;
  stats.unshared_bytes = places.unshared_bytes;
  stats.lower_bound_bytes = plan.memory.lower_bound_bytes;
  stats.num_nodes = static_cast<int>(plan.nodes.size());
  stats.num_bulks = static_cast<int>(plan.forward.bulks.size() + plan.backward.bulks.size());
  stats.num_inplace = places.num_inplace;
  stats.forward_ns = plan.forward.cost;
  for (const auto& pass : plan.passes) stats.num_removed += std::max(0, pass.nodes_before - pass.nodes_after);
  return stats;
}

}  // namespace

std::shared_ptr<const Plan> Plan::Compile(const PlanRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  const PlanTask task = MakeTask(request);
  auto plan = std::make_shared<Plan>();
  const std::vector<NodeEntry> forward = MakeForward(task, &plan->passes);
  plan->recompute = ChooseWhatToRecompute(task, forward, [&](const NodeSet& again) {
    const PlanGraph tried = MakeGraph(task, forward, again, nullptr);
    return PlaceEntries(tried, MakeSchedule(tried, request.every_result)).memory.arena_bytes;
  });
  PlanGraph graph = MakeGraph(task, forward, plan->recompute.nodes, &plan->passes);
  const Schedule schedule = MakeSchedule(graph, request.every_result);
  EntryPlaces places = PlaceEntries(graph, schedule);
  static_cast<PlanNodes&>(*plan) = MakeNodes(task, graph, schedule, places);
  plan->forward = MakePhase(*plan, 0, schedule.num_forward, ForwardBulk(task));
  plan->backward = MakePhase(*plan, schedule.num_forward, static_cast<int>(plan->nodes.size()), BackwardBulk(task));
  Describe(task, &graph, plan.get());
  plan->shared_slots = std::move(places.shared_slots);
  plan->constant_bytes = places.constant_bytes;
  plan->blocks = std::move(places.blocks);
  plan->memory = std::move(places.memory);
  for (const TensorType& t : graph.info->types) plan->has_sparse = plan->has_sparse || IsSparse(t.storage);
  plan->stats = Summarize(*plan, places);
  plan->stats.compile_ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  return plan;
}

}  // namespace mxnet
