// Graphs inside the kernels of other graphs' nodes: the forward phase of a plan on the thread that
// runs the kernel, without the engine and without arrays. What it costs beside its kernels is a few
// pointers.
#include "operator/runtime/subgraph_program.h"

#include "base/device/device_interface.h"
#include "engine/sync.h"
#include "executor/plan/plan_binding.h"
#include "executor/plan/plan_constants.h"
#include "mxnet/engine.h"
#include "operator/runtime/call_states.h"
#include "operator/shared/op_scope.h"
#include "storage/device_memory.h"

namespace mxnet {
namespace {

class RunOfPlan final : public SubgraphRun {
 public:
  explicit RunOfPlan(std::shared_ptr<const Plan> plan)
      : plan_(std::move(plan)), bound_(*plan_, [this](size_t bytes) { return Workspace(bytes); }) {
    for (size_t t = 0; t < plan_->nodes.size(); ++t) {
      const Plan::Node& n = plan_->nodes[t];
      if (n.alone) bound_.states[t] = NewCallScope(*n.attrs, nullptr);
      waits_ = waits_ || n.alone || n.async;
    }
    if (plan_->constant_bytes && !plan_->ctx.is_gpu())
      pieces_ = std::make_unique<PlanConstants>(*plan_, [this](int node) { (*plan_->nodes[node].kernel)(bound_.args[node]); });
  }
  ~RunOfPlan() override {
    if (constants_.dptr) storage::FinishDevice(plan_->ctx);
    Storage::Get()->Free(constants_);
  }

  void Begin(const KernelArgs& around) override {
    if (pieces_) pieces_->Within(&bound_.blobs, around.plan_weights);
    for (size_t t = 0; t < bound_.args.size(); ++t) {
      bound_.args[t].run = around.run;
      bound_.args[t].plan_weights = pieces_ ? pieces_.get() : around.plan_weights;
      if (plan_->nodes[t].attrs->op->uses_random) bound_.args[t].random = around.random;
    }
    run_ = around.run;
    around_ = &around;
    blocks_.clear();
    if (waits_) BeginScope(around);
    const size_t bytes = plan_->memory.arena_bytes;
    if (void* block = bytes ? around.workspace(bytes) : nullptr; block != arena_) {
      arena_ = block;
      bound_.PutInto(plan_->arena_blobs, arena_);
    }
    while (sparse_.size() < plan_->sparse_types.size()) {
      sparse_.push_back(NDArray::Make(plan_->sparse_types[sparse_.size()], plan_->ctx));
      bound_.Point(plan_->sparse_blobs[sparse_.size() - 1], sparse_.back().sparse());
    }
    if (plan_->constant_bytes == 0 || constants_.dptr) return;
    profiler::MemoryScope memory("constants of a graph in a node");
    constants_ = Storage::Get()->Alloc(plan_->constant_bytes, plan_->ctx);
    bound_.PutInto(plan_->constant_blobs, constants_.dptr);
    if (pieces_) pieces_->PutAt(static_cast<char*>(constants_.dptr));
  }
  bool Asks(int input) const override { return plan_->slot_asked[static_cast<size_t>(input)] != 0; }
  void SetInput(int input, void* at, bool changed) override { Point(input, at, changed); }
  void SetOutput(int output, void* at) override { Point(plan_->output_slot(output), at, true); }

  void Run(int64_t step) override {
    bound_.Changed(plan_->arena_blobs);
    for (const std::vector<int>& blobs : plan_->sparse_blobs) bound_.Changed(blobs);
    if (waits_) MoveScope(step);
    const int end = plan_->forward.end;
    for (int t = plan_->forward.begin; t < end;) {
      if (plan_->nodes[t].loop < 0) {
        RunNode(t++);
        continue;
      }
      const Plan::Loop& loop = plan_->loops[plan_->nodes[t].loop];
      bound_.RunLoop(loop, [&] {
        for (int i = loop.begin; i < loop.end; ++i) RunNode(i);
      });
      t = loop.end;
    }
  }
  void End() override {
    around_ = nullptr;
    if (!waits_) return;
    calls_ = nullptr;
    for (size_t t = 0; t < bound_.states.size(); ++t) {
      if (plan_->nodes[t].async) bound_.states[t] = nullptr;
      if (plan_->nodes[t].alone) static_cast<CallScope&>(*bound_.states[t]).calls = nullptr;
    }
  }

 private:
  // ---- operators that wait: whose states they are

