/*
 * One pool: rounding, cache of freed blocks and statistics of one context.
 *
 * Small blocks (rounded size up to 64 KiB) are cached in shards: a thread works on "its" shard
 * under a spin lock, so that threads rarely meet, and no state hangs on a thread that could exit.
 * What a shard cannot hold goes to the central cache, which also keeps every larger block; a shard
 * that runs empty refills from there, then from the other shards. Only when none of them has a
 * block of the size is the backend asked, outside all locks. On the host it then makes a cached
 * block larger, where one is a little too small: what grows from call to call keeps its pages, and
 * leaves no blocks behind that nobody wants.
 *
 * What is held is bounded (cache_bound.h). Whoever needs new memory gives back the blocks that have
 * lain in the cache for longest, as many as that needs; on devices, where that waits for all work
 * under way and new memory does so as well, only while the pool holds more than a quarter of the
 * device. Blocks of the host's memory also go as soon as the bound has fallen below what is held,
 * and, in the process's own pools, when nobody has wanted them for some seconds
 * (storage/purge_thread.h).
 *
 * THREADS  Everything may be called from any thread, but the destructor.
 * FORK     The child has the cache too, or an empty, closed pool when the backend does not survive.
 */
#ifndef MXNET_STORAGE_POOL_H_
#define MXNET_STORAGE_POOL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/threads/fork_guard.h"
#include "engine/gpu_work.h"
#include "mxnet/storage.h"
#include "storage/block_cache.h"
#include "storage/cache_bound.h"
#include "storage/growing_backend.h"
#include "storage/purge_thread.h"
#include "storage/spin_lock.h"

namespace mxnet {
namespace storage {

/* What went back to the backend without being asked for, and how much the pool may hold now. */
struct GivenBack {
  uint64_t blocks = 0, bytes = 0, limit = 0;
};

class Pool final : private ForkGuarded, private Aging {
 public:
  /* host_memory: the CPU can touch the blocks (AddressSanitizer then watches those that are not
   * handed out). */
  Pool(const PoolOptions& options, std::shared_ptr<StorageBackend> backend, Context ctx, bool host_memory);
  /* Gives the cache back to the backend. */
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /* REQUIRES: bytes > 0. */
  void* Alloc(size_t bytes, size_t* rounded);
  void Free(void* ptr, size_t rounded);
  void DirectFree(void* ptr, size_t rounded);
  /*
   * Memory that `work` may still use. It counts as used until that has passed; meanwhile only
   * AllocBehind hands it out. When a request finds no other block, what has passed is looked for,
   * and before the pool refuses one it waits for all of it.
   */
  void FreeBehind(void* ptr, size_t rounded, std::vector<engine::DeviceWorkPtr> work);
  /* As Alloc, but rather than new memory takes a block that is still in use, and says by what.
   * `stream` not null: only one that this stream alone uses. */
  void* AllocBehind(size_t bytes, size_t* rounded, void* stream, std::vector<engine::DeviceWorkPtr>* work);
  /* Returns the bytes given back. */
  size_t ReleaseAll();
  /* A consistent snapshot. */
  StorageStats Stats();
  GivenBack BoundStats();
  void ResetPeak();
  /* From here on blocks that nobody wants for some seconds go back. */
  void KeepByAge();
  /*
   * From here on blocks between small and large have four sizes from one power of two to the next,
   * if the type is Naive. What is of such a size, as weights often are, gets no more; all else has
   * at least a sixteenth of room. What is a little larger in each call, as a decoder's cache, or a
   * little smaller, finds one that it had before; new memory would cost a fault of each page. Pages
   * of the room are not there until somebody takes the block for more.
   * REQUIRES: nothing was allocated.
   */
  void GiveRoom() { gives_room_ = true; }
  /* A tick of the clock has passed: gives back what has not been wanted for long enough, and says
   * how many bytes; *waiting: is there more that could become old? */
  size_t Age(bool* waiting) override;
  bool Caches() override;
  /* Rounded bytes handed out, as of some moment during the call. */
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  const PoolOptions& options() const { return options_; }

 private:
  void ForkLock() override;
  void ForkUnlock(bool child) override;

  static constexpr int kShards = 8;
  static constexpr int kSlotItems = 31;
  static constexpr size_t kSmallLimit = 65536;
  static constexpr size_t kSlotBytes = 262144;  // of one size in one shard
  using Block = BlockCache::Block;
  using Blocks = std::vector<Block>;

