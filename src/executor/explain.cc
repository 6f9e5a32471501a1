#include "executor/explain.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "base/cpu_dispatch.h"
#include "executor/machine_peak.h"
#include "graph/json.h"
#include "mxnet/engine.h"
#include "operator/shared/kept_bytes.h"

namespace mxnet {
namespace {

class Writer {
 public:
  Writer(const Plan& plan, const std::vector<std::string>& names, const NodeTimes& times) : p_(plan), names_(names), times_(times) {}

  std::string Run() {
    os_ << "{\"device\": " << QuoteJson(p_.ctx.str()) << ", \"clock\": \"" << (p_.ctx.is_gpu() ? "device" : "host")
        << "\", \"training\": " << Bool(p_.is_train) << ", \"backward\": " << Bool(p_.has_backward);
    Machine();
    os_ << ",\n\"stats\": {\"arena_bytes\": " << p_.stats.arena_bytes << ", \"unshared_bytes\": " << p_.stats.unshared_bytes
        << ", \"lower_bound_bytes\": " << p_.stats.lower_bound_bytes << ", \"constant_bytes\": " << p_.constant_bytes
        << ", \"packed_bytes\": " << KeptBytes::All() << ", \"packed_forms\": " << PackedForms()
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

  /* Of a plan of the processor; the peaks once something was timed. */
  void Machine() {
    if (p_.ctx.is_gpu()) return;
    os_ << ",\n\"machine\": {\"level\": " << QuoteJson(RanAtName(RanAtCpuLevel()));
    if (!times_.nanoseconds.empty()) {
      const MachinePeak peak = MeasuredPeak();
      os_ << ", \"threads\": " << peak.threads << ", \"gflops\": {\"float32\": " << peak.float32 << ", \"bfloat16\": " << peak.bfloat16
          << ", \"int8\": " << peak.int8 << "}, \"gigabytes\": " << peak.bytes;
    }
    os_ << "}";
  }

  /* By which implementations the node ran, in the last timed run. */
  void Ran(int t) {
    os_ << ", \"ran\": [";
    if (!times_.ran.empty()) {
      RanParts said = times_.ran[t];
      if (said.count == 0) said.Add({p_.ctx.is_gpu() ? "kernels of the device" : "plain", RanAt::kNone});
      Each(static_cast<size_t>(said.count), [&](size_t i) {
        const char* level = RanAtName(said.parts[i].at);
        os_ << "{\"implementation\": " << QuoteJson(said.parts[i].name) << ", \"level\": " << (level ? QuoteJson(level) : "null") << "}";
      });
    }
    os_ << "]";
  }

  template <typename F>
  void Each(size_t n, F&& f, const char* between = ", ") {
    for (size_t i = 0; i < n; ++i) {
      if (i) os_ << between;
      f(i);
    }
  }

  void Slot(int slot) {
    const auto [kind, index] = p_.KindOf(slot);
    switch (kind) {
      case Plan::SlotKind::kInput: os_ << "\"input\", \"name\": " << QuoteJson(names_[index]); break;
      case Plan::SlotKind::kOutput: os_ << "\"output\", \"index\": " << index; break;
      case Plan::SlotKind::kHeadGradient: os_ << "\"head gradient\", \"index\": " << index; break;
      case Plan::SlotKind::kGradient: os_ << "\"gradient\", \"name\": " << QuoteJson(names_[index]); break;
    }
  }

  void Tensor(int blob, const OpReq* req) {
    const Plan::Blob& b = p_.blobs[blob];
    os_ << "{\"shape\": [";
    Each(static_cast<size_t>(b.shape.shape.ndim()), [&](size_t i) { os_ << b.shape.shape[static_cast<int>(i)]; });
    os_ << "], \"dtype\": \"" << DTypeName(b.shape.dtype) << "\", \"layout\": \""
        << (b.shape.layout == Layout::kPlain ? "plain" : "channels-last") << "\", \"place\": ";
    switch (b.place) {
      case Plan::Place::kNowhere: os_ << "\"nowhere\""; break;
      case Plan::Place::kSlot: Slot(b.slot()); break;
      case Plan::Place::kConstant: os_ << "\"constant\", \"offset\": " << b.at; break;
      case Plan::Place::kSparse: os_ << "\"sparse\", \"array\": " << b.at; break;
      case Plan::Place::kArena: os_ << "\"arena\", \"offset\": " << b.at; break;
    }
    if (req)
      os_ << ", \"request\": \""
          << (*req == OpReq::kNull    ? "none"
              : *req == OpReq::kWrite ? "write"
              : *req == OpReq::kAdd   ? "add"
                                      : "in place")
          << "\"";
    auto made = writer_.find(Key(b));
    if (!req && b.place != Plan::Place::kNowhere && made != writer_.end()) os_ << ", \"made_by\": " << made->second;
    os_ << "}";
  }

  // Where a value lies tells, at every step, which node wrote it last.
  static std::pair<Plan::Place, size_t> Key(const Plan::Blob& b) { return {b.place, b.at}; }

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
      if (!n.attrs->ReadsOnlyShape(i - n.in)) bytes += static_cast<double>(views.back().Bytes());
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
    Each(times_.nanoseconds.size(), [&](size_t r) { os_ << times_.nanoseconds[r][t]; });
    os_ << "]";
    Ran(t);
    os_ << "}";
    for (int m : op.MutateInputs(*n.attrs))
      if (m < n.num_in) writer_[Key(p_.blobs[n.in + m])] = t;
    for (int o = 0; o < n.num_out; ++o)
      if (p_.reqs[n.req + o] != OpReq::kNull) writer_[Key(p_.blobs[n.out + o])] = t;
  }

  const Plan& p_;
  const std::vector<std::string>& names_;
  const NodeTimes& times_;
  std::map<std::pair<Plan::Place, size_t>, int> writer_;
  std::ostringstream os_;
};

}  // namespace

std::string ExplainPlan(const Plan& plan, const std::vector<std::string>& input_names, const NodeTimes& times) {
  MXNET_CHECK_KIND(static_cast<int>(input_names.size()) == plan.num_inputs, Value)
      << "[explain] got " << input_names.size() << " names; the plan has " << plan.num_inputs << " inputs";
  return Writer(plan, input_names, times).Run();
}

}  // namespace mxnet
