/*
 * How much a pool may hold, used and cached, without a setting: what the program used at most
 * lately. A pool that keeps to that needs no more memory than one that caches nothing, and a loop
 * finds its blocks again.
 *
 * "Lately" is counted in bytes that were handed out, so that neither the machine's speed nor other
 * programs change anything: the present window and the one before, each of them twice as much as
 * was in use at once.
 *
 * A loop whose blocks of one size go before it takes others asks for more than that: it comes back
 * for sizes that were given back shortly before. Each such request raises the bound by a quarter of
 * its bytes, up to twice the use; requests for sizes that are new lower that again, by all of
 * theirs: the program has gone on to something else. So it takes a loop some turns, and a walk in
 * which some sizes happen to come back does not get there.
 *
 * THREADS  Used under the pool's lock.
 */
#ifndef MXNET_STORAGE_CACHE_BOUND_H_
#define MXNET_STORAGE_CACHE_BOUND_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace mxnet {
namespace storage {

class CacheBound {
 public:
  static constexpr uint64_t kLeast = uint64_t{64} << 20;             // of every pool: not worth asking the system for again
  static constexpr uint32_t kLeastPatience = 4, kMostPatience = 40;  // ticks

  /* `bytes` are handed out; with them `used` are. */
  void Served(uint64_t bytes, uint64_t used) {
    if (used > peak_) peak_ = used;
    traffic_ += bytes;
    if (traffic_ > kWindow * peak_) EndWindow(used);
  }
  /* A block of `size` goes back: `aged`: because nobody wanted it, at `tick`. */
  void GaveBack(size_t size, bool aged, uint32_t tick);
  /* New memory is needed for a block of `size`. */
  void Missed(size_t size, uint32_t tick);
  /* Blocks that have lain about for so many ticks are not wanted. A program that came back for half
   * of such blocks is given twice as long. */
  uint32_t patience() const { return patience_; }
  /* Called once for each tick. */
  void Tick(uint32_t tick);
  uint64_t limit() const {
    const uint64_t lately = peak_ > last_peak_ ? peak_ : last_peak_;
    return (lately > kLeast ? lately : kLeast) + allowance_;
  }

 private:
  static constexpr uint64_t kWindow = 2, kTimes = 4;
  static constexpr size_t kMostGone = 4096;
  struct Gone {  // blocks of one size that were given back
    uint32_t count = 0, window = 0, tick = 0;
    bool aged = false;
  };
  void EndWindow(uint64_t used);

  uint64_t peak_ = 0, last_peak_ = 0;  // of `used` in this window and the last one
  uint64_t traffic_ = 0, allowance_ = 0;
  uint32_t window_ = 0, patience_ = kLeastPatience, changed_at_ = 0;
  uint64_t aged_ = 0, regretted_ = 0;  // bytes that went for their age since patience changed; those that were wanted again
  std::unordered_map<size_t, Gone> gone_;
};

}  // namespace storage
}  // namespace mxnet
#endif  // MXNET_STORAGE_CACHE_BOUND_H_
