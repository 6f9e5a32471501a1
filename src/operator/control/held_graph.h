/*
 * Graphs that control-flow nodes hold (Attrs::subgraphs), as their records and kernels use them:
 * what the forward pass keeps, the gradient, and compiled forms by shapes.
 *
 * The backward pass computes a graph's results again from its inputs, so that of a loop's steps
 * only the states are kept. What cannot be computed again (random numbers, what an update of an
 * auxiliary state has left) is kept, too: further results of the graph.
 */
#ifndef MXNET_OPERATOR_CONTROL_HELD_GRAPH_H_
#define MXNET_OPERATOR_CONTROL_HELD_GRAPH_H_

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "operator/runtime/call_states.h"
#include "operator/runtime/subgraph.h"
#include "operator/runtime/subgraph_program.h"
#include "operator/shared/transposed_weights.h"
#include "operator/shared/weights_room.h"

namespace mxnet {
namespace control {

struct HeldGraph {
  std::shared_ptr<Symbol> graph;  // as given
  std::shared_ptr<Symbol> whole;  // its results, and those that are kept
  Subgraph parts;                 // of `whole`
  int num_results = 0;            // without those that are kept
  std::vector<char> mutated;      // by input: do operators write it?
  int copied = -1;                // the input that the only result is; -1: it is computed
  int num_inputs() const { return static_cast<int>(parts.inputs.size()); }
  int num_kept() const { return static_cast<int>(parts.outputs.size()) - num_results; }
};
HeldGraph Hold(std::shared_ptr<Symbol> graph);
/* What a copy copies. */
NodeEntry Original(NodeEntry e);

struct HeldGradient {
  std::vector<NodeEntry> grads;      // by input; null: none
  std::vector<NodePtr> heads, kept;  // variables: gradients of the results (kept ones, too), and what was kept
};
/* In terms of the graph's input variables. `present`: by result, kept ones included, does a
 * gradient come in there? */
HeldGradient Differentiate(const HeldGraph& graph, const std::vector<char>& present);

/* A compiled graph, ready to run. */
struct GraphRun {
  std::unique_ptr<SubgraphRun> run;
  std::vector<int> inputs, outputs;  // those of the program: which of the held graph's they are; inputs -1: none
};

/* Compiled forms of one graph. Thread-safe. */
class Programs {
 public:
  struct Request {
    Context ctx;
    bool is_train = false;
    InferSwitches switches;
    TensorTypes inputs;      // of the graph
    std::vector<OpReq> req;  // by result, kept ones included; kNull: not wanted
  };
  /* Idle or new. Goes back to the others with its last user. */
  std::shared_ptr<GraphRun> Take(const HeldGraph& graph, const Request& request);

