#include "ndarray/spare_chunks.h"

#include "base/threads/own_variable.h"
#include "engine/var.h"
#include "mxnet/env.h"
#include "mxnet/profiler.h"
#include "storage/device_memory.h"

namespace mxnet {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kKeeps = false;  // arrays that are used after their end are to be seen
#else
constexpr bool kKeeps = true;
#endif
constexpr int kMost = 16;
constexpr size_t kLargest = 4096;  // bytes of a block

/* Plain data, for looking at it has to cost nothing. Only threads that take chunks keep some:
 * workers of the engine let go of what others made. */
struct Spare {
  enum Phase : char { kUnused, kTakes, kGone };
  Chunk* chunks[kMost];
  int count;
  Phase phase;
};
thread_local Spare t_spare;

void GiveBack() {
  Spare& spare = t_spare;
  const Spare::Phase phase = spare.phase;
  spare.phase = Spare::kGone;  // destroying asks KeepSpare again
  while (spare.count > 0) {
    Chunk* chunk = spare.chunks[--spare.count];
    chunk->refs.store(1, std::memory_order_relaxed);
    chunk->Release();
  }
  spare.phase = phase;
}

void Begin(Spare* spare) {
  static thread_local struct AtExit {
    ~AtExit() {
      GiveBack();
      t_spare.phase = Spare::kGone;
    }
  } at_exit;
  (void)&at_exit;
  // Without pools nothing is kept: each array is a block of its own, whose ends tests can watch.
  const Env& env = Env::Get();
  spare->phase = env.use_naive_storage_managers || env.cpu_mem_pool_type == "Unpooled" ? Spare::kGone : Spare::kTakes;
}

[[maybe_unused]] const bool g_told = (storage::SetThreadSpares(GiveBack), true);

}  // namespace

Chunk* TakeSpare(size_t bytes, Context ctx) {
  if (!kKeeps || bytes > kLargest) return nullptr;
  Spare& spare = *AskedOnce(&t_spare);
  if (spare.count == 0) {
    if (spare.phase == Spare::kUnused) Begin(&spare);
    return nullptr;
  }
  Chunk* chunk = spare.chunks[spare.count - 1];
  const size_t room = chunk->handle.rounded;
  if (bytes == 0 || bytes > room || chunk->ctx != ctx || profiler::RecordsMemory()) return nullptr;
  --spare.count;
  chunk->refs.store(1, std::memory_order_relaxed);
  chunk->number.store(0, std::memory_order_relaxed);
  chunk->bytes = bytes;
  chunk->handle.size = bytes;
  return chunk;
}

bool KeepSpare(Chunk* chunk) {
  if (!kKeeps || chunk->handle.rounded > kLargest || chunk->ctx.dev_type != DeviceType::kCPU) return false;
  Spare& spare = *AskedOnce(&t_spare);
  if (spare.phase != Spare::kTakes || spare.count == kMost || chunk->handle.rounded == 0 || chunk->delayed || chunk->external_deleter ||
      chunk->stored || chunk->stype != StorageType::kDense || profiler::RecordsMemory() || !chunk->var->Renew())
    return false;
  spare.chunks[spare.count++] = chunk;
  return true;
}

}  // namespace mxnet
