// Graphs inside the kernels of other graphs' nodes: the forward phase of a plan on the thread that
// runs the kernel, without the engine and without arrays. What it costs beside its kernels is a few
// pointers.
#include "operator/runtime/subgraph_program.h"

#include "base/device_interface.h"
#include "engine/sync.h"
#include "executor/plan/plan_compiler.h"
#include "mxnet/engine.h"
#include "operator/op_scope.h"
#include "operator/runtime/call_states.h"
#include "storage/device_memory.h"

namespace mxnet {
namespace {

class RunOfPlan final : public SubgraphRun {
 public:
  explicit RunOfPlan(std::shared_ptr<const Plan> plan)
      : plan_(std::move(plan)),
        states_(plan_->nodes.size()),
        profiled_(plan_->nodes.size(), nullptr),
        versions_(plan_->blobs.size(), 0),
        read_(plan_->blobs.size(), 0) {
    for (const auto& b : plan_->blobs) blobs_.push_back(b.shape);
    args_.resize(plan_->nodes.size());
    for (size_t t = 0; t < args_.size(); ++t) {
      const Plan::Node& n = plan_->nodes[t];
      KernelArgs& a = args_[t];
      a.attrs = n.attrs.get();
      a.in = Span<const TBlob>(blobs_.data() + n.in, n.num_in);
      a.out = Span<const TBlob>(blobs_.data() + n.out, n.num_out);
      a.req = Span<const OpReq>(plan_->reqs.data() + n.req, n.num_out);
      a.in_versions = Span<const uint64_t>(versions_.data() + n.in, n.num_in);
      a.is_train = plan_->is_train;
      a.state = &states_[t];
      a.workspace = [this](size_t bytes) { return Workspace(bytes); };
      if (n.alone) states_[t] = NewCallScope(*n.attrs, nullptr);
      waits_ = waits_ || n.alone || n.elsewhere;
    }
  }
  ~RunOfPlan() override {
    if (constants_.dptr) storage::FinishDevice(plan_->ctx);
    Storage::Get()->Free(constants_);
  }

  void Begin(const KernelArgs& around) override {
    for (size_t t = 0; t < args_.size(); ++t) {
      args_[t].run = around.run;
      if (plan_->nodes[t].attrs->op->uses_random) args_[t].random = around.random;
    }
    run_ = around.run;
    around_ = &around;
    blocks_.clear();
    if (waits_) BeginScope(around);
    const size_t bytes = plan_->memory.arena_bytes;
    Place(bytes ? around.workspace(bytes) : nullptr, &arena_, plan_->arena_blobs);
    if (plan_->constant_bytes == 0 || constants_.dptr) return;
    profiler::MemoryScope memory("constants of a graph in a node");
    constants_ = Storage::Get()->Alloc(plan_->constant_bytes, plan_->ctx);
    void* placed = nullptr;
    Place(constants_.dptr, &placed, plan_->constant_blobs);
  }
  void SetInput(int input, void* at, bool changed) override { Point(input, at, changed); }
  void SetOutput(int output, void* at) override { Point(plan_->output_slot(output), at, true); }

