#include "ndarray/pinned_ring.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/device/device_interface.h"
#include "base/threads/fork_guard.h"
#include "base/threads/omp.h"
#include "mxnet/error.h"
#include "ndarray/run.h"
#include "storage/device_memory.h"

namespace mxnet {

/* All rings, for those who need their memory more. A forked child has neither the memory nor the
 * threads: it begins with none. */
struct RingList final : ForkGuarded {
  RingList() { AddForkGuarded(this, ForkLevel::kStorage); }
  void ForkLock() override { mutex.lock(); }
  void ForkUnlock(bool child) override {
    if (child) {
      rings.clear();
      ++generation;
    }
    mutex.unlock();
  }
  using Slot = PinnedRing::Slot;
  /* Moves out what no copy uses. REQUIRES: mutex held. */
  void TakeIdle(std::vector<Slot>* out) {
    for (PinnedRing* ring : rings) {
      if (!ring->busy_.try_lock()) continue;
      auto idle = std::stable_partition(ring->slots_.begin(), ring->slots_.end(),
                                        [](const Slot& s) { return s.event != nullptr && !PinnedRing::Passed(s); });
      out->insert(out->end(), idle, ring->slots_.end());
      ring->slots_.erase(idle, ring->slots_.end());
      ring->next_ = 0;
      ring->busy_.unlock();
    }
  }

