#include "storage/pool.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>

#include "engine/gpu_streams.h"
#include "mxnet/profiler.h"
#include "storage/device_memory.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace mxnet {
namespace storage {
namespace {

constexpr size_t kLargeBlock = size_t{2} << 20;
constexpr size_t kPageAlignment = 4096;
constexpr size_t kCpuAlignment = 64;
constexpr size_t kGpuAlignment = 256;

std::atomic<void (*)()> g_spare_holder{nullptr}, g_thread_spares{nullptr};

/* "64 GiB, " or " (64 GiB)": large numbers of bytes once more for people. */
std::string InUnits(size_t bytes, bool brackets = false) {
  if (bytes < size_t{1} << 20) return "";
  const bool giga = bytes >= size_t{1} << 30;
  char text[32];
  std::snprintf(text, sizeof text, "%.4g %s", std::ldexp(static_cast<double>(bytes), giga ? -30 : -20), giga ? "GiB" : "MiB");
  return brackets ? std::string(" (") + text + ")" : std::string(text) + ", ";
}

bool IsPowerOfTwo(size_t n) { return n != 0 && (n & (n - 1)) == 0; }

// Not initial-exec: that would put the whole library into the static TLS block, which is too small
// for libraries that dlopen loads.
thread_local unsigned thread_number = 0;

__attribute__((noinline)) unsigned NumberThread() {
  static std::atomic<unsigned> next{0};
  return thread_number = next.fetch_add(1, std::memory_order_relaxed) + 1;
}

size_t AlignmentOf(Context ctx, size_t rounded) {
  if (ctx.is_gpu()) return kGpuAlignment;
  return rounded >= kLargeBlock ? kPageAlignment : kCpuAlignment;
}

}  // namespace

Pool::Pool(const PoolOptions& options, std::shared_ptr<StorageBackend> backend, Context ctx, bool host_memory)
    : options_(options),
      backend_(std::move(backend)),
      growing_(dynamic_cast<GrowingBackend*>(backend_.get())),
      ctx_(ctx),
      host_memory_(host_memory) {
  InitClasses();
  if (num_classes_ > 0) {
    shards_.reset(new Shard[kShards]);
    for (int i = 0; i < kShards; ++i) shards_[i].slots.reset(new Slot[num_classes_]);
  }
  AddForkGuarded(this, ForkLevel::kStorage);
}

Pool::~Pool() {
  if (ages_) PurgeThread::Remove(this);
  RemoveForkGuarded(this);
  if (!closed_) ReleaseAll();
}

void SetSpareHolder(void (*give_back)()) { g_spare_holder.store(give_back, std::memory_order_release); }
void SetThreadSpares(void (*give_back)()) { g_thread_spares.store(give_back, std::memory_order_release); }
void GiveBackSpare(Context ctx) {
  void (*give_back)() = ctx.dev_type == DeviceType::kCPUPinned ? g_spare_holder.load(std::memory_order_acquire)
                        : ctx.dev_type == DeviceType::kCPU     ? g_thread_spares.load(std::memory_order_acquire)
                                                               : nullptr;
  if (give_back != nullptr) give_back();
}

void Pool::InitClasses() {
  if (options_.type == PoolType::kRound) {
    small_limit_ = size_t{1} << std::clamp(options_.round_linear_cutoff, 0, 16);
    num_classes_ = ClassOf(small_limit_) + 1;
  } else if (options_.type == PoolType::kNaive) {
    // Other page sizes are served by the central cache alone: correct, a little slower.
    const size_t page = options_.page_size;
    if (!IsPowerOfTwo(page) || page < 1024 || page > kSmallLimit) return;
    small_limit_ = std::min(kSmallLimit, options_.large_alloc_round_size) & ~(page - 1);
    if (small_limit_ == 0) return;
    page_mask_ = page - 1;
    shift_ = __builtin_ctzll(page);
    num_classes_ = ClassOf(small_limit_) + 1;
  }
}

int Pool::SlotCapacity(size_t rounded) const { return static_cast<int>(std::clamp<size_t>(kSlotBytes / rounded, 4, kSlotItems)); }

Pool::Shard& Pool::MyShard() {
  const unsigned number = __builtin_expect(thread_number != 0, 1) ? thread_number : NumberThread();
  return shards_[number % kShards];
}

void Pool::AddUsed(size_t rounded) {
  const uint64_t used = used_.fetch_add(rounded, std::memory_order_relaxed) + rounded;
  uint64_t peak = peak_used_.load(std::memory_order_relaxed);
  while (used > peak && !peak_used_.compare_exchange_weak(peak, used, std::memory_order_relaxed)) {
  }
}

void* Pool::Alloc(size_t bytes, size_t* rounded) {
  void* ptr = TryCached(bytes, rounded);
  if (ptr == nullptr && num_pending_.load(std::memory_order_relaxed) > 0 && Settle(false)) ptr = TryCached(bytes, rounded);
  if (ptr == nullptr) ptr = Miss(bytes, rounded);
  Unpoison(ptr, bytes);
  return ptr;
}

void Pool::FreeBehind(void* ptr, size_t rounded, std::vector<engine::DeviceWorkPtr> work) {
  bool passed = true;  // as far as is known: asking each time would cost a call of the driver for each array that goes
  for (const engine::DeviceWorkPtr& w : work) passed = passed && w->passed.load(std::memory_order_acquire);
  if (passed) return Free(ptr, rounded);
  {
    std::lock_guard<std::mutex> guard(mutex_);
    if (closed_) return;
    pending_.push_back({ptr, rounded, std::move(work)});
    num_pending_.store(pending_.size(), std::memory_order_relaxed);
  }
  if (num_pending_.load(std::memory_order_relaxed) > settle_above_.load(std::memory_order_relaxed)) Settle(false);
}

/*
 * A block freed behind work under way. Without a stream any does: the latest, as others have more
 * time to become free. For a stream: one that its own work used last; else the oldest, when its
 * work is over; else, when there are so many that streams need not wait for each other often, the
 * oldest all the same.
 */
void* Pool::TakePending(size_t rounded, void* stream, std::vector<engine::DeviceWorkPtr>* work) {
  constexpr int kManyOfOneSize = 4;
  size_t chosen = pending_.size(), oldest = chosen;
  int same_size = 0;
  for (size_t i = pending_.size(); i-- > 0 && chosen == pending_.size();) {
    const Pending& p = pending_[i];
    if (p.rounded != rounded) continue;
    oldest = i;
    ++same_size;
    bool fits = true;
    for (size_t k = 0; fits && stream != nullptr && k < p.work.size(); ++k) fits = p.work[k]->stream == stream;
    if (fits) chosen = i;
  }
  if (chosen == pending_.size() && same_size > 0) {
    bool passed = true;
    for (const engine::DeviceWorkPtr& w : pending_[oldest].work) passed = passed && w->Passed();
    if (passed || (same_size >= kManyOfOneSize && !engine::IsCaptured(stream))) chosen = oldest;
  }
  if (chosen == pending_.size()) return nullptr;
  void* ptr = pending_[chosen].ptr;
  work->swap(pending_[chosen].work);
  pending_.erase(pending_.begin() + static_cast<ptrdiff_t>(chosen));
  num_pending_.store(pending_.size(), std::memory_order_relaxed);
  ++central_hits_;
  return ptr;
}

void* Pool::AllocBehind(size_t bytes, size_t* rounded, void* stream, std::vector<engine::DeviceWorkPtr>* work) {
  if (num_pending_.load(std::memory_order_relaxed) > 0 && options_.type != PoolType::kUnpooled) {
    if (void* ptr = TryCached(bytes, rounded)) {
      Unpoison(ptr, bytes);
      return ptr;
    }
    std::lock_guard<std::mutex> guard(mutex_);
    if (void* ptr = TakePending(*rounded, stream, work)) {
      Unpoison(ptr, bytes);
      return ptr;
    }
  }
  return Alloc(bytes, rounded);
}

/* Gives what nobody uses any more to the cache, or after waiting all of it; true if there was
 * something. */
bool Pool::Settle(bool wait) {
  std::vector<Pending> over;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    const auto passed = [wait](const Pending& p) {
      for (const engine::DeviceWorkPtr& w : p.work)
        if (!wait && !w->Passed()) return false;
      return true;
    };
    size_t kept = 0;
    for (Pending& p : pending_) {
      if (passed(p))
        over.push_back(std::move(p));
      else if (&pending_[kept++] != &p)
        pending_[kept - 1] = std::move(p);
    }
    pending_.resize(kept);
    num_pending_.store(kept, std::memory_order_relaxed);
    settle_above_.store(std::max(kManyPending, 2 * kept),
                        std::memory_order_relaxed);  // a device that is late is not asked about all of them at each free
  }
  for (Pending& p : over) {
    for (const engine::DeviceWorkPtr& w : p.work) {
      try {
        if (wait) w->Finish();
      } catch (const std::exception&) {
        // a fault ended the work as well; whoever waits for its results hears of it
      }
    }
    Free(p.ptr, p.rounded);
  }
  return !over.empty();
}

