#include "executor/plan/plan_timing.h"

#include <algorithm>
#include <chrono>

#include "base/device/device_interface.h"
#include "executor/plan/plan_workspace.h"
#include "operator/nodes/graph_operators.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

NDArray Filled(double value, const Shape& shape, Context ctx, int dtype) {
  NDArray a(shape, ctx, dtype);
  if (shape.Size() > 0) Imperative::Run(graph_ops::Filled(value, dtype), {}, {OpReq::kWrite}, {a}, false);
  return a;
}

bool CanTime(const StreamHooks* hooks) { return hooks && hooks->mark_time && hooks->elapsed; }

/* The nodes of one run: by the host's clock, or on a GPU by the clock of the device that comes to
 * an event before and one behind each node on their stream. */
class NodeClock {
 public:
  NodeClock(const RunContext& run, size_t nodes)
      : run_(run), hooks_(run.ctx.is_gpu() ? GpuInterface().streams.get() : nullptr), times_(nodes), start_(Clock::now()) {}
  ~NodeClock() {
    for (const Span& s : spans_)
      for (void* event : {s.begin, s.end})
        if (event) hooks_->release(event);
  }
  NodeClock(const NodeClock&) = delete;
  NodeClock& operator=(const NodeClock&) = delete;

  /*
   * Has the device wait so long, that the host can run ahead. A device that has nothing to do comes
   * to the event before a node at once, and the node's time would be what the host takes to launch
   * it.
   */
  void Hold(double nanoseconds) {
    if (!hooks_ || nanoseconds <= 0) return;
    rtc::Arguments args;
    args.Add(static_cast<int64_t>(nanoseconds * 2));  // no GPU has more than two cycles in a nanosecond
    rtc::LaunchItems(run_, {"executor/hold.cuh", "hold"}, 1, &args);
  }
  template <typename F>
  void Time(int node, F&& run_node) {
    if (!hooks_) {
      const Clock::time_point start = Clock::now();
      run_node();
      times_[node] += std::chrono::duration<double, std::nano>(Clock::now() - start).count();
      return;
    }
    spans_.push_back({node, hooks_->mark_time(run_.stream), nullptr});
    run_node();
    spans_.back().end = hooks_->mark_time(run_.stream);
  }
  /* Since this was made. */
  double HostTime() const { return std::chrono::duration<double, std::nano>(Clock::now() - start_).count(); }
  /* Waits. */
  std::vector<double> Take() {
    if (hooks_) hooks_->synchronize(run_.stream);
    for (const Span& s : spans_) times_[s.node] += hooks_->elapsed(s.begin, s.end);
    return std::move(times_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Span {
    int node;
    void *begin, *end;
  };
  const RunContext run_;
  const StreamHooks* const hooks_;  // null: the host's clock
  std::vector<double> times_;
  std::vector<Span> spans_;
  const Clock::time_point start_;
};

}  // namespace

NodeTimes TimePlan(const std::shared_ptr<const Plan>& plan, const std::vector<NDArray>& inputs, int runs) {
  const Plan& p = *plan;
  MXNET_CHECK_KIND(runs >= 0 && runs <= 1000, Value) << "[explain] runs=" << runs << "; accepted: 0 to 1000";
  MXNET_CHECK_KIND(static_cast<int>(inputs.size()) == p.num_inputs, Value)
      << "[explain] got " << inputs.size() << " inputs; the plan has " << p.num_inputs;
  MXNET_CHECK_KIND(runs == 0 || !p.ctx.is_gpu() || CanTime(GpuInterface().streams.get()), Value)
      << "[explain] runs=" << runs << " on " << p.ctx << ", whose streams tell no times in this build; accepted there: runs=0";
  NodeTimes times;
  if (runs == 0 || p.nodes.empty()) return times;
  std::vector<char> written(p.num_slots(), 0);
  for (const Plan::Phase* phase : {&p.forward, &p.backward})
    for (int s : phase->whole.write_slots) written[s] = 1;
  auto call = std::make_shared<PlanCall>();
  call->repeats = std::make_shared<PlanCall>();  // random numbers of its own, always the same
  call->arrays.resize(p.num_slots());
  for (int s = 0; s < p.num_slots(); ++s) {
    if (p.slot_blobs[s].empty()) continue;
    TBlob like = p.blobs[p.slot_blobs[s][0]].shape;
    if (const int micro_batches = p.blobs[p.slot_blobs[s][0]].micro_batches; micro_batches > 1) like.shape[0] *= micro_batches;
    const bool given = s < p.num_inputs && !inputs[s].is_none();
    if (given) {
      MXNET_CHECK_KIND(inputs[s].shape() == like.shape && inputs[s].dtype() == like.dtype, Value)
          << "[explain] input " << s << " is " << inputs[s].shape() << ' ' << DTypeName(inputs[s].dtype()) << "; the plan was made for "
          << like.shape << ' ' << DTypeName(like.dtype);
      call->arrays[s] = written[s] ? inputs[s].Copy(inputs[s].ctx()) : inputs[s].Detach();
    } else {
      const bool head = s >= p.head_slot(0) && s < p.grad_slot(0);
      call->arrays[s] = Filled(head ? 1 : 0, like.shape, p.ctx, like.dtype);
    }
  }
  auto instance = std::make_shared<PlanInstance>(plan, std::make_shared<Arena>(p.ctx));
  instance->RunTimed(call, runs, &times);
  return times;
}

void PlanInstance::RunTimed(const std::shared_ptr<PlanCall>& call, int runs, NodeTimes* times) {
  Variables variables;
  CollectVariables(*call, plan_->forward.whole, false, &variables);
  if (plan_->has_backward) {
    Variables more;
    CollectVariables(*call, plan_->backward.whole, false, &more);
    variables.Add(more);
  }
  auto result = std::make_shared<NodeTimes>();
  Engine::Get()->PushSync(
      [self = shared_from_this(), call, runs, result](RunContext run) {
        const int nodes = static_cast<int>(self->plan_->nodes.size());
        result->ran.resize(static_cast<size_t>(nodes));
        // Not counted: the first run packs weights, touches pages, compiles kernels and chooses
        // engines. On a GPU another one shows how long the host takes to launch the nodes.
        const int before = run.ctx.is_gpu() ? 2 : 1;
        constexpr double kLongestHold = 1e8;
        double launching = 0;
        for (int r = 0; r < before + runs; ++r) {
          self->BeginForward(call.get());
          self->Bind(call.get(), run);
          NodeClock clock(run, static_cast<size_t>(nodes));
          clock.Hold(std::min(1.5 * launching, kLongestHold));
          const auto node = [&](int t) {
            if (self->plan_->nodes[t].async || self->plan_->nodes[t].alone) return;  // takes what the program's code takes
            const auto run_node = [&] { self->ExecuteNodes(call.get(), t, t + 1, run, &PlanWorkspace::OfThread()); };
            if (r > 0 && self->plan_->nodes[t].constant) return run_node();  // up to date
            const RanScope said(&result->ran[t]);
            clock.Time(t, run_node);
          };
          for (int t = 0; t < nodes;) {
            if (self->plan_->nodes[t].loop < 0) {
              node(t++);
              continue;
            }
            const Plan::Loop& loop = self->plan_->loops[self->plan_->nodes[t].loop];
            self->bound_.RunLoop(loop, [&] {
              for (int i = loop.begin; i < loop.end; ++i) node(i);
            });
            t = loop.end;
          }
          if (r == before - 1) launching = clock.HostTime();
          std::vector<double> times = clock.Take();
          if (r >= before) result->nanoseconds.push_back(std::move(times));
        }
      },
      plan_->ctx.execution(), variables.reads, variables.writes, FnProperty::kNormal, 0, "explain");
  Engine::Get()->WaitForVar(arena_->var);
  *times = std::move(*result);
}

}  // namespace mxnet