 private:
  struct Compiled {
    std::shared_ptr<const SubgraphProgram> program;
    GraphRun about;  // without a run
    std::mutex mutex;
    std::vector<std::unique_ptr<SubgraphRun>> idle;
  };
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Compiled>> compiled_;
};

/* The runs that a node of a plan keeps. */
struct KeptRuns : CallScope {
  std::vector<std::shared_ptr<GraphRun>> runs;
  std::vector<uint64_t> versions;        // of the node's inputs when it ran last
  std::vector<std::vector<char>> stale;  // by run, of a node that does not make them all: inputs that changed since
};
/* The device that the program named: run.ctx is cpu(0) for all of the CPU. */
inline Context ContextOf(const KernelArgs& args) { return args.in.empty() ? args.run.ctx : args.in[0].ctx; }
/* By input of the node: may it have other contents than when the node ran last? */
std::vector<char> ChangedInputs(const KernelArgs& args);
/* For nodes of several runs, of which a call makes some: what changed is noted in each call, and
 * asked for when a run is made. */
void NoteChanges(const KernelArgs& args, const std::vector<char>& changed, size_t runs);
std::vector<char> ChangedSince(const KernelArgs& args, size_t which);
/* Where `args` come from a plan, run number `which` of the node: made by `take` at first. */
template <typename Take>
std::shared_ptr<GraphRun> RunOf(const KernelArgs& args, size_t which, const Take& take) {
  if (!args.state) return take();
  if (!*args.state) *args.state = std::make_shared<KeptRuns>();
  auto& runs = static_cast<KeptRuns&>(**args.state).runs;
  if (runs.size() <= which) runs.resize(which + 1);
  if (!runs[which]) runs[which] = take();
  return runs[which];
}

/* The trait of a record whose parameters have a place `calls`. */
template <typename Param>
KeepsCallStates CallStatesIn() {
  return {[](const Attrs& attrs, std::shared_ptr<CallStates> calls) -> AttrsPtr {
            auto param = std::make_shared<Param>(attrs.get<Param>());
            param->calls = std::move(calls);
            auto copy = std::make_shared<Attrs>(attrs);
            copy->param = std::move(param);
            return copy;
          },
          [](const Attrs& attrs) { return attrs.param ? attrs.get<Param>().calls : nullptr; },
          []() -> std::shared_ptr<CallScope> { return std::make_shared<KeptRuns>(); }};
}

/*
 * What the graphs of a node are told of weights, while the node's kernel runs: that those which
 * somebody in the node reads as they lie are there, and stay.
 */
class HeldWeights final : public PlanWeights, public TransposedWeights, public WeightsRoom {
 public:
  explicit HeldWeights(KernelArgs* args) : args_(args), outer_(args->plan_weights) {
    if (outer_) args_->plan_weights = this;
  }
  ~HeldWeights() { args_->plan_weights = outer_; }
  HeldWeights(const HeldWeights&) = delete;
  HeldWeights& operator=(const HeldWeights&) = delete;
  /* An input of the node that is read without asking. */
  void Stay(const void* weights) {
    if (!outer_ || Stays(weights)) return;
    stay_.push_back(weights);
    outer_->Need(weights);
  }
  void Need(const void* weights) override { outer_->Need(weights); }
  void Done(const void* weights) override {
    if (!Stays(weights)) outer_->Done(weights);
  }
  uint64_t Identity(const void* weights) override { return outer_->Identity(weights); }
  ReadPart Parts(const void* weights) override { return outer_->Parts(weights); }
  ReadPart TransposedParts(const void* weights) override { return TransposedPartsOf(outer_, weights); }
  bool HasRoomFor(const void* weights, size_t more, bool anyway) override { return mxnet::HasRoomFor(outer_, weights, more, anyway); }

 private:
  bool Stays(const void* weights) const { return std::find(stay_.begin(), stay_.end(), weights) != stay_.end(); }
  KernelArgs* const args_;
  PlanWeights* const outer_;
  std::vector<const void*> stay_;
};

/* Begin and End of a run around a scope. */
class RunScope {
 public:
  RunScope(const GraphRun& run, const KernelArgs& args) : run_(*run.run) { run_.Begin(args); }
  ~RunScope() { run_.End(); }

 private:
  SubgraphRun& run_;
};

// ---- bytes, on the device of the kernel
void CopyBytes(const KernelArgs& args, const void* from, void* to, size_t bytes);
void ZeroBytes(const KernelArgs& args, void* at, size_t bytes);
/* Copies one number to the host; waits for a GPU. */
void ReadNumber(const KernelArgs& args, const void* at, void* to, size_t bytes);
/* Is the number at `at` true? NaN is. */
bool ReadTruth(const KernelArgs& args, const void* at, int dtype);
/* Writes an int64 from the host. */
void WriteInt64(const KernelArgs& args, int64_t value, void* at);

/* Is this gradient known to be zero because nobody asked for it? */
bool IsZeros(const NodeEntry& e);

/* An entry of the node whose gradient is made, or a gradient that came in. */
struct Ref {
  enum Kind : uint8_t { kInput, kOutput, kOgrad } kind;
  int index;
  NodeEntry Of(const NodePtr& node, const std::vector<NodeEntry>& ograds) const {
    if (kind == kInput) return node->inputs[index];
    return kind == kOgrad ? ograds[index] : NodeEntry{node, static_cast<uint32_t>(index), 0};
  }
};
/* How to differentiate a node: made once for the same gradients that come in. */
struct BackwardNode {
  AttrsPtr attrs;  // null: no gradient flows anywhere
  std::vector<Ref> inputs;
  std::vector<int> gives;  // by input of the forward node: which output is its gradient; -1: none
  std::vector<NodeEntry> Make(const NodePtr& node, const std::vector<NodeEntry>& ograds) const;
};

}  // namespace control
}  // namespace mxnet
#endif  // MXNET_OPERATOR_CONTROL_HELD_GRAPH_H_