void* Pool::TryCached(size_t bytes, size_t* rounded) {
  void* ptr = nullptr;
  if (bytes <= small_limit_) {
    if (shift_ > 0) {
      *rounded = (bytes + page_mask_) & ~page_mask_;
    } else {
      *rounded = bytes == 1 ? 1 : size_t{1} << (64 - __builtin_clzll(bytes - 1));
    }
    const int size_class = ClassOf(*rounded);
    Shard& shard = MyShard();
    Slot& slot = shard.slots[size_class];
    if (slot.count.load(std::memory_order_relaxed) > 0) {
      shard.lock.lock();
      const int count = slot.count.load(std::memory_order_relaxed);
      if (count > 0) {
        ptr = slot.items[count - 1];
        slot.count.store(count - 1, std::memory_order_relaxed);
        ++shard.hits;
        AddUsed(*rounded);
      }
      shard.lock.unlock();
    }
    if (ptr == nullptr) ptr = Refill(*rounded, size_class, &shard);
  } else {
    *rounded = Round(bytes);
    ptr = AllocLarge(rounded);
  }
  return ptr;
}

/* Takes one block for the caller and a few more for its shard: from the central cache, else from
 * another shard. */
void* Pool::Refill(size_t rounded, int size_class, Shard* mine) {
  void* batch[kSlotItems];
  int count = 0;
  const int wanted = SlotCapacity(rounded) / 2 + 1;
  const auto keep_rest = [&] {  // blocks 1.. of the batch go to `mine`, or back to the central cache when it has filled up meanwhile
    Slot& slot = mine->slots[size_class];
    mine->lock.lock();
    int have = slot.count.load(std::memory_order_relaxed);
    while (count > 1 && have < SlotCapacity(rounded)) slot.items[have++] = batch[--count];
    slot.count.store(have, std::memory_order_relaxed);
    mine->lock.unlock();
  };
  {
    // Blocks change place under the central mutex only, so that a snapshot (Stats, ReleaseAll) sees
    // all of them.
    std::lock_guard<std::mutex> guard(mutex_);
    while (count < wanted) {
      const Block block = central_.Take(rounded, rounded);
      if (!block) break;
      batch[count++] = block.ptr;
    }
    for (int i = 0; i < kShards && count == 0; ++i) {
      Slot& slot = shards_[i].slots[size_class];
      if (slot.count.load(std::memory_order_relaxed) == 0) continue;
      shards_[i].lock.lock();
      int have = slot.count.load(std::memory_order_relaxed);
      for (int take = (have + 1) / 2; take > 0; --take) batch[count++] = slot.items[--have];
      slot.count.store(have, std::memory_order_relaxed);
      shards_[i].lock.unlock();
    }
    if (count == 0) return nullptr;
    ++central_hits_;
    AddUsed(rounded);
    bound_.Served(static_cast<uint64_t>(count) * rounded, used());
    keep_rest();
    for (; count > 1; --count) central_.Put(batch[count - 1], rounded, tick_);
  }
  return batch[0];
}

