/*
 * A plan with memory of its own, which runs. A PlanInstance may be used by one caller at a time.
 * The engine orders its runs through the arena's variable, so a caller need not wait for one run
 * before it pushes the next.
 */
#ifndef MXNET_EXECUTOR_PLAN_PLAN_INSTANCE_H_
#define MXNET_EXECUTOR_PLAN_PLAN_INSTANCE_H_

#include <functional>
#include <memory>
#include <vector>

#include "base/ran.h"
#include "executor/plan/arena.h"
#include "executor/plan/monitor.h"
#include "executor/plan/plan.h"
#include "executor/plan/plan_binding.h"
#include "executor/plan/plan_call.h"

namespace mxnet {

class CallStates;
class GraphPlaces;
class PlanConstants;
class PlanWorkspace;
struct PlanCudaGraphs;

/* What timed runs have shown. */
struct NodeTimes {
  std::vector<std::vector<double>> nanoseconds;  // by run and node
  std::vector<RanParts> ran;                     // by node; empty where nothing ran
};

class PlanInstance : public std::enable_shared_from_this<PlanInstance> {
 public:
  /* calls: null, or of several instances that share the programs' operators. */
  PlanInstance(std::shared_ptr<const Plan> plan, std::shared_ptr<Arena> arena, std::shared_ptr<CallStates> calls = nullptr);
  ~PlanInstance();

  /* Runs or pushes a phase. Slots of the phase must be filled. */
  void Run(const std::shared_ptr<PlanCall>& call, bool backward);
  /* Pushes node `step` of the forward phase alone. */
  void RunStep(const std::shared_ptr<PlanCall>& call, int step);
  /* Runs a phase on the calling thread, node by node, and shows every result. Waits for
   * everything. */
  void RunMonitored(const std::shared_ptr<PlanCall>& call, bool backward, const Monitor& monitor);
  /* Runs both phases on an engine worker `runs` times after some that are not counted, and tells
   * how many nanoseconds each node took there, and by which implementations. Waits. */
  void RunTimed(const std::shared_ptr<PlanCall>& call, int runs, NodeTimes* times);
  /* Gives the arena's memory back once everything pushed so far is done. */
  void FreeArenaLater();

  const std::shared_ptr<const Plan>& plan() const { return plan_; }
  const std::shared_ptr<Arena>& arena() const { return arena_; }

 private:
  const Plan::Phase& PhaseOf(bool backward) const { return backward ? plan_->backward : plan_->forward; }
  bool IsBackward(int node) const { return node >= plan_->forward.end; }

  // ---- memory (plan_instance.cc)
  void MakeStates(std::shared_ptr<CallStates> calls);
  /* Pointers of the call's arrays, of constants and of the arena; with `places`, of the places that
   * stand for arrays. */
  void Bind(PlanCall* call, const RunContext& run, GraphPlaces* places = nullptr);
  void BindSlot(int slot, const NDArray& array, const void* lies, void* at);
  bool BindStored(int slot, const NDArray& array);
  PlanConstants* Constants();
  /* False: it is dense. */
  bool BindSparseSlot(int slot, const NDArray& array);
  void BindSparse();
  void BindConstants(const RunContext& run);
  void BindArena(const RunContext& run);
  void FreeArena(const RunContext& run);

  // ---- random numbers (plan_random.cc)
  /* Before the first node of a forward pass runs. */
  void BeginForward(PlanCall* call);
  /* The random numbers of a phase: once, before its first part is pushed. */
  void TakeRandom(const std::shared_ptr<PlanCall>& call, bool backward);
  bool OwnsRandom(int node) const { return PhaseOf(IsBackward(node)).own_random; }
  RandomState* RandomOf(PlanCall* call, int node);

  // ---- nodes, on the thread that calls (plan_execute.cc)
  /* A loop as a whole, when its first node is among them. */
  void Execute(PlanCall* call, int begin, int end, const RunContext& run, PlanWorkspace* workspace);
  void ExecuteNodes(PlanCall* call, int begin, int end, const RunContext& run, PlanWorkspace* workspace);
  void StartNode(int node, const RunContext& run, OnComplete done);

  // ---- CUDA graphs (plan_cuda_graphs.cc)
  bool RunsAsCudaGraphs(const PlanCall& call, bool backward) const;
  PlanCudaGraphs* CudaGraphs();
  void ExecuteCudaGraphs(PlanCall* call, const Plan::Bulk& phase, const RunContext& run);

  // ---- engine (plan_push.cc)
  /* What an operation reads and writes. The first `num_kept` of `writes` are changed rather than
   * replaced. */
  struct Variables {
    std::vector<Var*> reads, writes;
    int num_kept = 0;
    /* What another one does, too; all of `writes` are replaced. */
    void Add(const Variables& other);
  };
  /* `continues`: it reads what an earlier part of the call left in the arena. */
  void CollectVariables(const PlanCall& call, const Plan::Bulk& bulk, bool continues, Variables* found) const;
  /* A phase of a call on its way through the engine. */
  struct PhaseRun {
    std::shared_ptr<PlanCall> call;
    bool backward, cuda_graphs;
    const char* name() const { return backward ? "backward" : "forward"; }
    bool free_after() const { return backward ? call->free_after_backward : call->free_after_forward; }
  };
  /* Before the first node of a phase runs. */
  void BeginPhase(const PhaseRun& phase, const RunContext& run);
  void RunBulk(const PhaseRun& phase, const Plan::Bulk& bulk, const RunContext& run);
  /* The calling thread runs the phase, if it is small and everything is idle. */
  bool RunHere(const PhaseRun& phase);
  /* `alone`: it needs a thread of its own. */
  void Push(std::function<void(RunContext)> fn, Variables variables, const char* name, bool alone) const;
  /* `before` runs first. `node` is asynchronous. */
  void PushAsync(std::function<void(RunContext)> before, const std::shared_ptr<PlanCall>& call, int node, Variables variables,
                 const char* name);

  std::shared_ptr<const Plan> plan_;
  std::shared_ptr<Arena> arena_;
  PlanBinding bound_;
  std::vector<void*> slot_pointers_;  // by slot: what its blobs have now
  void* arena_pointer_ = nullptr;     // what those of the arena have now
  struct Seen {
    NDArray array;
    uint64_t version = 0;
    const void* at = nullptr;
  };
  std::vector<Seen> seen_;       // by input: what was bound last; holding it keeps its address from being given to another array
  std::vector<NDArray> sparse_;  // what nodes hand to one another in other storages than dense
  StorageHandle constants_;
  std::unique_ptr<PlanConstants> constant_pieces_;  // null on a GPU, in training, and where no kernel keeps weights
  RandomState replay_random_;
  PlanWorkspace* workspace_ = nullptr;           // of the nodes that run now
  std::unique_ptr<PlanCudaGraphs> cuda_graphs_;  // null until a phase runs as CUDA graphs
};

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PLAN_PLAN_INSTANCE_H_
