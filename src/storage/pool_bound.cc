// What a pool gives back unasked: what exceeds its bound, and what nobody has wanted for some time.
#include <algorithm>

#include "storage/pool.h"

namespace mxnet {
namespace storage {

uint64_t Pool::Share() const {
  if (OnHost()) return 0;
  size_t free_bytes = 0, total_bytes = 0;
  backend_->MemInfo(&free_bytes, &total_bytes);
  return total_bytes / 4;
}

/* The blocks that have lain in the cache for longest, as many as leave the pool within its bound
 * when it holds `held`. */
void Pool::TakeExcess(uint64_t held, Blocks* blocks) {
  const uint64_t limit = bound_.limit();
  if (held <= share_) return;
  while (held > limit) {
    const Block block = central_.TakeOldest(UINT32_MAX);
    if (!block) break;
    bound_.GaveBack(block.size, false, tick_);
    blocks->push_back(block);
    held -= block.size;
    held_ -= block.size;
    ++given_back_.blocks;
    given_back_.bytes += block.size;
  }
  if (!blocks->empty()) ShowRegisterRows();
}

/* On devices only whoever waits for new memory anyway gives back. */
void Pool::TakeExcessOfHost(Blocks* blocks) {
  if (__builtin_expect(OnHost() && held_ > bound_.limit(), 0)) TakeExcess(held_, blocks);
}

void Pool::Tidy(const Blocks& blocks) {
  if (ages_) PurgeThread::Wake();
  if (__builtin_expect(!blocks.empty(), 0)) GiveBack(blocks);
}

void Pool::GiveBack(const Blocks& blocks) {
  for (const Block& block : blocks) {
    Unpoison(block.ptr, block.size);
    backend_->Free(block.ptr, block.size);
  }
}

void Pool::KeepByAge() {
  ages_ = true;
  PurgeThread::Add(this);
}

bool Pool::Caches() {
  std::lock_guard<std::mutex> guard(mutex_);
  return central_.count() > 0;
}

size_t Pool::Age(bool* waiting) {
  Blocks blocks;
  size_t bytes = 0;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    bound_.Tick(++tick_);
    const uint32_t patience = bound_.patience();
    while (tick_ > patience) {
      const Block block = central_.TakeOldest(tick_ - patience);
      if (!block) break;
      bound_.GaveBack(block.size, true, tick_);
      blocks.push_back(block);
      bytes += block.size;
    }
    held_ -= bytes;
    given_back_.blocks += blocks.size();
    given_back_.bytes += bytes;
    *waiting = central_.count() > 0;
    if (bytes > 0) ShowRegisterRows();
  }
  GiveBack(blocks);
  return bytes;
}

GivenBack Pool::BoundStats() {
  std::lock_guard<std::mutex> guard(mutex_);
  GivenBack stats = given_back_;
  stats.limit = std::max(bound_.limit(), share_);
  return stats;
}

}  // namespace storage
}  // namespace mxnet