  // Cached blocks of one small size in one shard. `count` is written under the shard's lock and
  // read without it as a hint.
  struct Slot {
    std::atomic<int> count{0};
    void* items[kSlotItems];
  };
  struct alignas(64) Shard {
    SpinLock lock;
    uint64_t hits = 0;              // guarded by lock
    std::unique_ptr<Slot[]> slots;  // one for each size class; entries guarded by lock
  };

  void InitClasses();
  int ClassOf(size_t rounded) const { return shift_ > 0 ? static_cast<int>(rounded >> shift_) : 63 - __builtin_clzll(rounded); }
  int SlotCapacity(size_t rounded) const;
  Shard& MyShard();
  void* Refill(size_t rounded, int size_class, Shard* mine);
  void FreeSmall(void* ptr, size_t rounded);
  void FreeCentral(void* ptr, size_t rounded);
  void* AllocLarge(size_t* rounded);
  size_t Round(size_t bytes) const;
  size_t Most(size_t rounded) const;
  bool OnHost() const { return ctx_.dev_type == DeviceType::kCPU; }
  uint64_t Share() const;
  void TakeExcess(uint64_t held, Blocks* blocks);  // under mutex_
  void TakeExcessOfHost(Blocks* blocks);           // under mutex_
  void Tidy(const Blocks& blocks);
  void GiveBack(const Blocks& blocks);
  void* TryCached(size_t bytes, size_t* rounded);
  void* TakePending(size_t rounded, void* stream, std::vector<engine::DeviceWorkPtr>* work);  // under mutex_; null: none
  bool Settle(bool wait);
  void* Miss(size_t bytes, size_t* taken);
  Block TakeToGrow(size_t rounded);  // under mutex_
  void* Grow(const Block& smaller, size_t rounded);
  bool EatsReserve(size_t rounded);
  void ShowRegisterRows();
  [[noreturn]] void ThrowOutOfMemory(size_t bytes, size_t rounded);
  void AddUsed(size_t rounded);
  void LockAll();
  void UnlockAll();
  void Poison(void* ptr, size_t bytes);
  void Unpoison(void* ptr, size_t bytes);

  const PoolOptions options_;
  const std::shared_ptr<StorageBackend> backend_;
  GrowingBackend* const growing_;  // the same; null: its blocks cannot grow
  const Context ctx_;
  const bool host_memory_;

  // Fixed by InitClasses, but for a forked child that closes the pool.
  size_t small_limit_ = 0;  // requests up to this are small; 0: none are
  size_t page_mask_ = 0;    // Naive: page_size - 1
  int shift_ = 0;           // Naive: log2(page_size); 0: classes are powers of two
  int num_classes_ = 0;
  bool gives_room_ = false;
  bool closed_ = false;  // a child of fork() whose backend did not survive

  std::unique_ptr<Shard[]> shards_;

  // Written by every call: kept off the cache lines that every call only reads.
  alignas(64) std::atomic<uint64_t> used_{0};
  std::atomic<uint64_t> peak_used_{0};

  alignas(64) std::mutex mutex_;  // taken before any shard's lock, and guards everything below
  BlockCache central_;
  CacheBound bound_;
  uint64_t share_ = 0;              // of a device: that much may be held in any case; 0: not asked yet
  std::atomic<bool> asked_{false};  // changed under the lock
  uint32_t tick_ = 0;
  bool ages_ = false;
  struct Pending {
    void* ptr;
    size_t rounded;
    std::vector<engine::DeviceWorkPtr> work;
  };
  std::vector<Pending> pending_;  // freed behind work under way, oldest first
  static constexpr size_t kManyPending = 64;
  std::atomic<size_t> num_pending_{0}, settle_above_{kManyPending};
  uint64_t held_ = 0;  // used + cached
  uint64_t peak_held_ = 0;
  uint64_t central_hits_ = 0;
  uint64_t misses_ = 0;
  uint64_t releases_ = 0;
  GivenBack given_back_;
};

/* Of the process's pool. */
GivenBack BoundStatsOf(Context ctx);

}  // namespace storage
}  // namespace mxnet
#endif  // MXNET_STORAGE_POOL_H_
