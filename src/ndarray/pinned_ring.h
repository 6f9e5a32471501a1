/*
 * Copies between pageable host memory and a GPU, through a ring of page-locked chunks: while the
 * device copies one chunk, the host fills or empties another. Each thread that copies has a ring of
 * its own. What is decided is host code in every build; a device does its part behind
 * StreamHooks (events) and CopyHooks (one copy on a stream).
 */
#ifndef MXNET_NDARRAY_PINNED_RING_H_
#define MXNET_NDARRAY_PINNED_RING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mxnet/storage.h"
#include "storage/spin_lock.h"

namespace mxnet {

class PinnedRing {
 public:
  static constexpr size_t kChunkBytes = size_t{4} << 20;  // some 80 us of a PCIe 5 link
  static constexpr int kMostChunks = 4;
  /* Copies up to this size go directly: the driver takes those of pageable memory into its command
   * buffer. */
  static constexpr size_t kDirectBytes = size_t{64} << 10;

  /* Takes memory when copies need it, from the pool of pinned memory. */
  explicit PinnedRing(size_t chunk_bytes = kChunkBytes, int most_chunks = kMostChunks);
  /* Waits for what is under way. */
  ~PinnedRing();
  PinnedRing(const PinnedRing&) = delete;
  PinnedRing& operator=(const PinnedRing&) = delete;

  /*
   * One copy, one of its sides being a GPU, on a stream with events. To a device: returns when all
   * of `src` has been read, with the rest under way on the stream. To the host: returns when `dst`
   * is complete. False, with nothing done: there is no pinned memory. After an error, which is that
   * of a hook, nothing of the copy is under way.
   */
  bool Copy(void* dst, Context dst_ctx, const void* src, Context src_ctx, size_t bytes, void* stream);
  size_t chunks() const { return slots_.size(); }

  /* The calling thread's; null while the thread ends. */
  static PinnedRing* OfThread();
  /* Frees the chunks of all rings that no copy uses. Takes locks of the level kStorage, one at a
   * time. */
  static void GiveBackIdle();

 private:
  friend struct RingList;
  struct Slot {
    StorageHandle memory;
    void* event = nullptr;  // behind the device's last use
  };
  void ToDevice(char* dst, Context dst_ctx, const char* src, Context src_ctx, size_t bytes, void* stream);
  void ToHost(char* dst, Context dst_ctx, const char* src, Context src_ctx, size_t bytes, void* stream);
  Slot& NextFree();
  bool Grow();
  void Put(Slot* slot, void* dst, Context dst_ctx, const void* src, Context src_ctx, size_t bytes, void* stream);
  static bool Passed(const Slot& slot);
  static void Finish(Slot* slot);
  void FinishAll() noexcept;

  const size_t chunk_bytes_;
  const size_t most_chunks_;
  storage::SpinLock busy_;   // held by the owner during a copy; guards what follows
  std::vector<Slot> slots_;  // in the order of their use, from next_
  size_t next_ = 0;
  int rests_ = 0;            // copies to come that ask for no more memory, because it was refused
  uint64_t generation_ = 0;  // of processes: a forked child does not have the memory
};

/* Puts `bytes` on `stream` as CopyHooks does, pageable memory through the thread's ring. REQUIRES:
 * the GPU has CopyHooks, at least one side is a GPU. */
void CopyWithDevice(void* dst, Context dst_ctx, const void* src, Context src_ctx, size_t bytes, void* stream);

}  // namespace mxnet
#endif  // MXNET_NDARRAY_PINNED_RING_H_
