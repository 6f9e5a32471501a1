/*
 * The compiled graph and its instances; Executor and CachedOp are entry points to these.
 *
 * A Plan is immutable. What it reads and writes from outside is numbered as slots:
 * [inputs][outputs][head gradients][gradients]. A PlanInstance owns an arena and the operators'
 * states, and may be used by one caller at a time; the engine orders its runs through the arena's
 * variable, so a caller need not wait for one run before it pushes the next.
 */
#ifndef MXNET_EXECUTOR_PLAN_PLAN_H_
#define MXNET_EXECUTOR_PLAN_PLAN_H_

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "executor/passes/core/passes.h"
#include "executor/passes/core/plan_request.h"
#include "executor/plan/plan_memory.h"
#include "mxnet/executor.h"
#include "mxnet/imperative.h"
#include "mxnet/profiler.h"
#include "operator/runs_elsewhere.h"

namespace mxnet {

class OnComplete;  // mxnet/engine.h

class Plan {
 public:
  static std::shared_ptr<const Plan> Compile(const PlanRequest& request);

  struct Node {
    AttrsPtr attrs;
    std::string name;
    const Kernel* kernel;
    int in, num_in, out, num_out;  // places in `blobs`; the requests of the outputs begin at `req`
    int req;
    double cost;                               // rough nanoseconds
    bool constant = false;                     // runs only when a variable that it reads has changed
    int loop = -1;                             // which of `loops` it belongs to
    const RunsElsewhere* elsewhere = nullptr;  // started in place of a kernel; a bulk of its own
    bool alone = false;                        // waits for such nodes in graphs that it holds; a bulk and a thread of its own
  };
  struct Blob {
    TBlob shape;              // no pointer
    int slot = -1;            // external, or
    size_t offset = 0;        // place in the arena, or
    bool constant = false;    // in the instance's block of constants, or
    bool shape_only = false;  // nowhere: nobody computes it
    int micro_batches = 1;    // `shape` is one of so many parts that lie one behind the other and are used in turn (Loop)
  };
  /*
   * Forward nodes [begin, end) that run `micro_batches` times, each time on the next examples of
   * the batch. What they hand to each other has memory for one micro-batch; what comes from before
   * or is wanted behind them moves on by its bytes after each.
   */
  struct Loop {
    int begin = 0, end = 0, micro_batches = 1;
    std::vector<int> data, moving;  // blobs with another content in each micro-batch; those of them that move on
  };
  /* Nodes that are pushed together. */
  struct Bulk {
    int begin, end;
    std::vector<int> read_slots, write_slots, kept_slots;  // kept: written, but what they held is read first
    bool random = false;
    bool elsewhere = false;  // one node, which runs elsewhere
    bool alone = false;      // one node, which needs a thread of its own
  };
  struct Phase {
    int begin = 0, end = 0;  // nodes
    std::vector<Bulk> bulks;
    Bulk whole;              // the phase as one
    bool elsewhere = false;  // some node runs elsewhere, or alone: never as one
    double cost = 0;
    bool meets = false;       // a node waits for another device's
    bool own_random = false;  // draws from numbers set aside for it: some node runs alone
  };

  int num_inputs = 0, num_outputs = 0;
  int output_slot(int i) const { return num_inputs + i; }
  int head_slot(int i) const { return num_inputs + num_outputs + i; }
  int grad_slot(int i) const { return num_inputs + 2 * num_outputs + i; }  // by input
  int num_slots() const { return 2 * num_inputs + 2 * num_outputs; }

