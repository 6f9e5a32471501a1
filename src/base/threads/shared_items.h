/* Work of a parallel region in items that threads take from each other. */
#ifndef MXNET_BASE_THREADS_SHARED_ITEMS_H_
#define MXNET_BASE_THREADS_SHARED_ITEMS_H_

#include <atomic>
#include <cstdint>
#include <memory>

namespace mxnet {

/* Where share i of `parts` nearly equal ones of [0, n) begins; share i + 1 begins where it ends. */
inline int64_t Share(int64_t n, int64_t parts, int64_t i) { return n * i / parts; }

/*
 * Each of some shares has items 0 .. count - 1. A thread takes those of its own share in order, so
 * that what it computed before is still in its cache; who has none left takes the last one of the
 * share with most: cores of a virtual machine are seldom equally fast, and equal shares end when
 * the slowest one does.
 *
 * Every item is handed out once, whichever threads come. `Set` for all shares first, then `Next`
 * from any number of threads; no locks, and no allocation up to kFew shares.
 */
class SharedItems {
 public:
  explicit SharedItems(int shares)
      : shares_(shares), many_(shares > kFew ? new Range[shares] : nullptr), ranges_(many_ ? many_.get() : few_) {}
  SharedItems(const SharedItems&) = delete;
  SharedItems& operator=(const SharedItems&) = delete;

  // REQUIRES: 0 <= count < 2^32
  void Set(int share, int64_t count) { ranges_[share].left.store(static_cast<uint64_t>(count) << 32, std::memory_order_relaxed); }

  // An item for the thread whose share is `self`; false: none is left.
  bool Next(int self, int* share, int64_t* item) {
    if (Take(self, true, item)) {
      *share = self;
      return true;
    }
    for (;;) {
      int64_t most = 0;
      for (int i = 0; i < shares_; ++i) {
        const int64_t left = Left(ranges_[i].left.load(std::memory_order_relaxed));
        if (left > most) most = left, *share = i;
      }
      if (most == 0) return false;
      if (Take(*share, false, item)) return true;
    }
  }

 private:
  static constexpr int kFew = 16;
  struct alignas(64) Range {
    std::atomic<uint64_t> left{0};  // the next item in the lower half, the end in the upper one
  };
  static int64_t Left(uint64_t range) { return static_cast<int64_t>(range >> 32) - static_cast<int64_t>(range & 0xffffffffu); }

  bool Take(int share, bool first, int64_t* item) {
    std::atomic<uint64_t>& left = ranges_[share].left;
    for (uint64_t range = left.load(std::memory_order_relaxed); Left(range) > 0;) {
      const uint64_t after = first ? range + 1 : range - (uint64_t{1} << 32);
      if (left.compare_exchange_weak(range, after, std::memory_order_relaxed)) {
        *item = static_cast<int64_t>(first ? range & 0xffffffffu : after >> 32);
        return true;
      }
    }
    return false;
  }

  const int shares_;
  const std::unique_ptr<Range[]> many_;
  Range few_[kFew];
  Range* const ranges_;
};

/* [0, n) as shares of adjacent items, nearly equal. */
class DividedItems {
 public:
  // REQUIRES: 0 <= n < 2^32
  DividedItems(int shares, int64_t n) : shares_(shares), n_(n), items_(shares) {
    for (int i = 0; i < shares; ++i) items_.Set(i, Share(n, shares, i + 1) - Share(n, shares, i));
  }
  bool Next(int64_t self, int64_t* item) {
    int share;
    if (!items_.Next(static_cast<int>(self), &share, item)) return false;
    *item += Share(n_, shares_, share);
    return true;
  }

 private:
  const int shares_;
  const int64_t n_;
  SharedItems items_;
};

}  // namespace mxnet
#endif  // MXNET_BASE_THREADS_SHARED_ITEMS_H_
