#include "executor/explain.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <sstream>

#include "base/device_interface.h"
#include "executor/plan/plan_workspace.h"
#include "graph/json.h"
#include "mxnet/engine.h"
#include "operator/graph_operators.h"
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

class Writer {
 public:
  Writer(const Plan& plan, const std::vector<std::string>& names, const NodeTimes& times) : p_(plan), names_(names), times_(times) {}

  std::string Run() {
    os_ << "{\"device\": " << QuoteJson(p_.ctx.str()) << ", \"clock\": \"" << (p_.ctx.is_gpu() ? "device" : "host")
        << "\", \"training\": " << Bool(p_.is_train) << ", \"backward\": " << Bool(p_.has_backward);
    os_ << ",\n\"stats\": {\"arena_bytes\": " << p_.stats.arena_bytes << ", \"unshared_bytes\": " << p_.stats.unshared_bytes
        << ", \"lower_bound_bytes\": " << p_.stats.lower_bound_bytes << ", \"constant_bytes\": " << p_.constant_bytes
        << ", \"num_nodes\": " << p_.stats.num_nodes << ", \"num_bulks\": " << p_.stats.num_bulks
        << ", \"num_inplace\": " << p_.stats.num_inplace << ", \"num_removed\": " << p_.stats.num_removed << "}";
    os_ << ",\n\"passes\": [";
    Each(p_.passes.size(), [&](size_t i) {
      const PassRecord& r = p_.passes[i];
      os_ << "{\"name\": " << QuoteJson(r.name) << ", \"changed\": " << r.changed << ", \"nodes_before\": " << r.nodes_before
          << ", \"nodes_after\": " << r.nodes_after << "}";
    });
    os_ << "],\n\"bulks\": [";
    const size_t forward = p_.forward.bulks.size();
    Each(forward + p_.backward.bulks.size(), [&](size_t i) {
      const Plan::Bulk& b = i < forward ? p_.forward.bulks[i] : p_.backward.bulks[i - forward];
      os_ << "{\"phase\": \"" << (i < forward ? "forward" : "backward") << "\", \"begin\": " << b.begin << ", \"end\": " << b.end << "}";
    });
    os_ << "],\n\"nodes\": [\n";
    Each(
        p_.nodes.size(), [&](size_t t) { Node(static_cast<int>(t)); }, ",\n");
    os_ << "],\n\"blocks\": [";
    Each(p_.blocks.size(), [&](size_t i) {
      const MemoryBlock& b = p_.blocks[i];
      os_ << "{\"offset\": " << p_.memory.offsets[i] << ", \"bytes\": " << b.bytes << ", \"first\": " << b.first << ", \"last\": " << b.last
          << "}";
    });
    os_ << "]}";
    return os_.str();
  }

 private:
  static const char* Bool(bool b) { return b ? "true" : "false"; }

  template <typename F>
  void Each(size_t n, F&& f, const char* between = ", ") {
    for (size_t i = 0; i < n; ++i) {
      if (i) os_ << between;
      f(i);
    }
  }

  void Tensor(int blob, const OpReq* req) {
    const Plan::Blob& b = p_.blobs[blob];
    os_ << "{\"shape\": [";
    Each(static_cast<size_t>(b.shape.shape.ndim()), [&](size_t i) { os_ << b.shape.shape[static_cast<int>(i)]; });
    os_ << "], \"dtype\": \"" << DTypeName(b.shape.dtype) << "\", \"layout\": \""
        << (b.shape.layout == Layout::kPlain ? "plain" : "channels-last") << "\", \"place\": ";
    if (b.shape_only)
      os_ << "\"nowhere\"";
    else if (b.slot < 0)
      os_ << (b.constant ? "\"constant\"" : "\"arena\"") << ", \"offset\": " << b.offset;
    else if (b.slot < p_.num_inputs)
      os_ << "\"input\", \"name\": " << QuoteJson(names_[b.slot]);
    else if (b.slot < p_.head_slot(0))
      os_ << "\"output\", \"index\": " << b.slot - p_.num_inputs;
    else if (b.slot < p_.grad_slot(0))
      os_ << "\"head gradient\", \"index\": " << b.slot - p_.head_slot(0);
    else
      os_ << "\"gradient\", \"name\": " << QuoteJson(names_[b.slot - p_.grad_slot(0)]);
    if (req)
      os_ << ", \"request\": \""
          << (*req == OpReq::kNull    ? "none"
              : *req == OpReq::kWrite ? "write"
              : *req == OpReq::kAdd   ? "add"
                                      : "in place")
          << "\"";
    auto made = writer_.find(Key(b));
    if (!req && !b.shape_only && made != writer_.end()) os_ << ", \"made_by\": " << made->second;
    os_ << "}";
  }

  // Where a value lies tells, at every step, which node wrote it last.
  std::pair<int, size_t> Key(const Plan::Blob& b) const {
    return b.slot >= 0 ? std::make_pair(b.slot, size_t{0}) : std::make_pair(b.constant ? -1 : -2, b.offset);
  }

