#include "executor/plan/plan_constants.h"

#include <sys/mman.h>
#include <unistd.h>

namespace mxnet {
namespace {

constexpr size_t kLeast = 1 << 14;  // smaller pieces are not worth a system call

// The pages that lie wholly in [begin, begin + bytes): their contents are lost. Nothing happens
// where the system refuses.
void DropPages(char* begin, size_t bytes) {
  static const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t first = (reinterpret_cast<uintptr_t>(begin) + page - 1) / page * page,
                  end = (reinterpret_cast<uintptr_t>(begin) + bytes) / page * page;
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

}  // namespace

PlanConstants::PlanConstants(const Plan& plan, char* base, std::function<void(int)> compute)
    : plan_(plan), base_(base), compute_(std::move(compute)) {
  for (size_t t = 0; t < plan.nodes.size(); ++t) {
    const Plan::Node& n = plan.nodes[t];
    for (int b = n.in; b < n.in + n.num_in; ++b)
      if (plan.blobs[b].place == Plan::Place::kConstant) ++pieces_[plan.blobs[b].at].readers;
    for (int b = n.out; b < n.out + n.num_out; ++b) {
      if (plan.blobs[b].place != Plan::Place::kConstant) continue;
      Piece& piece = pieces_[plan.blobs[b].at];
      piece.bytes = plan.blobs[b].shape.Bytes();
      piece.node = static_cast<int>(t);
    }
  }
}

void PlanConstants::Done(const void* weights) {
  if (weights < base_ || weights >= base_ + plan_.constant_bytes) return;
  const auto it = pieces_.find(static_cast<size_t>(static_cast<const char*>(weights) - base_));
  if (it == pieces_.end()) return;
  Piece& piece = it->second;
  if (piece.dropped || piece.node < 0 || piece.readers != 1 || piece.bytes < kLeast) return;
  DropPages(base_ + it->first, piece.bytes);
  piece.dropped = true;
  dropped_bytes_ += piece.bytes;
}

void PlanConstants::Need(const void* weights) {
  if (dropped_bytes_ == 0 || weights < base_ || weights >= base_ + plan_.constant_bytes) return;
  const auto it = pieces_.find(static_cast<size_t>(static_cast<const char*>(weights) - base_));
  if (it == pieces_.end() || !it->second.dropped) return;
  const Plan::Node& n = plan_.nodes[it->second.node];
  for (int b = n.in; b < n.in + n.num_in; ++b)  // what it is computed from may itself have been dropped
    if (plan_.blobs[b].place == Plan::Place::kConstant) Need(base_ + plan_.blobs[b].at);
  compute_(it->second.node);
  Computed(it->second.node);
}

void PlanConstants::Computed(int node) {
  if (dropped_bytes_ == 0) return;
  const Plan::Node& n = plan_.nodes[node];
  for (int b = n.out; b < n.out + n.num_out; ++b) {
    if (plan_.blobs[b].place != Plan::Place::kConstant) continue;
    Piece& piece = pieces_[plan_.blobs[b].at];
    if (piece.dropped) dropped_bytes_ -= piece.bytes;
    piece.dropped = false;
  }
}

}  // namespace mxnet