  std::vector<Node> nodes;
  std::vector<Blob> blobs;
  std::vector<OpReq> reqs;
  std::vector<Loop> loops;
  std::vector<std::vector<int>> slot_blobs;  // which blobs a slot's pointer goes to
  std::vector<int> arena_blobs, constant_blobs;
  std::vector<std::vector<int>> constant_readers;  // by node: blobs that hold its results, when it is constant
  size_t constant_bytes = 0;
  std::vector<char> head_used;  // by output: does the backward pass read its head gradient?
  ShapeVector output_shapes;
  std::vector<int> output_dtypes;
  std::vector<OpReq> grad_req;
  std::vector<char> per_call;  // by input
  Phase forward, backward;
  std::vector<MemoryBlock> blocks;  // what was planned, for verification
  MemoryPlan memory;
  PlanStats stats;
  std::vector<PassRecord> passes;  // what was run, in order
  Context ctx;
  bool is_train = false, has_backward = false;
  Symbol optimized;     // the forward graph after the passes
  Recompute recompute;  // chosen nodes of the symbol

  std::string DebugStr() const;
};

/* One block of memory and the variable that orders its users. Shared by the instances that share
 * memory. */
struct Arena {
  Var* var;
  Context ctx;
  StorageHandle handle;             // touched inside engine operations on `var` only
  std::atomic<size_t> reserved{0};  // when memory is made, at least this much: plans that share an arena make it once, for the largest
  std::atomic<const void*> holds{nullptr};  // the PlanCall whose forward pass was pushed last: whose activations a backward pass would find
  explicit Arena(Context c);
  void Reserve(size_t bytes);
  ~Arena();
};

using MonitorFn = std::function<void(const char* name, const char* op, const NDArray& array)>;

/* Who wants to see results: outputs of every node, with `all` its inputs too. A CachedOp's monitor
 * sees numbers for outputs without names (NAME_0), an executor's NAME_output. */
struct Monitor {
  MonitorFn fn;
  bool all = false, numbers_outputs = false;
  explicit operator bool() const { return static_cast<bool>(fn); }
};

/* Everything one run of a phase needs to know; kept alive by the pushed operations. */
struct PlanCall {
  std::vector<NDArray> arrays;  // by slot; none where the phase does not touch it
  Imperative::RandomResource* random = nullptr;
  RandomState random_start;  // as it was before this forward pass
  /* Of a phase with nodes that run alone, in place of the device's. */
  struct OwnRandom {
    RandomState state;
    NDArray taken;  // without memory: orders the operation that takes them before those that draw
  };
  OwnRandom own_random[2];            // forward, backward
  std::shared_ptr<PlanCall> repeats;  // a forward pass to repeat with its random numbers, leaving the device's alone
  bool free_after_forward = false, free_after_backward = false;
  bool graphs = false;     // a GPU may run it as CUDA graphs: arrays keep their places from call to call
  bool on_caller = false;  // the caller computes it itself, whatever it costs, unless something that it needs is in use
};

class DeviceGraphs;
class GraphPlaces;
class PlanConstants;
class PlanWorkspace;

class PlanInstance : public std::enable_shared_from_this<PlanInstance> {
 public:
  PlanInstance(std::shared_ptr<const Plan> plan, std::shared_ptr<Arena> arena);
  ~PlanInstance();

  /* Runs or pushes a phase. Slots of the phase must be filled. */
  void Run(const std::shared_ptr<PlanCall>& call, bool backward);
  /* Pushes node `step` of the forward phase alone. */
  void RunStep(const std::shared_ptr<PlanCall>& call, int step);
  /* Runs a phase on the calling thread, node by node, and shows every result. Waits for
   * everything. */
  void RunMonitored(const std::shared_ptr<PlanCall>& call, bool backward, const Monitor& monitor);
  /* Runs both phases on an engine worker `runs` times after some that are not counted, and tells
   * how many nanoseconds each node took there. Waits. */
  void RunTimed(const std::shared_ptr<PlanCall>& call, int runs, std::vector<std::vector<double>>* times);
  /* Gives the arena's memory back once everything pushed so far is done. */
  void FreeArenaLater();

  const std::shared_ptr<const Plan>& plan() const { return plan_; }
  const std::shared_ptr<Arena>& arena() const { return arena_; }

