/*
 * Workspace memory of plans' kernels, kept between kernels. A kernel's blocks are given back
 * together when it returns, and on the CPU large ones go to the pool at the end of a bulk: every
 * thread would else keep the most that any kernel ever wanted. There a block is at once as large as
 * the most that was wanted lately in its turn: kernels of growing sizes would else leave a block of
 * each in the pool.
 */
#ifndef MXNET_EXECUTOR_PLAN_PLAN_WORKSPACE_H_
#define MXNET_EXECUTOR_PLAN_PLAN_WORKSPACE_H_

#include <algorithm>
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
    for (size_t i = 0; i < std::min(lately_.size(), blocks_.size()); ++i) {
      Lately& lately = lately_[i];
      if (lately.wanted >= lately.most || ++lately.bulks == kBulks) lately = {lately.wanted};
      if (blocks_[i].size <= kKept) continue;
      Storage::Get()->Free(blocks_[i]);
      blocks_[i] = StorageHandle();
    }
    large_ = false;
  }
  void* Get(size_t bytes) {
    // the block in turn is reused when it is large enough; kernels ask for the same sizes again and
    // again
    const size_t turn = next_++;
    if (bytes > kKept && !ctx_.is_gpu()) bytes = Expected(turn, bytes);
    if (turn == blocks_.size()) blocks_.push_back(Storage::Get()->Alloc(bytes, ctx_));
    StorageHandle& block = blocks_[turn];
    if (block.size < bytes) {
      if (keep_all_)
        retired_.push_back(block);
      else if (ctx_.is_gpu())
        storage::FreeOnStream(block, run_);  // kernels before this one may still be at work on it
      else
        GiveBack(block);
      block = StorageHandle();
      block = Storage::Get()->Alloc(bytes, ctx_);
    }
    return block.dptr;
  }

 private:
  /* Of the CPU, for a larger one. A small one is wanted again in the next run, since the larger one
   * may go when this one ends; of the large ones the next run asks for the largest at once. */
  static void GiveBack(const StorageHandle& block) {
    if (block.size <= kKept)
      Storage::Get()->Free(block);
    else
      Storage::Get()->DirectFree(block);
  }
  void Drop() {
    if (!blocks_.empty()) storage::FinishDevice(ctx_);
    for (const auto* list : {&blocks_, &retired_})
      for (const auto& b : *list) Storage::Get()->Free(b);
    blocks_.clear();
    retired_.clear();
  }
  /* Of the blocks of a turn, over a few bulks that wanted large ones. */
  struct Lately {
    size_t most = 0, wanted = 0;
    int bulks = 0;  // since one wanted the most
  };
  size_t Expected(size_t turn, size_t bytes) {
    large_ = true;
    if (lately_.size() <= turn) lately_.resize(turn + 1);
    Lately& lately = lately_[turn];
    lately.wanted = std::max(lately.wanted, bytes);
    return std::max(lately.most, bytes);
  }
  static constexpr size_t kKept = 1 << 20;
  static constexpr int kBulks = 64;
  const bool keep_all_;
  bool large_ = false;  // some block is larger than what is kept
  Context ctx_;
  RunContext run_;
  std::vector<StorageHandle> blocks_, retired_;
  std::vector<Lately> lately_;
  size_t next_ = 0;
};

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PLAN_PLAN_WORKSPACE_H_
