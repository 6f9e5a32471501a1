/*
 * Workspace memory of plans' kernels, kept between kernels. A kernel's blocks are given back
 * together when it returns, and on the CPU large ones go to the pool at the end of a bulk: every
 * thread would else keep the most that any kernel ever wanted.
 */
#ifndef MXNET_EXECUTOR_PLAN_PLAN_WORKSPACE_H_
#define MXNET_EXECUTOR_PLAN_PLAN_WORKSPACE_H_

#include <vector>

#include "mxnet/run_context.h"
#include "mxnet/storage.h"
#include "storage/device_memory.h"

namespace mxnet {

class PlanWorkspace {
 public:
  /* `keep_all`: blocks that became too small live on, because captured kernels know their
   * addresses. */
  explicit PlanWorkspace(bool keep_all = false) : keep_all_(keep_all) {}
  ~PlanWorkspace() { Drop(); }
  PlanWorkspace(const PlanWorkspace&) = delete;
  PlanWorkspace& operator=(const PlanWorkspace&) = delete;

  /* The calling thread's own, which is its streams' own, too: what runs bulks hands it down. */
  static PlanWorkspace& OfThread() {
    static thread_local PlanWorkspace workspace;
    return workspace;
  }

  void Begin(const RunContext& run) {
    if (run.ctx != ctx_) {
      Drop();
      ctx_ = run.ctx;
    }
    run_ = run;
    next_ = 0;
  }
  /* The work that began is over. */
  void End() {
    if (!large_ || ctx_.is_gpu()) return;
    for (StorageHandle& b : blocks_) {
      if (b.size <= kKept) continue;
      Storage::Get()->Free(b);
      b = StorageHandle();
    }
    large_ = false;
  }
  void* Get(size_t bytes) {
    // the block in turn is reused when it is large enough; kernels ask for the same sizes again and
    // again
    large_ = large_ || bytes > kKept;
    if (next_ == blocks_.size()) blocks_.push_back(Storage::Get()->Alloc(bytes, ctx_));
    StorageHandle& block = blocks_[next_++];
    if (block.size < bytes) {
      if (keep_all_)
        retired_.push_back(block);
      else
        storage::FreeOnStream(block, run_);  // kernels before this one may still be at work on it
      block = StorageHandle();
      block = Storage::Get()->Alloc(bytes, ctx_);
    }
    return block.dptr;
  }

 private:
  void Drop() {
    if (!blocks_.empty()) storage::FinishDevice(ctx_);
    for (const auto* list : {&blocks_, &retired_})
      for (const auto& b : *list) Storage::Get()->Free(b);
    blocks_.clear();
    retired_.clear();
  }
  static constexpr size_t kKept = 1 << 20;
  const bool keep_all_;
  bool large_ = false;  // some block is larger than what is kept
  Context ctx_;
  RunContext run_;
  std::vector<StorageHandle> blocks_, retired_;
  size_t next_ = 0;
};

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PLAN_PLAN_WORKSPACE_H_
