#include "executor/plan/plan_constants.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "base/mix.h"
#include "mxnet/op.h"
#include "ndarray/stored.h"
#include "operator/record/asked_weights.h"
#include "operator/record/traits.h"
#include "operator/record/traits_graph.h"
#include "operator/runtime/holds_graphs.h"

namespace mxnet {
namespace {

// The pages that lie wholly in [begin, begin + bytes): their contents are lost. Nothing happens
// where the system refuses.
void DropPages(char* begin, size_t bytes) {
  static const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t first = (reinterpret_cast<uintptr_t>(begin) + page - 1) / page * page,
                  end = (reinterpret_cast<uintptr_t>(begin) + bytes) / page * page;
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

}  // namespace

bool AsksFor(const Attrs& attrs, int input, int dtype) {
  if (attrs.op->trait<HoldsGraphs>()) {
    const std::vector<int> written = attrs.op->MutateInputs(attrs);
    return std::find(written.begin(), written.end(), input) == written.end();
  }
  return KernelAsksFor(attrs, input, dtype);
}

PlanConstants::PlanConstants(const Plan& plan, std::function<void(int)> compute)
    : plan_(plan), compute_(std::move(compute)), watched_at_(plan.num_slots(), nullptr), known_(plan.num_slots()) {
  std::set<std::pair<Plan::Place, size_t>> weights;
  for (size_t t = 0; t < plan.nodes.size(); ++t) {
    const Plan::Node& n = plan.nodes[t];
    for (int i = 0; i < n.num_in; ++i) {
      const Plan::Blob& b = plan.blobs[n.in + i];
      if (!n.constant && AsksFor(*n.attrs, i, b.shape.dtype) && weights.emplace(b.place, b.at).second) weight_bytes_ += b.shape.Bytes();
      if (b.place != Plan::Place::kConstant) continue;
      Piece& piece = pieces_[b.at];
      ++piece.readers;
      piece.askers += n.constant || AsksFor(*n.attrs, i, b.shape.dtype);
    }
    for (int b = n.out; b < n.out + n.num_out; ++b) {
      if (plan.blobs[b].place != Plan::Place::kConstant) continue;
      Piece& piece = pieces_[plan.blobs[b].at];
      piece.bytes = plan.blobs[b].shape.Bytes();
      piece.node = static_cast<int>(t);
      piece.output = b - n.out;
    }
  }
}

PlanConstants::~PlanConstants() {
  for (auto& w : watched_) Release(&w.second);
}

void PlanConstants::Release(Watched* watched) {
  if (watched->held) ReleaseStored(watched->array.chunk());
  watched->held = false;
}

bool PlanConstants::Watch(int slot, const NDArray& array) {
  const void*& at = watched_at_[slot];
  const auto before = watched_.find(at);
  if (before != watched_.end() && before->second.slot == slot) {
    Release(&before->second);
    watched_.erase(before);
  }
  at = nullptr;
  if (array.is_none()) return true;
  const void* const place = static_cast<const char*>(array.chunk()->handle.dptr) + array.byte_offset();
  if (watched_.count(place)) {
    FillStored(array.chunk());
    return false;
  }
  at = place;
  Watched& now = watched_[at];
  now.slot = slot;
  now.array = array.Detach();
  return true;
}

void PlanConstants::Know(int slot, const void* at, uint64_t number) {
  known_[static_cast<size_t>(slot)] = {at, number};
  int& known = known_slot_.emplace(at, slot).first->second;
  Known& other = known_[static_cast<size_t>(known)];
  if (other.at != at)
    known = slot;
  else if (other.number != number)  // two views of one array, of which kernels say the address alone
    other.number = 0;
}

const void* PlanConstants::AddressOf(int blob) const {
  const Plan::Blob& b = plan_.blobs[blob];
  if (b.place == Plan::Place::kConstant) return base_ + b.at;
  if (b.place != Plan::Place::kSlot) return nullptr;
  if (outer_) return (*blobs_)[static_cast<size_t>(blob)].dptr;
  return watched_at_[b.at] ? watched_at_[b.at] : known_[b.at].at;
}

void PlanConstants::Done(const void* weights) {
  const auto watched = watched_.find(weights);
  if (watched != watched_.end()) return Release(&watched->second);
  if (!InBlock(weights)) {
    if (outer_) outer_->Done(weights);
    return;
  }
  const auto it = pieces_.find(static_cast<size_t>(static_cast<const char*>(weights) - base_));
  if (it == pieces_.end()) return;
  Piece& piece = it->second;
  if (piece.dropped || piece.node < 0 || piece.readers != 1 || piece.bytes < kLeastPostponed) return;
  DropPages(base_ + it->first, piece.bytes);
  piece.dropped = true;
  dropped_bytes_ += piece.bytes;
}

bool PlanConstants::HasRoomFor(const void* weights, size_t more, bool anyway) {
  if (has_room_.size() > plan_.blobs.size()) has_room_.clear(), room_taken_ = 0;  // parameters have moved
  const auto known = has_room_.find(weights);
  if (known != has_room_.end()) return known->second;
  const bool has = anyway || room_taken_ + more <= weight_bytes_;
  if (has) room_taken_ += more;
  return has_room_[weights] = has;
}

void PlanConstants::Need(const void* weights) {
  const auto watched = watched_.find(weights);
  if (watched != watched_.end()) {
    if (!watched->second.held) watched->second.held = HoldStored(watched->second.array.chunk());
    return;
  }
  if (!InBlock(weights)) {
    if (outer_) outer_->Need(weights);
    return;
  }
  if (dropped_bytes_ == 0) return;
  const auto it = pieces_.find(static_cast<size_t>(static_cast<const char*>(weights) - base_));
  if (it == pieces_.end() || !it->second.dropped) return;
  Begin(it->second.node);
  compute_(it->second.node);
  Computed(it->second.node);
}

PlanConstants::Piece* PlanConstants::Postponable(int blob) {
  if (plan_.blobs[blob].place != Plan::Place::kConstant) return nullptr;
  Piece& piece = pieces_.at(plan_.blobs[blob].at);
  return piece.bytes < kLeastPostponed || piece.askers < piece.readers ? nullptr : &piece;
}

PlanConstants::Postponed PlanConstants::Postpone(int node) {
  const Plan::Node& n = plan_.nodes[node];
  const auto postpone = [this](Piece* piece) {
    if (!piece->dropped) dropped_bytes_ += piece->bytes;
    piece->dropped = true;
  };
  bool all = n.num_out > 0;
  for (int b = n.out; b < n.out + n.num_out; ++b) all = all && Postponable(b);
  if (all) {
    for (int b = n.out; b < n.out + n.num_out; ++b) postpone(Postponable(b));
    return Postponed::kNode;
  }
  const auto* only = n.attrs ? n.attrs->op->trait<ReadOnlyFor>() : nullptr;
  Piece* const piece = only ? Postponable(n.out + only->output) : nullptr;
  if (!piece) return Postponed::kNothing;
  postpone(piece);
  return Postponed::kOutput;
}

bool PlanConstants::RunPostponed(int node, const KernelArgs& args) {
  const Postponed what = Postpone(node);
  if (what != Postponed::kOutput) return what == Postponed::kNode;
  const Plan::Node& n = plan_.nodes[node];
  const auto& only = *n.attrs->op->trait<ReadOnlyFor>();
  KernelArgs part = args;
  std::vector<OpReq> wanted(part.req.begin(), part.req.end());
  wanted[static_cast<size_t>(only.output)] = OpReq::kNull;
  part.req = wanted;
  Begin(node, only.input);
  (*n.kernel)(part);
  Computed(node, only.output);
  return true;
}

// What it is computed from may itself have been dropped.
void PlanConstants::Begin(int node, int but) {
  const Plan::Node& n = plan_.nodes[node];
  for (int i = 0; i < n.num_in; ++i)
    if (const void* at = i == but ? nullptr : AddressOf(n.in + i)) Need(at);
}

void PlanConstants::Computed(int node, int but) {
  const Plan::Node& n = plan_.nodes[node];
  for (int b = n.in; b < n.in + n.num_in; ++b) {
    if (outer_ && plan_.blobs[b].place == Plan::Place::kSlot) {
      if (plan_.slot_asked[plan_.blobs[b].at]) outer_->Done(AddressOf(b));
      continue;
    }
    const auto watched = plan_.blobs[b].place == Plan::Place::kSlot ? watched_.find(watched_at_[plan_.blobs[b].at]) : watched_.end();
    if (watched != watched_.end()) Release(&watched->second);
  }
  if (dropped_bytes_ == 0) return;
  for (int b = n.out; b < n.out + n.num_out; ++b) {
    if (plan_.blobs[b].place != Plan::Place::kConstant || b == n.out + but) continue;
    Piece& piece = pieces_[plan_.blobs[b].at];
    if (piece.dropped) dropped_bytes_ -= piece.bytes;
    piece.dropped = false;
  }
}

uint64_t PlanConstants::Identity(const void* weights) {
  const auto watched = watched_.find(weights);
  if (watched == watched_.end()) return NumberOf(weights);
  SetHasForms(watched->second.array);
  return ContentsNumber(watched->second.array);
}

PlanWeights::ReadPart PlanConstants::Parts(const void* weights) {
  const auto watched = watched_.find(weights);
  if (watched != watched_.end()) return PartsOfStored(watched->second.array);
  return outer_ && !InBlock(weights) ? outer_->Parts(weights) : ReadPart();
}

PlanWeights::ReadPart PlanConstants::TransposedParts(const void* weights) {
  const auto watched = watched_.find(weights);
  if (watched != watched_.end()) return PartsOfStored(watched->second.array, true);
  return InBlock(weights) ? ReadPart() : TransposedPartsOf(outer_, weights);
}

uint64_t PlanConstants::NumberOf(const void* weights) {
  const auto watched = watched_.find(weights);
  if (watched != watched_.end()) return ContentsNumber(watched->second.array);
  const auto known = known_slot_.find(weights);
  if (known != known_slot_.end()) {
    const Known& slot = known_[static_cast<size_t>(known->second)];
    return slot.at == weights ? slot.number : 0;
  }
  if (!InBlock(weights)) return outer_ ? outer_->Identity(weights) : 0;
  const auto it = pieces_.find(static_cast<size_t>(static_cast<const char*>(weights) - base_));
  if (it == pieces_.end() || it->second.node < 0) return 0;
  const Plan::Node& n = plan_.nodes[it->second.node];
  uint64_t identity = Mix(std::hash<std::string>()(n.attrs->op->name), static_cast<uint64_t>(it->second.output));
  for (const auto& kv : n.attrs->dict)
    identity = Mix(Mix(identity, std::hash<std::string>()(kv.first)), std::hash<std::string>()(kv.second));
  for (int b = n.in; b < n.in + n.num_in; ++b) {
    const void* at = AddressOf(b);
    const uint64_t own = at ? NumberOf(at) : 0;
    if (own == 0) return 0;
    identity = Mix(identity, own);
  }
  return identity;
}

}  // namespace mxnet