/* A quarter of the power of two below. */
static size_t QuarterStep(size_t bytes) { return (size_t{1} << (63 - __builtin_clzll(bytes))) / 4; }

size_t Pool::Round(size_t bytes) const {
  const size_t rounded = options_.Round(bytes);
  if (!gives_room_ || shift_ == 0 || rounded <= kSmallLimit || rounded > std::min(kLargeBlock, options_.large_alloc_round_size))
    return rounded;
  if (rounded % QuarterStep(rounded) == 0) return rounded;
  const size_t least = rounded + rounded / 16, step = QuarterStep(least), with_room = (least + step - 1) & ~(step - 1);
  return step <= page_mask_ || with_room >= kLargeBlock ? rounded : with_room;
}

/* A block of up to so many bytes serves a request as well. On devices, where most blocks are
 * pending when they are asked for again, sizes are kept apart. */
size_t Pool::Most(size_t rounded) const { return rounded + (OnHost() && rounded >= kLargeBlock ? rounded / 8 : 0); }

void* Pool::AllocLarge(size_t* rounded) {
  if (options_.type == PoolType::kUnpooled) return nullptr;
  std::lock_guard<std::mutex> guard(mutex_);
  const Block block = central_.Take(*rounded, Most(*rounded));
  if (!block) return nullptr;
  *rounded = block.size;
  ++central_hits_;
  AddUsed(block.size);
  bound_.Served(block.size, used());
  return block.ptr;
}