 private:
  void MakeStates();
  void Bind(PlanCall* call, RunContext run, bool graphs = false);
  bool UpToDate(int node);
  /* A loop as a whole, when its first node is among them. */
  void Execute(PlanCall* call, int begin, int end, const RunContext& run, PlanWorkspace* workspace);
  void ExecuteNodes(PlanCall* call, int begin, int end, const RunContext& run, PlanWorkspace* workspace);
  void StartNode(int t, const RunContext& run, OnComplete done);
  void ExecuteGraphs(PlanCall* call, const Plan::Bulk& phase, RunContext run);
  void NextMicroBatch(const Plan::Loop& loop, int micro_batches);  // may be negative
  void BeginForward(PlanCall* call);
  /* The random numbers of a phase: once, before its first part is pushed. */
  void TakeRandom(const std::shared_ptr<PlanCall>& call, bool backward);
  bool IsBackward(int node) const { return node >= plan_->forward.end; }
  bool OwnsRandom(int node) const { return (IsBackward(node) ? plan_->backward : plan_->forward).own_random; }
  int CollectVars(const PlanCall& call, const Plan::Bulk& bulk, bool continues, std::vector<Var*>* reads, std::vector<Var*>* writes) const;
  /* `alone`: it needs a thread of its own. */
  void Push(std::function<void(RunContext)> fn, std::vector<Var*> reads, std::vector<Var*> writes, int num_kept, const char* name,
            bool alone = false) const;
  /* `before` runs first. `node`: runs elsewhere. */
  void PushElsewhere(std::function<void(RunContext)> before, const std::shared_ptr<PlanCall>& call, int node, std::vector<Var*> reads,
                     std::vector<Var*> writes, int num_kept, const char* name);

  std::shared_ptr<const Plan> plan_;
  std::shared_ptr<Arena> arena_;
  std::vector<TBlob> blobs_;
  std::vector<KernelArgs> args_;
  std::vector<std::shared_ptr<OpState>> states_;
  std::vector<const profiler::OpInfo*> profiled_;  // by node: null until the profiler has seen it
  std::vector<void*> bound_;                       // pointer by slot that blobs_ holds now
  std::vector<uint64_t> versions_;                 // by blob, as KernelArgs::in_versions wants them
  struct Seen {
    NDArray array;
    uint64_t version = 0;
    const void* at = nullptr;
  };
  std::vector<Seen> seen_;  // by input: what was bound last; holding it keeps its address from being given to another array
  uint64_t changes_ = 0;
  StorageHandle constants_;
  std::unique_ptr<PlanConstants> constant_pieces_;  // null on a GPU, and while there are none
  std::vector<uint64_t> folded_;                    // by blob: the version that a constant node last read
  void* bound_arena_ = nullptr;
  RandomState replay_random_;
  StorageHandle graph_draws_;                  // on a GPU: seed and counter where the random numbers of the next graph begin
  std::unique_ptr<GraphPlaces> graph_places_;  // null until a phase has run as CUDA graphs
  PlanWorkspace* workspace_ = nullptr;         // of the nodes that run now
  std::unique_ptr<PlanWorkspace> graph_workspace_;
  std::unique_ptr<DeviceGraphs> graphs_;  // null until a phase has run as CUDA graphs; gone before the memory that they know
};

/* Copies between blobs of one size, converting layouts; inside an engine operation. */
void CopyBlob(const TBlob& from, const TBlob& to, RunContext run);

/* Runs a graph without a plan, operator by operator (value-dependent shapes, small graphs,
 * recording). inputs in ListInputs(kAll) order. */
void Interpret(const Symbol& symbol, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs, const Context& ctx,
               const Monitor& monitor = {});
/* Does it hold an operator whose result's shape depends on values? */
bool HasDynamicShape(const Symbol& symbol);
/* A head gradient as a plan reads it: of the output's dtype and on its device. `given` itself when
 * it is that already. */
NDArray AsGradientOf(int dtype, Context ctx, const NDArray& given);

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PLAN_PLAN_H_
