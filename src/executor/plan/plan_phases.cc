// Nodes that are pushed together: bulks of a phase, and what they read and write from outside.
#include <algorithm>
#include <set>

#include "executor/plan/plan_steps.h"
#include "mxnet/op.h"
#include "operator/matrix/axes.h"

namespace mxnet {
namespace {

/* Does the node leave its input where it lies, as another shape? */
bool LiesInInput(const PlanNodes& plan, const Plan::Node& n) {
  return n.num_in > 0 && n.num_out > 0 && plan.reqs[n.req] == OpReq::kWriteInplace && OnlyMoves(*n.attrs->op) &&
         plan.blobs[n.in].slot() == plan.blobs[n.out].slot();
}

Plan::Bulk MakeBulk(const PlanNodes& plan, int begin, int end) {
  Plan::Bulk bulk;
  bulk.begin = begin;
  bulk.end = end;
  std::set<int> reads, writes, kept;
  for (int t = begin; t < end; ++t) {
    const Plan::Node& n = plan.nodes[t];
    const auto read = [&](int slot) {
      reads.insert(slot);
      if (writes.count(slot) == 0) kept.insert(slot);
    };
    for (int i = 0; i < n.num_in; ++i)
      if (const int slot = plan.blobs[n.in + i].slot(); slot >= 0) read(slot);
    for (int o = 0; o < n.num_out; ++o)
      if (const int slot = plan.blobs[n.out + o].slot(); slot >= 0 && plan.reqs[n.req + o] == OpReq::kAdd) read(slot);
    for (int m : n.attrs->op->MutateInputs(*n.attrs))
      if (const int slot = m < n.num_in ? plan.blobs[n.in + m].slot() : -1; slot >= 0) writes.insert(slot);
    for (int o = 0; o < n.num_out; ++o)
      if (const int slot = plan.blobs[n.out + o].slot(); slot >= 0 && !(o == 0 && LiesInInput(plan, n))) writes.insert(slot);
    bulk.random = bulk.random || n.attrs->op->uses_random;
  }
  for (int w : writes) reads.erase(w);
  bulk.read_slots.assign(reads.begin(), reads.end());
  bulk.write_slots.assign(writes.begin(), writes.end());
  for (int s : bulk.write_slots)
    if (kept.count(s)) bulk.kept_slots.push_back(s);
  return bulk;
}

}  // namespace

Plan::Phase MakePhase(const PlanNodes& plan, int begin, int end, int bulk_size) {
  Plan::Phase phase;
  phase.begin = begin;
  phase.end = end;
  const int size = std::max(std::min(bulk_size, end - begin), 1);
  for (int t = begin; t < end;) {
    int stop = t;
    while (stop < std::min(end, t + size) && !plan.nodes[stop].async && !plan.nodes[stop].alone) ++stop;
    const bool single = stop == t;
    phase.bulks.push_back(MakeBulk(plan, t, single ? t + 1 : stop));
    phase.bulks.back().async = plan.nodes[t].async != nullptr;
    phase.bulks.back().alone = plan.nodes[t].alone;
    phase.only_in_bulks = phase.only_in_bulks || single;
    t = phase.bulks.back().end;
  }
  phase.whole = MakeBulk(plan, begin, end);
  for (int t = begin; t < end; ++t) {
    phase.cost += plan.nodes[t].cost;
    phase.meets = phase.meets || plan.nodes[t].attrs->op->RunsBy(*plan.nodes[t].attrs) == RunBy::kMeetingKernel;
    phase.own_random = phase.whole.random && (phase.own_random || plan.nodes[t].alone);
  }
  return phase;
}

}  // namespace mxnet