bool Pool::EatsReserve(size_t rounded) {
  size_t free_bytes = 0, total_bytes = 0;
  backend_->MemInfo(&free_bytes, &total_bytes);
  if (total_bytes == 0) return false;
  const size_t percent = static_cast<size_t>(std::clamp(options_.reserve_percent, 0, 100));
  const size_t reserve = total_bytes / 100 * percent + total_bytes % 100 * percent / 100;
  return free_bytes < rounded || free_bytes - rounded < reserve;
}

/*
 * REQUIRES: mutex_ held. A block that is worth making `rounded` bytes; it is held no more. Large
 * blocks stay: requests that are smaller take them as well (Most), and a steady loop in which sizes
 * took each other's blocks would make some larger in each turn.
 */
Pool::Block Pool::TakeToGrow(size_t rounded) {
  if (growing_ == nullptr || rounded >= kLargeBlock) return Block();
  const Block block = central_.TakeBelow(rounded, std::max(rounded - rounded / 4, growing_->GrowsFrom()));
  held_ -= block.size;
  return block;
}

/* Null: it went back instead. */
void* Pool::Grow(const Block& smaller, size_t rounded) {
  Unpoison(smaller.ptr, smaller.size);
  if (!EatsReserve(rounded - smaller.size)) return growing_->Grow(smaller.ptr, smaller.size, rounded);
  backend_->Free(smaller.ptr, smaller.size);
  return nullptr;
}

void* Pool::Miss(size_t bytes, size_t* taken) {
  const size_t rounded = *taken;
  MXNET_CHECK(!closed_) << "[storage] " << ctx_.str() << " cannot be used in a process forked after CUDA was started; "
                        << "accepted: CPU memory here, or starting the process with 'spawn'";
  if (rounded == SIZE_MAX) ThrowOutOfMemory(bytes, rounded);
  Blocks excess;
  Block smaller;
  const uint64_t share = asked_.load(std::memory_order_relaxed) ? 0 : Share();  // without the lock: the backend has one of this level
  {
    std::lock_guard<std::mutex> guard(mutex_);
    ++misses_;
    if (!asked_.exchange(true, std::memory_order_relaxed)) share_ = share;
    if (options_.type != PoolType::kUnpooled) {
      bound_.Missed(rounded, tick_);
      bound_.Served(rounded, used() + rounded);
      smaller = TakeToGrow(rounded);
      TakeExcess(held_ + rounded, &excess);
    }
  }
  GiveBack(excess);
  void* ptr = smaller ? Grow(smaller, rounded) : nullptr;
  const auto reuse = [&]() -> void* {  // what work under way still holds, once it has passed
    return num_pending_.load(std::memory_order_relaxed) > 0 && Settle(true) ? TryCached(bytes, taken) : nullptr;
  };
  if (ptr == nullptr && EatsReserve(rounded)) {
    if (void* again = reuse()) return again;
    ReleaseAll();
  }
  const size_t alignment = AlignmentOf(ctx_, rounded);
  if (ptr == nullptr) ptr = backend_->Malloc(rounded, alignment);
  if (ptr == nullptr) {
    if (void* again = reuse()) return again;
    GiveBackSpare(ctx_);
    ReleaseAll();
    ptr = backend_->Malloc(rounded, alignment);
  }
  if (ptr == nullptr) ThrowOutOfMemory(bytes, rounded);
  if (growing_ != nullptr) growing_->Prepare(ptr, bytes, rounded);
  Poison(ptr, rounded);
  std::lock_guard<std::mutex> guard(mutex_);
  held_ += rounded;
  peak_held_ = std::max(peak_held_, held_);
  ShowRegisterRows();
  AddUsed(rounded);
  return ptr;
}

