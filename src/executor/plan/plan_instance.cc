// The memory of a plan instance: states, and the pointers that its nodes work on.
#include "executor/plan/plan_instance.h"

#include "executor/plan/graph_places.h"
#include "executor/plan/plan_constants.h"
#include "executor/plan/plan_cuda_graphs.h"
#include "executor/plan/plan_workspace.h"
#include "ndarray/outside.h"
#include "ndarray/run.h"
#include "ndarray/stored.h"
#include "operator/runtime/call_states.h"
#include "storage/device_memory.h"

namespace mxnet {

PlanInstance::PlanInstance(std::shared_ptr<const Plan> plan, std::shared_ptr<Arena> arena, std::shared_ptr<CallStates> calls)
    : plan_(std::move(plan)),
      arena_(std::move(arena)),
      bound_(*plan_, [this](size_t bytes) { return workspace_->Get(bytes); }),
      slot_pointers_(plan_->num_slots(), nullptr),
      seen_(plan_->num_inputs) {
  MakeStates(std::move(calls));
  if (plan_->ctx.is_gpu() || plan_->is_train) return;
  bool asks = plan_->constant_bytes > 0;
  for (int s = 0; s < plan_->num_inputs && !asks; ++s) asks = plan_->slot_asked[s] && !plan_->per_call[s] && !plan_->slot_blobs[s].empty();
  if (asks) Constants();
}

PlanInstance::~PlanInstance() {
  if (constants_.dptr) storage::FinishDevice(plan_->ctx);
  Storage::Get()->Free(constants_);
}

// Of asynchronous nodes, and of those that hold graphs with such nodes. A gradient's node has the
// parameters, and the state, of the node that it belongs to.
void PlanInstance::MakeStates(std::shared_ptr<CallStates> calls) {
  const Plan& p = *plan_;
  if (!p.forward.only_in_bulks && !p.backward.only_in_bulks) return;
  if (!calls) calls = std::make_shared<CallStates>();
  for (size_t t = 0; t < p.nodes.size(); ++t) {
    const Plan::Node& n = p.nodes[t];
    try {
      if (n.async) bound_.states[t] = calls->Of(*n.attrs, p.ctx, bound_.args[t].in, {});
      if (n.alone) bound_.states[t] = NewCallScope(*n.attrs, calls);
    } catch (const Error& e) {
      throw Error(e.kind(), std::string(e.what()) + " (node " + n.name + ")");
    }
  }
}

void PlanInstance::Bind(PlanCall* call, const RunContext& run, GraphPlaces* places) {
  const Plan& p = *plan_;
  for (int s = 0; s < p.num_slots(); ++s) {
    if (p.slot_blobs[s].empty() || call->arrays[s].is_none()) continue;
    const NDArray& array = call->arrays[s];
    if (p.slot_asked[s] && s < p.num_inputs && BindStored(s, array)) continue;
    AllocateOn(array.chunk(), run);
    if (p.has_sparse && BindSparseSlot(s, array)) continue;
    void* const lies = array.data().dptr<void>();
    BindSlot(s, array, lies, places ? places->PlaceOf(s, lies) : lies);
  }
  if (sparse_.size() < p.sparse_types.size()) BindSparse();
  for (const std::vector<int>& blobs : p.sparse_blobs) bound_.Changed(blobs);
  if (p.constant_bytes && !constants_.dptr) BindConstants(run);
  if (p.memory.arena_bytes) BindArena(run);
}

// False: it is an array like others.
bool PlanInstance::BindStored(int slot, const NDArray& array) {
  Chunk* const chunk = array.chunk();
  const bool stored = chunk->stored && chunk->handle.dptr && !plan_->per_call[slot];
  if (!stored && !constant_pieces_) return false;
  void* const lies = stored ? static_cast<char*>(chunk->handle.dptr) + array.byte_offset() : nullptr;
  const Seen& seen = seen_[slot];
  const bool same = stored && !seen.array.is_none() && seen.array.chunk() == chunk && seen.version == array.version() && seen.at == lies;
  if (!same && (stored || constant_pieces_->Watches(slot)) && !Constants()->Watch(slot, stored ? array : NDArray())) return false;
  if (stored) BindSlot(slot, array, lies, lies);
  return stored;
}

PlanConstants* PlanInstance::Constants() {
  if (!constant_pieces_) {
    constant_pieces_ = std::make_unique<PlanConstants>(*plan_, [this](int node) { (*plan_->nodes[node].kernel)(bound_.args[node]); });
    for (KernelArgs& a : bound_.args) a.plan_weights = constant_pieces_.get();
  }
  return constant_pieces_.get();
}

void PlanInstance::BindSlot(int slot, const NDArray& array, const void* lies, void* at) {
  const std::vector<int>& blobs = plan_->slot_blobs[slot];
  if (slot < plan_->num_inputs && !plan_->per_call[slot]) {
    Seen& seen = seen_[slot];
    const uint64_t version = ContentsVersion(array, lies);
    if (seen.array.is_none() || seen.array.chunk() != array.chunk() || lies != seen.at || at != slot_pointers_[slot] ||
        seen.version != version) {
      seen.array = array.Detach();
      seen.version = version;
      seen.at = lies;
      bound_.Changed(blobs);
      if (constant_pieces_ && !constant_pieces_->Watches(slot)) constant_pieces_->Know(slot, at, ContentsNumber(array));
    }
  } else {
    bound_.Changed(blobs);
  }
  if (at == slot_pointers_[slot]) return;
  slot_pointers_[slot] = at;
  bound_.Point(blobs, at);
}

bool PlanInstance::BindSparseSlot(int slot, const NDArray& array) {
  const std::vector<int>& blobs = plan_->slot_blobs[slot];
  bound_.Point(blobs, array.sparse());
  if (!array.is_sparse()) return false;
  bound_.Changed(blobs);
  return true;
}

void PlanInstance::BindSparse() {
  const Plan& p = *plan_;
  for (const TensorType& type : p.sparse_types) {
    sparse_.push_back(NDArray::Make(type, p.ctx));
    bound_.Point(p.sparse_blobs[sparse_.size() - 1], sparse_.back().sparse());
  }
}

void PlanInstance::BindConstants(const RunContext& run) {
  const Plan& p = *plan_;
  profiler::MemoryScope memory("plan constants");
  constants_ = Storage::Get()->Alloc(p.constant_bytes, run.ctx);
  bound_.PutInto(p.constant_blobs, constants_.dptr);
  if (run.ctx.is_gpu()) return;
  Constants()->PutAt(static_cast<char*>(constants_.dptr));
}

void PlanInstance::BindArena(const RunContext& run) {
  bound_.Changed(plan_->arena_blobs);
  arena_->Provide(plan_->memory.arena_bytes, run);
  if (arena_->handle.dptr == arena_pointer_) return;
  arena_pointer_ = arena_->handle.dptr;
  bound_.PutInto(plan_->arena_blobs, arena_pointer_);
}

void PlanInstance::FreeArena(const RunContext& run) {
  arena_->Free(run);
  arena_pointer_ = nullptr;
}

}  // namespace mxnet
