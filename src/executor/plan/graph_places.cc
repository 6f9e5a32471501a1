#include "executor/plan/graph_places.h"

#include <algorithm>

#include "operator/matrix/move.h"

namespace mxnet {

GraphPlaces::GraphPlaces(const Plan& plan) : slots_(plan.num_slots()) {
  std::vector<int> slot_of(plan.blobs.size(), -1);
  for (int s = 0; s < plan.num_slots(); ++s)
    for (int b : plan.slot_blobs[s]) {
      slot_of[b] = s;
      slots_[s].bytes = std::max(slots_[s].bytes, plan.blobs[b].shape.Bytes());
    }
  for (const Plan::Node& n : plan.nodes)
    for (int o = 0; o < n.num_out; ++o) {
      const int s = slot_of[n.out + o];
      if (s >= 0 && (plan.reqs[n.req + o] == OpReq::kAdd || s < plan.num_inputs)) slots_[s].possible = false;
    }
}

GraphPlaces::~GraphPlaces() {
  for (const Slot& s : slots_) Storage::Get()->Free(s.place);
}

void* GraphPlaces::PlaceOf(int slot, void* at) {
  Slot& s = slots_[slot];
  ++s.binds;
  s.moves += s.at != nullptr && s.at != at;
  s.at = at;
  return s.place.dptr ? s.place.dptr : at;
}

void GraphPlaces::Settle(const RunContext& run) {
  for (Slot& s : slots_) {
    const bool restless = s.moves > 0 && 2 * s.moves >= s.binds;  // weights that are set anew once in a while stay where they are
    s.binds = s.moves = 0;
    if (restless && s.possible && s.bytes > 0 && s.place.dptr == nullptr) s.place = Storage::Get()->Alloc(s.bytes, run.ctx);
  }
}

void GraphPlaces::CopyIn(const PlanCall& call, const Plan::Bulk& phase, const RunContext& run) const {
  for (int s : phase.read_slots)
    if (slots_[s].place.dptr && !call.arrays[s].is_none())
      CopyBytes(run, call.arrays[s].data().dptr<void>(), slots_[s].place.dptr, static_cast<int64_t>(slots_[s].bytes));
}

void GraphPlaces::CopyOut(const PlanCall& call, const Plan::Bulk& phase, const RunContext& run) const {
  for (int s : phase.write_slots)
    if (slots_[s].place.dptr && !call.arrays[s].is_none())
      CopyBytes(run, slots_[s].place.dptr, call.arrays[s].data().dptr<void>(), static_cast<int64_t>(slots_[s].bytes));
}

}  // namespace mxnet