/* REQUIRES: mutex_ held. Asks for nothing to be decided: whoever decides may be waiting for this
 * pool. */
void Pool::ShowRegisterRows() {
  if (__builtin_expect((profiler::Active() & profiler::kMemory) != 0, 0)) profiler::RecordHeld(ctx_, held_);
}

void Pool::ThrowOutOfMemory(size_t bytes, size_t rounded) {
  size_t free_bytes = 0, total_bytes = 0;
  backend_->MemInfo(&free_bytes, &total_bytes);
  const StorageStats stats = Stats();
  std::ostringstream text;
  text << "[storage] out of memory on " << ctx_.str() << ": " << bytes << " bytes requested (";
  if (rounded == SIZE_MAX)
    text << "more than any address space";
  else
    text << InUnits(rounded) << rounded << " after rounding";
  text << "), " << stats.used_bytes << " used" << InUnits(stats.used_bytes, true) << ", " << stats.cached_bytes << " cached"
       << InUnits(stats.cached_bytes, true) << ", " << free_bytes << " free" << InUnits(free_bytes, true) << " of " << total_bytes
       << InUnits(total_bytes, true) << " in total";
  const size_t known = free_bytes + stats.used_bytes + stats.cached_bytes;
  if (ctx_.is_gpu() && known < total_bytes)
    text << ", the rest" << InUnits(total_bytes - known, true) << " held by others: other processes, libraries, the driver";
  throw Error(Error::Kind::kOutOfMemory, text.str() + "; accepted: a smaller request, or free arrays first");
}

void Pool::Free(void* ptr, size_t rounded) {
  if (options_.type == PoolType::kUnpooled) return DirectFree(ptr, rounded);
  Poison(ptr, rounded);
  if (rounded <= small_limit_) {
    FreeSmall(ptr, rounded);
  } else {
    FreeCentral(ptr, rounded);
  }
}

void Pool::FreeSmall(void* ptr, size_t rounded) {
  const int size_class = ClassOf(rounded);
  Shard& shard = MyShard();
  Slot& slot = shard.slots[size_class];
  shard.lock.lock();
  const int count = slot.count.load(std::memory_order_relaxed);
  if (__builtin_expect(count < kSlotItems && (count < 4 || count < SlotCapacity(rounded)), 1)) {
    slot.items[count] = ptr;
    slot.count.store(count + 1, std::memory_order_relaxed);
    used_.fetch_sub(rounded, std::memory_order_relaxed);
    shard.lock.unlock();
    return;
  }
  shard.lock.unlock();
  // Full: half of the slot and this block move to where every thread looks.
  Blocks excess;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    void* batch[kSlotItems];
    int moved = 0;
    shard.lock.lock();
    int have = slot.count.load(std::memory_order_relaxed);
    for (int move = have / 2; move > 0; --move) batch[moved++] = slot.items[--have];
    slot.count.store(have, std::memory_order_relaxed);
    shard.lock.unlock();
    for (int i = 0; i < moved; ++i) central_.Put(batch[i], rounded, tick_);
    central_.Put(ptr, rounded, tick_);
    used_.fetch_sub(rounded, std::memory_order_relaxed);
    TakeExcessOfHost(&excess);
  }
  Tidy(excess);
}