  std::mutex mutex;  // guards what follows
  std::vector<PinnedRing*> rings;
  uint64_t generation = 0;
};

namespace {

constexpr int kCopiesWithoutAsking = 256;
constexpr size_t kParallelBytes = size_t{16} << 20;  // of a copy: less is not worth the threads of another team

RingList* const g_rings = new RingList;
const bool g_gives_back = (storage::SetSpareHolder(PinnedRing::GiveBackIdle), true);

thread_local PinnedRing* tls_ring = nullptr;
thread_local bool tls_over = false;
struct EndOfThread {
  ~EndOfThread() {
    tls_over = true;
    delete tls_ring;
    tls_ring = nullptr;
  }
};

void CopyHost(void* dst, const void* src, size_t bytes, bool threads) {
  if (!threads) {
    std::memcpy(dst, src, bytes);
    return;
  }
  ParallelFor(static_cast<int64_t>(bytes), int64_t{1} << 20, [dst, src](int64_t begin, int64_t end) {
    std::memcpy(static_cast<char*>(dst) + begin, static_cast<const char*>(src) + begin, static_cast<size_t>(end - begin));
  });
}

bool Pageable(Context ctx) { return ctx.dev_type == DeviceType::kCPU || ctx.dev_type == DeviceType::kCPUShared; }

}  // namespace

PinnedRing::PinnedRing(size_t chunk_bytes, int most_chunks) : chunk_bytes_(chunk_bytes), most_chunks_(static_cast<size_t>(most_chunks)) {
  std::lock_guard<std::mutex> lock(g_rings->mutex);
  g_rings->rings.push_back(this);
  generation_ = g_rings->generation;
}

PinnedRing::~PinnedRing() {
  {
    std::lock_guard<std::mutex> lock(g_rings->mutex);
    if (generation_ != g_rings->generation) return;  // all of it is the parent's
    g_rings->rings.erase(std::find(g_rings->rings.begin(), g_rings->rings.end(), this));
  }
  FinishAll();
  for (const Slot& s : slots_) Storage::Get()->Free(s.memory);
}

PinnedRing* PinnedRing::OfThread() {
  if (tls_ring == nullptr && !tls_over) {
    static thread_local EndOfThread end;
    (void)end;
    tls_ring = new PinnedRing;
  }
  return tls_ring;
}

void PinnedRing::GiveBackIdle() {
  std::vector<Slot> idle;
  {
    std::lock_guard<std::mutex> lock(g_rings->mutex);
    g_rings->TakeIdle(&idle);
  }
  for (const Slot& s : idle) {
    if (s.event != nullptr) GpuInterface().streams.get()->release(s.event);
    Storage::Get()->Free(s.memory);
  }
}

bool PinnedRing::Passed(const Slot& slot) {
  try {
    return GpuInterface().streams.get()->passed(slot.event);
  } catch (const std::exception&) {
    return false;  // whoever waits for it hears of the fault
  }
}

void PinnedRing::Finish(Slot* slot) {
  if (slot->event == nullptr) return;
  struct Release {
    Slot* slot;
    ~Release() {
      GpuInterface().streams.get()->release(slot->event);
      slot->event = nullptr;
    }
  } release{slot};
  GpuInterface().streams.get()->finish(slot->event);
}

void PinnedRing::FinishAll() noexcept {
  for (Slot& s : slots_) {
    try {
      Finish(&s);
    } catch (const std::exception&) {
      // a fault ended the work as well, and those who wait for its results hear of it
    }
  }
}

/* One chunk more, the next to be used. */
bool PinnedRing::Grow() {
  if (slots_.size() == most_chunks_ || rests_ > 0) return false;
  try {
    Slot made;
    made.memory = Storage::Get()->Alloc(chunk_bytes_, Context::CPUPinned());
    slots_.insert(slots_.begin() + static_cast<ptrdiff_t>(next_), made);
    return true;
  } catch (const Error& e) {
    if (e.kind() != Error::Kind::kOutOfMemory) throw;
    rests_ = kCopiesWithoutAsking;
    return false;
  }
}

/* The chunk whose last use is over, or will be first. */
PinnedRing::Slot& PinnedRing::NextFree() {
  if (next_ == slots_.size()) next_ = 0;
  if (slots_.empty() || (slots_[next_].event != nullptr && !Passed(slots_[next_]))) Grow();
  Slot& slot = slots_[next_++];
  Finish(&slot);
  return slot;
}

/* One copy on the stream, and an event behind it. */
void PinnedRing::Put(Slot* slot, void* dst, Context dst_ctx, const void* src, Context src_ctx, size_t bytes, void* stream) {
  const StreamHooks* hooks = GpuInterface().streams.get();
  try {
    GpuInterface().copies->copy(dst, dst_ctx, src, src_ctx, bytes, stream);
    slot->event = hooks->record(stream);
  } catch (...) {
    try {
      hooks->synchronize(stream);  // the chunk may be in use, and no event says until when
    } catch (const std::exception&) {
      // the first error is told
    }
    throw;
  }
}

void PinnedRing::ToDevice(char* dst, Context dst_ctx, const char* src, Context, size_t bytes, void* stream) {
  for (size_t at = 0; at < bytes;) {
    const size_t part = std::min(chunk_bytes_, bytes - at);
    Slot& slot = NextFree();
    CopyHost(slot.memory.dptr, src + at, part, bytes >= kParallelBytes);
    Put(&slot, dst + at, dst_ctx, slot.memory.dptr, Context::CPUPinned(), part, stream);
    at += part;
  }
}

void PinnedRing::ToHost(char* dst, Context, const char* src, Context src_ctx, size_t bytes, void* stream) {
  const size_t parts = (bytes + chunk_bytes_ - 1) / chunk_bytes_;
  next_ = 0;
  while (slots_.size() < parts && Grow()) {
  }
  const size_t num = std::min(slots_.size(), parts);
  const auto size = [&](size_t i) { return std::min(chunk_bytes_, bytes - i * chunk_bytes_); };
  // Parts [i - num, i) are on their way when part i comes: the first of them makes room.
  for (size_t i = 0; i < parts + num; ++i) {
    Slot& slot = slots_[i % num];
    Finish(&slot);
    if (i >= num) CopyHost(dst + (i - num) * chunk_bytes_, slot.memory.dptr, size(i - num), bytes >= kParallelBytes);
    if (i < parts) Put(&slot, slot.memory.dptr, Context::CPUPinned(), src + i * chunk_bytes_, src_ctx, size(i), stream);
  }
}

bool PinnedRing::Copy(void* dst, Context dst_ctx, const void* src, Context src_ctx, size_t bytes, void* stream) {
  if (bytes == 0) return true;
  std::lock_guard<storage::SpinLock> owner(busy_);
  if (__atomic_load_n(&g_rings->generation, __ATOMIC_RELAXED) != generation_)
    return false;  // the memory is the parent's; its hooks say what else is wrong
  if (rests_ > 0) --rests_;
  if (slots_.empty() && !Grow()) return false;
  try {
    if (dst_ctx.is_gpu())
      ToDevice(static_cast<char*>(dst), dst_ctx, static_cast<const char*>(src), src_ctx, bytes, stream);
    else
      ToHost(static_cast<char*>(dst), dst_ctx, static_cast<const char*>(src), src_ctx, bytes, stream);
  } catch (...) {
    FinishAll();
    throw;
  }
  return true;
}

void CopyWithDevice(void* dst, Context dst_ctx, const void* src, Context src_ctx, size_t bytes, void* stream) {
  const StreamHooks* hooks = GpuInterface().streams.get();
  if (bytes > PinnedRing::kDirectBytes && stream != nullptr && hooks != nullptr && hooks->record != nullptr &&
      (Pageable(dst_ctx) || Pageable(src_ctx))) {
    PinnedRing* ring = PinnedRing::OfThread();
    if (ring != nullptr && ring->Copy(dst, dst_ctx, src, src_ctx, bytes, stream)) return;
  }
  GpuInterface().copies->copy(dst, dst_ctx, src, src_ctx, bytes, stream);
}

}  // namespace mxnet