  void Run(int64_t step) override {
    ++changes_;
    if (waits_) MoveScope(step);
    for (int b : plan_->arena_blobs) versions_[b] = changes_;
    const int end = plan_->forward.end;
    for (int t = plan_->forward.begin; t < end;) {
      const int loop = plan_->nodes[t].loop;
      if (loop < 0) {
        RunNode(t++);
      } else {
        RunLoop(plan_->loops[loop]);
        t = plan_->loops[loop].end;
      }
    }
  }
  void End() override {
    around_ = nullptr;
    if (!waits_) return;
    calls_ = nullptr;
    for (size_t t = 0; t < states_.size(); ++t) {
      if (plan_->nodes[t].elsewhere) states_[t] = nullptr;
      if (plan_->nodes[t].alone) static_cast<CallScope&>(*states_[t]).calls = nullptr;
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
    for (size_t t = 0; t < states_.size(); ++t) {
      if (!plan_->nodes[t].alone) continue;
      CallScope& scope = static_cast<CallScope&>(*states_[t]);
      scope.calls = calls_;
      scope.steps = steps_;
    }
  }

  /* Starts it and waits: this thread is there for nothing else. */
  void RunElsewhere(int t) {
    struct Wait {
      engine::Latch done;
      std::exception_ptr error;
    } wait;
    const Plan::Node& n = plan_->nodes[t];
    states_[t] = calls_->Of(*n.attrs, plan_->ctx, args_[t].in, steps_);
    if (run_.ctx.is_gpu()) GpuInterface().streams->synchronize(run_.stream);  // other streams read what is on this one
    const OnComplete done(
        [](void* op, std::exception_ptr error) {
          Wait& of = *static_cast<Wait*>(op);
          of.error = std::move(error);
          of.done.Signal();
        },
        &wait);
    n.elsewhere->start(args_[t], states_[t], done);
    wait.done.Wait();
    if (wait.error) std::rethrow_exception(wait.error);
  }

  void Place(void* block, void** before, const std::vector<int>& blobs) {
    if (block == *before) return;
    *before = block;
    for (int b : blobs) blobs_[b].dptr = static_cast<char*>(block) + plan_->blobs[b].offset;
  }

  /* Blocks of the kernel around, used again by every node: they ask for the same in every run. */
  void* Workspace(size_t bytes) {
    if (next_block_ == blocks_.size()) blocks_.emplace_back();
    std::pair<void*, size_t>& block = blocks_[next_block_++];
    if (block.second < bytes || !block.first) block = {around_->workspace(bytes), bytes};
    return block.first;
  }

  void Point(int slot, void* at, bool changed) {
    for (int b : plan_->slot_blobs[slot]) {
      changed = changed || blobs_[b].dptr != at;
      blobs_[b].dptr = at;
    }
    if (!changed) return;
    ++changes_;
    for (int b : plan_->slot_blobs[slot]) versions_[b] = changes_;
  }

  /* Does a constant node hold what it would compute? Its readers learn when it does not. */
  bool UpToDate(int t) {
    const Plan::Node& n = plan_->nodes[t];
    bool same = read_[n.out] == 1;  // computed at all
    for (int b = n.in; b < n.in + n.num_in; ++b) same = same && read_[b] == versions_[b];
    if (same) return true;
    for (int b = n.in; b < n.in + n.num_in; ++b) read_[b] = versions_[b];
    ++changes_;
    for (int b : plan_->constant_readers[t]) versions_[b] = changes_;
    return false;
  }

  void RunNode(int t) {
    const Plan::Node& n = plan_->nodes[t];
    if (n.constant) {
      if (UpToDate(t)) return;
      read_[n.out] = 0;
    }
    next_block_ = 0;
    try {
      profiler::OpScope profiled(&profiled_[t], *n.attrs, args_[t].in, args_[t].out, n.name, run_);
      if (n.elsewhere)
        RunElsewhere(t);
      else
        (*n.kernel)(args_[t]);
    } catch (const Error& e) {
      throw Error(e.kind(), std::string(e.what()) + " (node " + n.name + ")");
    }
    if (n.constant) read_[n.out] = 1;
  }

  void Move(const Plan::Loop& loop, int64_t micro_batches) {
    for (int b : loop.moving) blobs_[b].dptr = static_cast<char*>(blobs_[b].dptr) + micro_batches * static_cast<int64_t>(blobs_[b].Bytes());
    ++changes_;
    for (int b : loop.data) versions_[b] = changes_;
  }
  void RunLoop(const Plan::Loop& loop) {
    struct Back {  // also when a kernel throws: pointers are kept from run to run
      RunOfPlan* self;
      const Plan::Loop& loop;
      int micro_batches;
      ~Back() { self->Move(loop, -micro_batches); }
    } back{this, loop, 0};
    for (; back.micro_batches < loop.micro_batches; ++back.micro_batches) {
      for (int t = loop.begin; t < loop.end; ++t) RunNode(t);
      Move(loop, 1);
    }
  }

  const std::shared_ptr<const Plan> plan_;
  std::vector<TBlob> blobs_;
  std::vector<KernelArgs> args_;
  std::vector<std::shared_ptr<OpState>> states_;
  std::vector<const profiler::OpInfo*> profiled_;
  std::vector<uint64_t> versions_;  // by blob
  std::vector<uint64_t> read_;      // by blob: the version that a constant node last read
  uint64_t changes_ = 1;
  void* arena_ = nullptr;
  StorageHandle constants_;
  const KernelArgs* around_ = nullptr;            // while its kernel runs
  std::vector<std::pair<void*, size_t>> blocks_;  // workspace of the nodes, as long
  size_t next_block_ = 0;
  RunContext run_;
  bool waits_ = false;  // some node runs elsewhere, or holds a graph with such a node
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
  wanted.shapes = request.shapes;
  wanted.dtypes = request.dtypes;
  wanted.is_train = request.is_train;
  auto plan = std::make_shared<Plan>();
  PlanCompiler(wanted, plan.get()).WithOutputRequests(request.req).Run();
  return std::make_shared<ProgramOfPlan>(std::move(plan));
}

[[maybe_unused]] const bool given = SetCompileSubgraph(Compile);

}  // namespace
}  // namespace mxnet