void Pool::FreeCentral(void* ptr, size_t rounded) {
  Blocks excess;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    if (closed_) return;
    central_.Put(ptr, rounded, tick_);
    used_.fetch_sub(rounded, std::memory_order_relaxed);
    TakeExcessOfHost(&excess);
  }
  Tidy(excess);
}

void Pool::DirectFree(void* ptr, size_t rounded) {
  {
    std::lock_guard<std::mutex> guard(mutex_);
    if (closed_) return;
    held_ -= rounded;
    ShowRegisterRows();
    used_.fetch_sub(rounded, std::memory_order_relaxed);
  }
  Unpoison(ptr, rounded);
  backend_->Free(ptr, rounded);
}

size_t Pool::ReleaseAll() {
  if (num_pending_.load(std::memory_order_relaxed) > 0) Settle(true);
  Blocks blocks;
  size_t bytes = 0;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    central_.TakeAll(&blocks);
    for (int i = 0; shards_ && i < kShards; ++i) {
      blocks.reserve(blocks.size() + static_cast<size_t>(num_classes_) * kSlotItems);
      shards_[i].lock.lock();
      for (int c = 0; c < num_classes_; ++c) {
        Slot& slot = shards_[i].slots[c];
        const size_t size = shift_ > 0 ? static_cast<size_t>(c) << shift_ : size_t{1} << c;
        for (int k = slot.count.load(std::memory_order_relaxed); k > 0; --k) blocks.push_back({slot.items[k - 1], size});
        slot.count.store(0, std::memory_order_relaxed);
      }
      shards_[i].lock.unlock();
    }
    if (blocks.empty()) return 0;
    for (const Block& block : blocks) bytes += block.size;
    held_ -= bytes;
    ShowRegisterRows();
    ++releases_;
  }
  GiveBack(blocks);
  return bytes;
}

StorageStats Pool::Stats() {
  if (num_pending_.load(std::memory_order_relaxed) > 0) Settle(false);
  StorageStats stats;
  LockAll();
  stats.used_bytes = used_.load(std::memory_order_relaxed);
  stats.cached_bytes = held_ - stats.used_bytes;
  stats.peak_bytes = peak_held_;
  stats.peak_used_bytes = peak_used_.load(std::memory_order_relaxed);
  stats.hits = central_hits_;
  for (int i = 0; shards_ && i < kShards; ++i) stats.hits += shards_[i].hits;
  stats.misses = misses_;
  stats.releases = releases_;
  UnlockAll();
  return stats;
}

void Pool::ResetPeak() {
  LockAll();
  peak_held_ = held_;
  peak_used_.store(used_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  UnlockAll();
}

void Pool::LockAll() {
  mutex_.lock();
  for (int i = 0; shards_ && i < kShards; ++i) shards_[i].lock.lock();
}

void Pool::UnlockAll() {
  for (int i = 0; shards_ && i < kShards; ++i) shards_[i].lock.unlock();
  mutex_.unlock();
}

void Pool::ForkLock() { LockAll(); }

void Pool::ForkUnlock(bool child) {
  if (child && !backend_->SurvivesFork()) {
    // The parent owns the memory: forget the cache, and serve nothing from here on.
    for (int i = 0; shards_ && i < kShards; ++i) {
      for (int c = 0; c < num_classes_; ++c) shards_[i].slots[c].count.store(0, std::memory_order_relaxed);
    }
    central_ = BlockCache();
    new std::vector<Pending>(std::move(pending_));  // leaked: their events are the parent's
    pending_.clear();
    num_pending_.store(0, std::memory_order_relaxed);
    held_ = used_.load(std::memory_order_relaxed);
    small_limit_ = 0;
    closed_ = true;
  }
  UnlockAll();
}

void Pool::Poison(void* ptr, size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  if (host_memory_) __asan_poison_memory_region(ptr, bytes);
#else
  (void)ptr, (void)bytes;
#endif
}

void Pool::Unpoison(void* ptr, size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  if (host_memory_) __asan_unpoison_memory_region(ptr, bytes);
#else
  (void)ptr, (void)bytes;
#endif
}

}  // namespace storage
}  // namespace mxnet
