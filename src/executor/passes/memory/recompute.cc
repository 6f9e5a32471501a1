/*
 * Which forward results the backward pass computes again instead of keeping them.
 *
 * What the backward pass reads must be available: kept (its bytes are paid) or computed again (its
 * time is paid, and what it reads must be available in turn). Minimizing bytes + weight * time over
 * all choices is a minimum cut. That sum knows nothing of when results live, so the forward pass
 * can first be divided into segments whose seams are always kept: inside a segment results are
 * computed again together and die together (Chen et al., "Training Deep Nets with Sublinear Memory
 * Cost", arXiv 1604.06174, is the case of one weight, 0, and segments of equal size). Candidates
 * are planned for real, cheapest first.
 */
#include "operator/record/recompute.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "executor/passes/core/passes.h"
#include "executor/passes/core/plan_request.h"
#include "executor/passes/memory/min_cut.h"
#include "mxnet/env.h"
#include "operator/record/call_cost.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace {

// Bytes that one nanosecond of recomputation must save, least to most.
constexpr double kCheapWeight = 0.5;
constexpr double kWeights[] = {1e-3, 0.2, 0.5, 1, 2, 4};
// MXNET_MEMORY_OPT does not pay any price for the last percents.
constexpr double kNearLeast = 1.05;
constexpr double kMostSegments = 256, kStep = 1.41421356;  // the planner's numbers of segments, and each to the next
constexpr int kRefinements = 4;
// MXNET_BACKWARD_DO_MIRROR also runs operators again that are expensive to recompute, as long as
// all recomputation is estimated at this part of a step.
constexpr double kMirrorPrice = 0.05;
// From this many bytes on, what a step keeps is worth one more pass over the results of BatchNorm
// with relu of at least so many elements.
constexpr int64_t kLargeStep = int64_t{1} << 29, kLargeResult = 1 << 18;

/* 1 and -1: `__force_mirroring__` says so; 0: it says nothing. Throws Error(kValue) when it says
 * something else. */