  void BeginScope(const KernelArgs& around) {
    const CallScope* scope = around.state ? dynamic_cast<const CallScope*>(around.state->get()) : nullptr;
    calls_ = scope ? scope->calls : nullptr;
    if (!calls_) calls_ = std::make_shared<CallStates>();
    around_steps_ = scope ? scope->steps : std::vector<int64_t>();
  }
  void MoveScope(int64_t step) {
    steps_ = around_steps_;
    if (step >= 0) steps_.push_back(step);
    for (size_t t = 0; t < bound_.states.size(); ++t) {
      if (!plan_->nodes[t].alone) continue;
      CallScope& scope = static_cast<CallScope&>(*bound_.states[t]);
      scope.calls = calls_;
      scope.steps = steps_;
    }
  }

  /* Starts it and waits: this thread is there for nothing else. */
  void RunAsync(int t) {
    struct Wait {
      engine::Latch done;
      std::exception_ptr error;
    } wait;
    const Plan::Node& n = plan_->nodes[t];
    bound_.states[t] = calls_->Of(*n.attrs, plan_->ctx, bound_.args[t].in, steps_);
    if (run_.ctx.is_gpu()) GpuInterface().streams->synchronize(run_.stream);  // other streams read what is on this one
    const OnComplete done(
        [](void* op, std::exception_ptr error) {
          Wait& of = *static_cast<Wait*>(op);
          of.error = std::move(error);
          of.done.Signal();
        },
        &wait);
    n.async->start(bound_.args[t], bound_.states[t], done);
    wait.done.Wait();
    if (wait.error) std::rethrow_exception(wait.error);
  }

  /* Blocks of the kernel around, used again by every node: they ask for the same in every run. */
  void* Workspace(size_t bytes) {
    if (next_block_ == blocks_.size()) blocks_.emplace_back();
    std::pair<void*, size_t>& block = blocks_[next_block_++];
    if (block.second < bytes || !block.first) block = {around_->workspace(bytes), bytes};
    return block.first;
  }

  void Point(int slot, void* at, bool changed) {
    const std::vector<int>& blobs = plan_->slot_blobs[slot];
    for (int b : blobs) changed = changed || bound_.blobs[b].dptr != at;
    bound_.Point(blobs, at);
    if (changed) bound_.Changed(blobs);
  }

  void RunNode(int t) {
    const Plan::Node& n = plan_->nodes[t];
    if (n.constant && bound_.UpToDate(t)) return;
    KernelArgs& a = bound_.args[t];
    next_block_ = 0;
    const bool in_pieces = n.constant && pieces_;
    try {
      if (in_pieces && pieces_->RunPostponed(t, a)) return bound_.Computed(t);
      if (in_pieces) pieces_->Begin(t);
      profiler::OpScope profiled(&bound_.profiled[t], *n.attrs, a.in, a.out, n.name, run_);
      if (n.async)
        RunAsync(t);
      else
        (*n.kernel)(a);
    } catch (const Error& e) {
      throw Error(e.kind(), std::string(e.what()) + " (node " + n.name + ")");
    }
    if (in_pieces) pieces_->Computed(t);
    if (n.constant) bound_.Computed(t);
  }

  const std::shared_ptr<const Plan> plan_;
  PlanBinding bound_;
  void* arena_ = nullptr;
  std::vector<NDArray> sparse_;
  StorageHandle constants_;
  std::unique_ptr<PlanConstants> pieces_;         // null on a GPU, and where there are no constants
  const KernelArgs* around_ = nullptr;            // while its kernel runs
  std::vector<std::pair<void*, size_t>> blocks_;  // workspace of the nodes, as long
  size_t next_block_ = 0;
  RunContext run_;
  bool waits_ = false;  // some node is asynchronous, or holds a graph with such a node
  std::shared_ptr<CallStates> calls_;
  std::vector<int64_t> around_steps_, steps_;
};

class ProgramOfPlan final : public SubgraphProgram {
 public:
  explicit ProgramOfPlan(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)) {}
  std::unique_ptr<SubgraphRun> NewRun() const override { return std::make_unique<RunOfPlan>(plan_); }

 private:
  const std::shared_ptr<const Plan> plan_;
};

std::shared_ptr<const SubgraphProgram> Compile(const SubgraphRequest& request) {
  PlanRequest wanted;
  wanted.symbol = *request.graph;
  wanted.ctx = request.ctx;
  wanted.inputs = request.inputs;
  wanted.switches = request.switches;
  wanted.is_train = request.is_train;
  wanted.output_req = request.req;
  return std::make_shared<ProgramOfPlan>(Plan::Compile(wanted));
}

[[maybe_unused]] const bool given = SetCompileSubgraph(Compile);

}  // namespace
}  // namespace mxnet
