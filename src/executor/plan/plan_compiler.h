/*
 * From a symbol with known input shapes to a plan: gradient, passes and order, a place in memory
 * for every entry, what runs.
 */
#ifndef MXNET_EXECUTOR_PLAN_PLAN_COMPILER_H_
#define MXNET_EXECUTOR_PLAN_PLAN_COMPILER_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "executor/passes/core/passes.h"
#include "executor/plan/plan.h"
#include "graph/entry_key.h"

namespace mxnet {

class PlanCompiler {
 public:
  /* trial: find out what plan->recompute gives. */
  PlanCompiler(const PlanRequest& request, Plan* plan, bool trial = false)
      : r_(request), p_(*plan), trial_(trial), inputs_(request.symbol.ListInputs(Symbol::kAll)) {}

  /* By output; kAdd: onto what the array held. */
  PlanCompiler& WithOutputRequests(std::vector<OpReq> requests) {
    output_req_ = std::move(requests);
    return *this;
  }

  void Run() {
    Prepare();
    MakeNodes();
    MakePhases();
    Summarize();
  }

 private:
  using InplacePairs = std::vector<std::pair<int, int>>;

  // Everything up to the arena.
  void Prepare();

  // ---- graph (plan_compile.cc)
  void AddBackward();
  void AddGradient(const std::vector<NodeEntry>& xs, const std::vector<NodeEntry>& heads, const NodeSet& again);
  void ChooseWhatToRecompute(const std::vector<NodeEntry>& xs, const std::vector<NodeEntry>& heads);
  // `made` stands for `like` from now on.
  NodeEntry InPlaceOf(const NodeEntry& like, NodeEntry made);
  void AddOnto(NodeEntry* e, int slot, const std::string& name, bool alone, const NodeEntry& like);
  // Every result gets an entry of its own that an operator writes, so that it can be computed
  // straight into the caller's array.
  void ExternalResults();
  void Infer();

  // ---- memory (plan_places.cc)
  // Colours of nodes by place in the order: the longest path through the graph is the first, the
  // longest of what is left the second, and so on; all that is left over gets the last of
  // MXNET_EXEC_NUM_TEMP. Paths of different colours share no memory, so they could run side by
  // side.
  std::vector<int> ColourNodes() const;
  // Stretches of the order whose nodes belong to one run; constant nodes may stand among them, but
  // neither first nor last.
  void MakeLoops();
  // The loop whose micro-batches give a node other data, -1; constant nodes among its nodes run
  // with them but have none.
  int LoopAt(int t) const { return loop_of_[t] >= 0 && !IsConstantNode(*g_->nodes[order_[t]].source) ? loop_of_[t] : -1; }
  // Does a node in a loop read or write this tensor a part at a time?
  bool InParts(int t, int input) const;
  // When entries are read last, and which of them loops use a part at a time.
  void FindUses();
  // A slot, a constant or a block of the arena for every entry.
  void PlaceEntries();
  // Of the node at place t of the order.
  void PlaceOutputs(int t, int colour);
  // Output o in the block of an input that ends there.
  bool ShareInput(int t, int o, int colour, const InplacePairs& pairs, std::set<int>* reused);
  // In the arena.
  size_t BytesOf(uint32_t e) const { return static_cast<size_t>(shapes_[e].Size()) * DTypeSize(dtypes_[e]) / parts_[e]; }

  // ---- what runs (plan_nodes.cc)
  // loop: in which one it is used a part at a time; -1: as a whole.
  void AddBlob(uint32_t node, uint32_t index, int loop);
  // Inference settles nodes of the gradient by what they are the gradient of: here every record is
  // asked once, whoever made the node.
  void Check(uint32_t id) const;
  void MakeNodes();
  Plan::Bulk MakeBulk(int begin, int end) const;
  void MakePhase(Plan::Phase* phase, int begin, int end, int wanted, bool all, int env_size);
  void MakePhases();
  void Summarize();

  const PlanRequest& r_;
  Plan& p_;
  const bool trial_;
  std::vector<OpReq> output_req_;                    // empty: all kWrite
  const std::vector<NodeEntry>* forward_ = nullptr;  // of a trial: what the early passes gave
  std::vector<NodePtr> inputs_, extra_variables_;
  std::unordered_map<const mxnet::Node*, int> variable_slot_;
  std::vector<int> grad_inputs_;  // by gradient: which input
  PassGraph graph_;
  std::map<EntryKey, int> result_slot_;
  std::set<EntryKey> add_directly_;
  VariableTypes types_;
  std::unique_ptr<GraphInfo> info_;
  const IndexedGraph* g_ = nullptr;
  ShapeVector shapes_;
  std::vector<int> dtypes_;
  std::vector<uint32_t> order_;
  int num_forward_ = 0;
  std::vector<int> slot_, block_, uses_;  // by entry
  std::vector<int> loop_of_;              // by place in the order
  std::vector<int> parts_;                // by entry: the arena has memory for one of so many
  std::vector<bool> inplace_, constant_;
  std::vector<size_t> constant_offset_;
  std::unordered_map<uint32_t, int> position_;  // node id -> place in the order
};

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PLAN_PLAN_COMPILER_H_