int Forced(const Node& node) {
  auto it = node.attrs->dict.find("__force_mirroring__");
  if (it == node.attrs->dict.end()) return 0;
  std::string said = it->second;
  std::transform(said.begin(), said.end(), said.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (said == "1" || said == "true") return 1;
  MXNET_CHECK_KIND(said == "0" || said == "false", Value) << "[plan] the attribute __force_mirroring__ of node " << node.name << " is '"
                                                          << it->second << "'; accepted: 0, 1, true, false, in any case";
  return -1;
}

class Chooser {
 public:
  explicit Chooser(const RecomputeQuestion& q) : q_(q), g_(q.info.g) {
    for (const auto& e : q.graph.outputs) num_forward_ = std::max(num_forward_, g_.id.at(e.node.get()) + 1);
    bytes_.assign(g_.num_entries(), 0);
    free_.assign(g_.num_entries(), 0);
    needed_.assign(g_.num_entries(), 0);
    for (uint32_t n = 0; n < num_forward_; ++n)
      for (uint32_t e = g_.entry_ptr[n]; e < g_.entry_ptr[n + 1]; ++e) {
        bytes_[e] = q.info.types[e].shape.Size() * static_cast<int64_t>(DTypeSize(q.info.types[e].dtype));
        free_[e] = g_.nodes[n].source->is_variable();
      }
    for (const auto& e : q.graph.outputs) free_[Eid(e)] = 1;  // in the caller's arrays
    auto need = [&](uint32_t e) { needed_[e] = !free_[e]; };
    for (uint32_t n = num_forward_; n < g_.nodes.size(); ++n) {
      const auto& info = g_.nodes[n];
      for (size_t i = 0; i < info.inputs.size(); ++i)
        if (info.inputs[i].node < num_forward_ && !info.source->attrs->ReadsOnlyShape(static_cast<int>(i))) need(g_.eid(info.inputs[i]));
    }
    for (const auto& e : q.graph.grads)
      if (g_.id.at(e.node.get()) < num_forward_) need(Eid(e));
    for (uint32_t e = 0; e < g_.num_entries(); ++e) needed_bytes_ += needed_[e] ? bytes_[e] : 0;
    cost_.assign(num_forward_, 0);
    flops_.assign(num_forward_, 0);
    for (uint32_t n = 0; n < num_forward_; ++n)
      if (!g_.nodes[n].source->is_variable()) cost_[n] = EstimateNanoseconds(q.info, n, &flops_[n]);
    Seams();
  }

  /* Segments of about `segment_bytes` (0: one). `expensive`: may operators be run again whose
   * record says that this is expensive? */
  Recompute Cut(int64_t segment_bytes, double weight, bool expensive) {
    Divide(segment_bytes);
    const uint32_t entries = g_.entry_ptr[num_forward_];
    const int source = static_cast<int>(entries + num_forward_), sink = source + 1;
    auto entry = [](uint32_t e) { return static_cast<int>(e); };
    auto again = [entries](uint32_t n) { return static_cast<int>(entries + n); };
    MinCut cut(sink + 1);
    const int last_segment = segment_of_.empty() ? 0 : segment_of_.back();
    for (uint32_t n = 0; n < num_forward_; ++n) {
      const Node& node = *g_.nodes[n].source;
      if (node.is_variable()) continue;
      const int forced = Forced(node);
      const bool has_rule = FindRecomputeRule(*node.op()) != nullptr;
      const bool cheap = !node.op()->expensive_to_recompute || has_rule;
      const bool allowed = forced >= 0 && (forced == 1 || cheap || (expensive && segment_of_[n] != last_segment));
      bool any = false;
      for (uint32_t i = 0; i < g_.entry_ptr[n + 1] - g_.entry_ptr[n]; ++i) {
        const uint32_t e = g_.eid(n, i);
        if (Available(e)) continue;
        if (needed_[e]) cut.AddEdge(source, entry(e), MinCut::kInfinite);
        const bool recomputable = allowed && CanRecompute(*node.attrs, static_cast<int>(i));
        cut.AddEdge(entry(e), recomputable ? again(n) : sink, std::max<int64_t>(bytes_[e], 1) * 16);
        any = any || recomputable;
      }
      if (!any) continue;
      cut.AddEdge(again(n), sink, static_cast<int64_t>(16 * (forced == 1 ? 0 : weight * cost_[n])) + 1);
      auto reads = [&](uint32_t e) {
        if (!Available(e)) cut.AddEdge(again(n), entry(e), MinCut::kInfinite);
      };
      const RecomputeRule* rule = FindRecomputeRule(*node.op());
      const auto& inputs = g_.nodes[n].inputs;
      const size_t count = rule && rule->inputs >= 0 ? static_cast<size_t>(rule->inputs) : inputs.size();
      for (size_t i = 0; i < count; ++i)
        if (!node.attrs->ReadsOnlyShape(static_cast<int>(i))) reads(g_.eid(inputs[i]));
      if (rule)
        for (int o : rule->reads) reads(g_.eid(n, static_cast<uint32_t>(o)));
    }
    const std::vector<char> side = cut.SourceSide(source, sink);
    Recompute r;
    for (uint32_t e = 0; e < entries; ++e)  // kept from the forward to the backward pass
      if (needed_[e] && seam_[e]) r.kept_at_once += static_cast<size_t>(bytes_[e]);
    for (uint32_t n = 0; n < num_forward_; ++n)
      for (uint32_t e = g_.entry_ptr[n]; e < g_.entry_ptr[n + 1]; ++e)
        if (side[entry(e)] && !(side[again(n)] && CanRecompute(*g_.nodes[n].source->attrs, static_cast<int>(e - g_.entry_ptr[n]))))
          r.kept_at_once += static_cast<size_t>(bytes_[e]);
    for (uint32_t n = 0; n < num_forward_; ++n) {
      const Node& node = *g_.nodes[n].source;
      if (node.is_variable() || (!side[again(n)] && Forced(node) != 1)) continue;
      r.nodes.insert(&node);
      if (!side[again(n)]) continue;
      r.extra_ns += cost_[n];
      r.extra_flops += flops_[n];
    }
    return r;
  }

  int64_t needed_bytes() const { return needed_bytes_; }

  /* The choice less the last `count` of its nodes in the order of the forward pass. What is forced
   * stays. */
  Recompute Less(Recompute r, size_t count) const {
    for (uint32_t n = num_forward_; n-- > 0 && count > 0;) {
      const Node* node = g_.nodes[n].source;
      if (node->is_variable() || Forced(*node) == 1 || !r.nodes.erase(node)) continue;
      r.extra_ns -= cost_[n];
      r.extra_flops -= flops_[n];
      --count;
    }
    return r;
  }

 private:
  uint32_t Eid(const NodeEntry& e) const { return g_.eid(g_.id.at(e.node.get()), e.index); }
  bool Available(uint32_t e) const { return free_[e] || seam_[e]; }

  // How many bytes cross from the nodes up to n to those behind it.
  void Seams() {
    std::vector<int64_t> change(num_forward_ + 1, 0);
    std::vector<uint32_t> last(g_.num_entries(), 0);
    for (uint32_t n = 0; n < num_forward_; ++n) {
      const auto& info = g_.nodes[n];
      for (size_t i = 0; i < info.inputs.size(); ++i)
        if (!info.source->attrs->ReadsOnlyShape(static_cast<int>(i))) last[g_.eid(info.inputs[i])] = n;
    }
    for (uint32_t n = 0; n < num_forward_; ++n)
      for (uint32_t e = g_.entry_ptr[n]; e < g_.entry_ptr[n + 1]; ++e) {
        if (free_[e] || last[e] <= n) continue;
        change[n] += bytes_[e];
        change[last[e]] -= bytes_[e];
      }
    crossing_.assign(num_forward_, 0);
    int64_t now = 0;
    for (uint32_t n = 0; n < num_forward_; ++n) crossing_[n] = now += change[n];
    last_reader_ = std::move(last);
  }

  // Puts seams where little crosses, about `segment_bytes` of what would be kept apart.
  void Divide(int64_t segment_bytes) {
    segment_of_.assign(num_forward_, 0);
    seam_.assign(g_.num_entries(), 0);
    if (segment_bytes <= 0) return;
    int segment = 0;
    uint32_t begin = 0;
    int64_t here = 0, best_crossing = 0;
    uint32_t best = 0;
    bool found = false;
    for (uint32_t n = 0; n < num_forward_; ++n) {
      segment_of_[n] = segment;
      if (g_.nodes[n].source->is_variable()) continue;
      for (uint32_t e = g_.entry_ptr[n]; e < g_.entry_ptr[n + 1]; ++e) here += needed_[e] ? bytes_[e] : 0;
      if (here * 4 >= segment_bytes * 3 && (!found || crossing_[n] <= best_crossing)) {
        found = true;
        best = n;
        best_crossing = crossing_[n];
      }
      if (!found || here < segment_bytes) continue;
      for (uint32_t m = begin; m <= best; ++m)
        for (uint32_t e = g_.entry_ptr[m]; e < g_.entry_ptr[m + 1]; ++e) seam_[e] = !free_[e] && last_reader_[e] > best;
      ++segment;
      begin = best + 1;
      here = 0;
      found = false;
      n = best;  // go on behind the seam
    }
    // entries of earlier segments that cross later seams are seams already: each is marked at the
    // first one
  }

  const RecomputeQuestion& q_;
  const IndexedGraph& g_;
  uint32_t num_forward_ = 0;
  std::vector<int64_t> bytes_, crossing_;   // by entry; by node
  std::vector<uint32_t> last_reader_;       // by entry, in the forward pass
  std::vector<char> free_, needed_, seam_;  // by entry
  std::vector<int> segment_of_;             // by node
  std::vector<double> cost_, flops_;
  int64_t needed_bytes_ = 0;
};

/* What the user's attributes ask for, and no more; with the estimates of a step. */
Recompute ForcedOnly(const RecomputeQuestion& q) {
  Recompute none;
  for (uint32_t n = 0; n < q.info.g.nodes.size(); ++n) {
    const Node* node = q.info.g.nodes[n].source;
    if (node->is_variable()) continue;
    if (Forced(*node) == 1) none.nodes.insert(node);
    double flops = 0;
    none.step_ns += EstimateNanoseconds(q.info, n, &flops);
    none.step_flops += flops;
  }
  return none;
}

/* Makes candidates, which differ in segments and weight, and takes the one that the question asks
 * for. What a candidate keeps is a lower bound of its arena: most need not be planned. */
class Search {
 public:
  /* `none`: nothing is computed again but what is forced. */
  Search(const RecomputeQuestion& q, const Recompute& none) : q_(q), none_(none), chooser_(q), candidates_{none} {}

  Recompute Run() {
    MakeCandidates();
    return q_.budget > 0 ? FastestWithinBudget() : Smallest();
  }

 private:
  Recompute Cut(double segments, double weight, bool expensive) {
    Recompute r =
        chooser_.Cut(segments > 1 ? static_cast<int64_t>(static_cast<double>(chooser_.needed_bytes()) / segments) : 0, weight, expensive);
    r.segments = segments;
    r.weight = weight;
    r.kept_bytes = none_.kept_bytes;
    r.step_ns = none_.step_ns;
    r.step_flops = none_.step_flops;
    return r;
  }

  void Add(double segments, double weight, bool expensive) {
    Recompute r = Cut(segments, weight, expensive);
    for (const auto& c : candidates_)
      if (c.nodes == r.nodes) return;
    candidates_.push_back(std::move(r));
  }

  void MakeCandidates() {
    for (double segments : {1, 4, 16}) Add(segments, kCheapWeight, false);
    if (q_.budget > 0 || q_.least) {
      for (double segments = 2; segments <= kMostSegments; segments *= kStep)
        for (double weight : kWeights) Add(segments, weight, true);
    } else if (Env::Get().memory_opt != 0) {
      for (double segments = 2; segments <= kMostSegments; segments *= segments < 8 ? kStep : 2.0)
        for (double weight : {kWeights[0], 0.25}) Add(segments, weight, true);
    } else {
      const size_t cheap = candidates_.size();
      for (double segments : {2.0, 3.0, 4.0, 6.0, 8.0, 16.0})
        for (double weight : {1.0, 1.5, 2.0, 2.5}) Add(segments, weight, true);
      const double price = kMirrorPrice * none_.step_ns;
      candidates_.erase(std::remove_if(candidates_.begin() + static_cast<long>(cheap), candidates_.end(),
                                       [&](const Recompute& c) { return c.extra_ns > price; }),
                        candidates_.end());
    }
  }

  size_t PlanArena(Recompute* r) const { return r->arena_bytes = q_.arena_bytes(r->nodes); }

  /* The bytes of the smallest arena, where `least` is one that is known. */
  size_t LeastArena(size_t least) {
    for (auto& c : candidates_)
      if (c.arena_bytes == Recompute::kNotPlanned && c.kept_at_once < least) least = std::min(least, PlanArena(&c));
    return least;
  }

  // Candidates are some way apart: between one that fits and the next, the one with the largest
  // arena that still fits takes least time.
  Recompute Refine(Recompute best) {
    double low = best.segments, high = best.segments * kStep;
    for (int i = 0; i < kRefinements && best.segments > 1; ++i) {
      const double middle = std::sqrt(low * high);
      Recompute r = Cut(middle, best.weight, true);
      const bool fits = r.kept_at_once <= q_.budget && PlanArena(&r) <= q_.budget;
      (fits ? low : high) = middle;
      if (fits && r.extra_ns < best.extra_ns) best = std::move(r);
    }
    return best;
  }

  // What is kept of the end of the forward pass dies first in the backward pass: as much of it as
  // an arena of `limit` bytes can hold is not computed again.
  Recompute KeepEnd(const Recompute& r, size_t limit) const {
    size_t fits = 0, too_many = r.nodes.size() + 1;
    Recompute best = r;
    while (too_many - fits > 1) {
      const size_t middle = fits + (too_many - fits) / 2;
      Recompute less = chooser_.Less(r, middle);
      const bool ok = PlanArena(&less) <= limit;
      (ok ? fits : too_many) = middle;
      if (ok) best = std::move(less);
    }
    return best;
  }

  Recompute FastestWithinBudget() {
    size_t least = none_.arena_bytes;
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const Recompute& a, const Recompute& b) { return a.extra_ns < b.extra_ns; });
    for (auto& c : candidates_) {
      if (c.kept_at_once > q_.budget) continue;
      if (c.arena_bytes == Recompute::kNotPlanned) PlanArena(&c);
      if (c.arena_bytes <= q_.budget) return KeepEnd(Refine(c), q_.budget);
      least = std::min(least, c.arena_bytes);
    }
    MXNET_THROW(Value) << "[memory] a training step with an arena of " << q_.budget << " bytes was asked for; the least possible is "
                       << LeastArena(least) << " bytes (" << none_.arena_bytes << " without recomputation)";
  }

  Recompute Smallest() {
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const Recompute& a, const Recompute& b) { return a.kept_at_once < b.kept_at_once; });
    const size_t least = LeastArena(none_.arena_bytes);
    const double enough = (!q_.least && Env::Get().memory_opt != 0 ? kNearLeast : 1.0) * static_cast<double>(least);
    const Recompute* best = nullptr;
    for (const auto& c : candidates_)
      if (c.arena_bytes != Recompute::kNotPlanned && static_cast<double>(c.arena_bytes) <= enough && (!best || c.extra_ns < best->extra_ns))
        best = &c;
    return KeepEnd(*best, std::max(least, best->arena_bytes));
  }

  const RecomputeQuestion& q_;
  const Recompute& none_;
  Chooser chooser_;
  std::vector<Recompute> candidates_;
};

}  // namespace

