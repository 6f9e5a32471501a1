#include "storage/late_blocks.h"

#include <atomic>
#include <chrono>
#include <mutex>

#include "base/late_pages.h"
#include "base/threads/fork_guard.h"
#include "storage/purge_thread.h"

namespace mxnet {
namespace storage {
namespace {

/* The thread that lets pools grow old joins the pages. */
class Late final : public Aging {
 public:
  Late() { PurgeThread::Add(this); }
  void Add(const PageRange& pages) {
    {
      std::lock_guard<ForkMutex> lock(mutex_);
      pages_.Add(pages);
      some_ = true;
    }
    PurgeThread::Wake();
  }
  void Drop(const char* begin, const char* end) {
    if (!some_) return;
    std::lock_guard<ForkMutex> lock(mutex_);
    pages_.Drop(begin, end);
  }
  size_t Age(bool* waiting) override {
    constexpr std::chrono::milliseconds kMost{12};  // of the 250 of a tick
    const auto begin = std::chrono::steady_clock::now();
    for (bool turn = pages_.TakeTurn(); turn && some_ && std::chrono::steady_clock::now() - begin < kMost;) {
      std::lock_guard<ForkMutex> lock(mutex_);
      pages_.JoinOne();
      some_ = !pages_.empty();
    }
    *waiting = some_;
    return 0;
  }
  bool Caches() override { return some_; }

 private:
  ForkMutex mutex_{ForkLevel::kStorage};
  LatePages pages_;  // guarded by mutex_
  std::atomic<bool> some_{false};
};
Late* const g_late = new Late();  // until the last block has gone

}  // namespace

void LateBlocks::Add(const PageRange& pages) { g_late->Add(pages); }

void LateBlocks::Drop(const void* block, size_t bytes) {
  const char* const begin = static_cast<const char*>(block);
  g_late->Drop(begin, begin + bytes);
}

}  // namespace storage
}  // namespace mxnet
