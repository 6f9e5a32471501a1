/*
 * The steps of Plan::Compile, in their order: the graph with its gradient, the order of the nodes,
 * a place in memory for every entry, what runs. A step gets what the steps before it have made, and
 * returns what it makes; it changes nothing else.
 */
#ifndef MXNET_EXECUTOR_PLAN_PLAN_STEPS_H_
#define MXNET_EXECUTOR_PLAN_PLAN_STEPS_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "executor/passes/core/passes.h"
#include "executor/plan/plan.h"
#include "graph/entry_key.h"

namespace mxnet {

// ---- what is asked (plan_graph.cc)

/* A request, and what every step wants to know of it. */
struct PlanTask {
  const PlanRequest& request;
  std::vector<NodePtr> inputs;   // of the symbol
  std::vector<OpReq> grad_req;   // by input
  std::vector<int> grad_inputs;  // which inputs want a gradient
  PlanSlots slots;
  VariableTypes types;  // of the inputs
  bool has_backward() const { return !grad_inputs.empty(); }
};
/* Throws Error(kValue) when the request has types for another number of inputs than the symbol. */
PlanTask MakeTask(const PlanRequest& request);

// ---- graph (plan_graph.cc)

/* The symbol's outputs after the early passes. */
std::vector<NodeEntry> MakeForward(const PlanTask& task, std::vector<PassRecord>* passes);

/* `arena_bytes` tells what a choice gives. */
Recompute ChooseWhatToRecompute(const PlanTask& task, const std::vector<NodeEntry>& forward,
                                const std::function<size_t(const NodeSet&)>& arena_bytes);

/*
 * What a plan computes: forward and gradient, after the passes. Every result is an entry of its own
 * that an operator makes, so that it can be computed straight into the caller's array.
 */
struct PlanGraph {
  PassGraph graph;
  Symbol optimized;                // the forward part as the passes left it
  std::vector<NodePtr> variables;  // that are no inputs: head gradients, arrays that results are added onto
  StorageTypes head_storages;      // by output: of its head gradient; kUndefined is dense
  std::unordered_map<const Node*, int> variable_slots;
  std::map<EntryKey, int> result_slots;
  std::set<EntryKey> added_directly;  // results that their operators add onto what the array holds
  std::unique_ptr<GraphInfo> info;
};
/* `again`: nodes that the backward pass computes again. `passes` is null for a trial, which prints
 * nothing. */
PlanGraph MakeGraph(const PlanTask& task, const std::vector<NodeEntry>& forward, const NodeSet& again, std::vector<PassRecord>* passes);

// ---- order (plan_schedule.cc)

struct Schedule {
  std::vector<uint32_t> order;  // ids of nodes
  int num_forward = 0;          // so many of them belong to the forward pass
  /* Stretches of the order whose nodes belong to one run; constant nodes may stand among them, but
   * neither first nor last. Without blobs. */
  std::vector<Plan::Loop> loops;
  /* By place in the order, -1 outside: the loop that a node runs in, and the one whose
   * micro-batches give it other data. Constant nodes have the same data in each micro-batch. */
  std::vector<int> loop_of, data_loop_of;
};
Schedule MakeSchedule(const PlanGraph& graph, bool every_result);

// ---- memory (plan_places.cc)

/* Where an entry lies, and how long. */
struct EntryPlace {
  Plan::Place place = Plan::Place::kNowhere;
  size_t at = 0;          // as in Plan::Blob, but in the arena: which block
  int last_read = -1;     // place in the order
  int parts = 1;          // the arena has memory for one of so many
  bool in_place = false;  // written over an input that ends there
};
struct EntryPlaces {
  std::vector<EntryPlace> entries;
  std::vector<MemoryBlock> blocks;
  MemoryPlan memory;                              // of `blocks`
  TensorTypes sparse;                             // of the instance's sparse arrays
  std::vector<std::pair<int, int>> shared_slots;  // Plan::shared_slots
  size_t constant_bytes = 0, unshared_bytes = 0;  // unshared: what the arena's entries would take apart
  int num_inplace = 0;
};
EntryPlaces PlaceEntries(const PlanGraph& graph, const Schedule& schedule);

// ---- what runs (plan_nodes.cc, plan_phases.cc)

PlanNodes MakeNodes(const PlanTask& task, const PlanGraph& graph, const Schedule& schedule, const EntryPlaces& places);
/* Of nodes [begin, end), with so many in a bulk. */
Plan::Phase MakePhase(const PlanNodes& plan, int begin, int end, int bulk_size);

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PLAN_PLAN_STEPS_H_