double EstimateNanoseconds(const GraphInfo& info, uint32_t node, double* flops) {
  const IndexedGraph& g = info.g;
  std::vector<TBlob> in, out;
  const auto put = [&](uint32_t e, std::vector<TBlob>* to) {
    TBlob b;
    b.shape = info.types[e].shape;
    b.dtype = info.types[e].dtype;
    to->push_back(b);
  };
  for (const auto& e : g.nodes[node].inputs) put(g.eid(e), &in);
  for (uint32_t e = g.entry_ptr[node]; e < g.entry_ptr[node + 1]; ++e) put(e, &out);
  const CallCost cost =
      CostOf(*g.nodes[node].source->attrs, Span<const TBlob>(in.data(), in.size()), Span<const TBlob>(out.data(), out.size()));
  if (flops) *flops = cost.flops;
  return cost.NsFromMemory();
}

bool RecomputeNamed(const std::vector<NodeEntry>& outputs, const PlanRequest& request) {
  if (request.memory_budget > 0 || request.least_memory) return true;
  bool forced = false;
  DFSVisit(outputs, [&](const NodePtr& n) { forced = forced || (!n->is_variable() && Forced(*n) == 1); });
  return forced;
}

bool RecomputeWanted(const std::vector<NodeEntry>& outputs, const PlanRequest& request) {
  const Env& env = Env::Get();
  return env.backward_do_mirror || env.memory_opt != 0 || RecomputeNamed(outputs, request);
}

bool NearlyFree(const Node& node) { return !node.is_variable() && node.op()->trait<RecomputesNearlyFree>() && Forced(node) == 0; }

Recompute RecomputeNearlyFree(const RecomputeQuestion& q) {
  Recompute r;
  Chooser chooser(q);
  if (chooser.needed_bytes() < kLargeStep) return r;
  for (const auto& n : q.info.g.nodes)
    if (NearlyFree(*n.source) && q.info.types[q.info.g.eid(q.info.g.id.at(n.source), 0)].shape.Size() >= kLargeResult)
      r.nodes.insert(n.source);
  return r;
}

Recompute ChooseRecomputed(const RecomputeQuestion& q) {
  const Env& env = Env::Get();
  Recompute none = ForcedOnly(q);
  if (q.budget == 0 && !q.least && env.memory_opt == 0 && !env.backward_do_mirror) return none;
  none.kept_bytes = none.arena_bytes = q.arena_bytes(none.nodes);
  return Search(q, none).Run();
}

}  // namespace mxnet