  void Node(int t) {
    const Plan::Node& n = p_.nodes[t];
    const Op& op = *n.attrs->op;
    os_ << "{\"step\": " << t << ", \"op\": " << QuoteJson(op.name) << ", \"name\": " << QuoteJson(n.name) << ", \"phase\": \""
        << (t >= p_.backward.begin && p_.has_backward ? "backward" : "forward") << "\", \"constant\": " << Bool(n.constant)
        << ", \"params\": {";
    std::map<std::string, std::string> shown(n.attrs->dict.begin(), n.attrs->dict.end());
    bool first = true;
    for (const auto& kv : shown) {
      if (kv.first.compare(0, 2, "__") == 0) continue;  // attributes of the graph
      os_ << (first ? "" : ", ") << QuoteJson(kv.first) << ": " << QuoteJson(kv.second);
      first = false;
    }
    os_ << "}, \"inputs\": [";
    Each(static_cast<size_t>(n.num_in), [&](size_t i) { Tensor(n.in + static_cast<int>(i), nullptr); });
    os_ << "], \"outputs\": [";
    Each(static_cast<size_t>(n.num_out), [&](size_t o) { Tensor(n.out + static_cast<int>(o), &p_.reqs[n.req + o]); });
    os_ << "]";
    double bytes = 0;
    const int micro_batches = n.loop < 0 || n.constant ? 1 : p_.loops[n.loop].micro_batches;
    std::vector<TBlob> views;
    for (int i = n.in; i < n.in + n.num_in; ++i) {
      views.push_back(p_.blobs[i].shape);
      if (!op.ReadsOnlyShape(*n.attrs, i - n.in)) bytes += static_cast<double>(views.back().Bytes());
    }
    for (int o = 0; o < n.num_out; ++o) {
      views.push_back(p_.blobs[n.out + o].shape);
      if (p_.reqs[n.req + o] != OpReq::kNull) bytes += static_cast<double>(views.back().Bytes());
    }
    os_.precision(17);
    os_ << ", \"micro_batches\": " << micro_batches << ", \"bytes\": " << micro_batches * bytes << ", \"flops\": ";
    if (op.flops)
      os_ << micro_batches *
                 op.flops(*n.attrs, Span<const TBlob>(views.data(), n.num_in), Span<const TBlob>(views.data() + n.num_in, n.num_out));
    else
      os_ << "null";
    os_.precision(9);
    os_ << ", \"nanoseconds\": [";
    Each(times_.size(), [&](size_t r) { os_ << times_[r][t]; });
    os_ << "]}";
    for (int m : op.MutateInputs(*n.attrs))
      if (m < n.num_in) writer_[Key(p_.blobs[n.in + m])] = t;
    for (int o = 0; o < n.num_out; ++o)
      if (p_.reqs[n.req + o] != OpReq::kNull) writer_[Key(p_.blobs[n.out + o])] = t;
  }

  const Plan& p_;
  const std::vector<std::string>& names_;
  const NodeTimes& times_;
  std::map<std::pair<int, size_t>, int> writer_;
  std::ostringstream os_;
};

}  // namespace

std::string ExplainPlan(const Plan& plan, const std::vector<std::string>& input_names, const NodeTimes& times) {
  MXNET_CHECK_KIND(static_cast<int>(input_names.size()) == plan.num_inputs, Value)
      << "[explain] got " << input_names.size() << " names; the plan has " << plan.num_inputs << " inputs";
  return Writer(plan, input_names, times).Run();
}

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
  std::vector<Var*> reads, writes;
  CollectVars(*call, plan_->forward.whole, false, &reads, &writes);
  if (plan_->has_backward) {
    std::vector<Var*> more_reads, more_writes;
    CollectVars(*call, plan_->backward.whole, false, &more_reads, &more_writes);
    reads.insert(reads.end(), more_reads.begin(), more_reads.end());
    writes.insert(writes.end(), more_writes.begin(), more_writes.end());
    std::sort(writes.begin(), writes.end());
    writes.erase(std::unique(writes.begin(), writes.end()), writes.end());
    reads.erase(std::remove_if(reads.begin(), reads.end(), [&](Var* v) { return std::binary_search(writes.begin(), writes.end(), v); }),
                reads.end());
    std::sort(reads.begin(), reads.end());
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
  }
  auto result = std::make_shared<NodeTimes>();
  Engine::Get()->PushSync(
      [self = shared_from_this(), call, runs, result](RunContext run) {
        const int nodes = static_cast<int>(self->plan_->nodes.size());
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
            if (self->plan_->nodes[t].elsewhere || self->plan_->nodes[t].alone) return;  // takes what the program's code takes
            const auto run_node = [&] { self->ExecuteNodes(call.get(), t, t + 1, run, &PlanWorkspace::OfThread()); };
            if (r > 0 && self->plan_->nodes[t].constant)
              run_node();  // up to date
            else
              clock.Time(t, run_node);
          };
          for (int t = 0; t < nodes; ++t) {
            if (self->plan_->nodes[t].loop < 0) {
              node(t);
              continue;
            }
            const Plan::Loop& loop = self->plan_->loops[self->plan_->nodes[t].loop];
            for (int i = 0; i < loop.micro_batches; ++i) {
              for (t = loop.begin; t < loop.end; ++t) node(t);
              self->NextMicroBatch(loop, 1);
            }
            self->NextMicroBatch(loop, -loop.micro_batches);
            t = loop.end - 1;
          }
          if (r == before - 1) launching = clock.HostTime();
          std::vector<double> times = clock.Take();
          if (r >= before) result->push_back(std::move(times));
        }
      },
      plan_->ctx.execution(), reads, writes, FnProperty::kNormal, 0, "explain");
  Engine::Get()->WaitForVar(arena_->var);
  *times = std::move(*result);
}

}  // namespace mxnet
