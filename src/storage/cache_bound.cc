#include "storage/cache_bound.h"

#include <algorithm>
#include <iterator>

namespace mxnet {
namespace storage {

void CacheBound::EndWindow(uint64_t used) {
  last_peak_ = peak_;
  peak_ = used;
  traffic_ = 0;
  ++window_;
  for (auto it = gone_.begin(); it != gone_.end();)
    it = !it->second.aged && window_ - it->second.window > 1 ? gone_.erase(it) : std::next(it);
}

void CacheBound::GaveBack(size_t size, bool aged, uint32_t tick) {
  if (gone_.size() >= kMostGone && gone_.find(size) == gone_.end()) return;
  Gone& gone = gone_[size];
  ++gone.count;
  gone.window = window_;
  gone.tick = tick;
  gone.aged = aged;
  if (aged) aged_ += size;
}

void CacheBound::Missed(size_t size, uint32_t tick) {
  const auto it = gone_.find(size);
  if (it == gone_.end()) {
    allowance_ -= std::min<uint64_t>(allowance_, size);
    return;
  }
  Gone& gone = it->second;
  if (gone.aged) {
    regretted_ += size;
    if (2 * regretted_ >= aged_ && changed_at_ != tick) {
      patience_ = std::min(2 * patience_, kMostPatience);
      changed_at_ = tick;
      aged_ = regretted_ = 0;
    }
  } else {
    allowance_ = std::min(allowance_ + size / kTimes, std::max(peak_, last_peak_));
  }
  if (--gone.count == 0) gone_.erase(it);
}

void CacheBound::Tick(uint32_t tick) {
  if (tick - changed_at_ > 8 * patience_) {
    patience_ = std::max(patience_ / 2, kLeastPatience);
    changed_at_ = tick;
    aged_ = regretted_ = 0;
  }
  for (auto it = gone_.begin(); it != gone_.end();)
    it = it->second.aged && tick - it->second.tick > 8 * patience_ ? gone_.erase(it) : std::next(it);
}

}  // namespace storage
}  // namespace mxnet
