#include "ndarray/narrow_columns.h"

#include <atomic>
#include <mutex>
#include <unordered_map>

#include "base/threads/fork_guard.h"
#include "base/threads/omp.h"

namespace mxnet {
namespace {

// Elements from which reading indices costs more than what stands around.
constexpr int64_t kLarge = 1 << 15;

struct Kept {
  StorageHandle memory;
  int bytes = 0;  // of a number; 0: asked for once
};

ForkMutex* const g_mutex = new ForkMutex(ForkLevel::kNDArray);
auto* const g_kept = new std::unordered_map<const SparseParts*, Kept>;  // guarded by g_mutex
std::atomic<size_t> g_count{0};                                         // of what is in g_kept

template <typename T>
void Fill(const int64_t* from, int64_t count, T* to) {
  ParallelFor(count, 1 << 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = static_cast<T>(from[i]);
  });
}

}  // namespace

NarrowColumns NarrowColumnsOf(const SparseParts& csr) {
  const int64_t count = csr.stored(), columns = csr.shape[1];
  if (count < kLarge || columns > int64_t{1} << 32 || csr.ctx.is_gpu()) return {};
  std::lock_guard<ForkMutex> lock(*g_mutex);
  const auto [at, first] = g_kept->try_emplace(&csr);
  g_count.store(g_kept->size(), std::memory_order_release);
  if (first) return {};
  Kept& kept = at->second;
  if (kept.bytes == 0) {
    const int bytes = columns <= 1 << 16 ? 2 : 4;
    kept.memory = Storage::Get()->Alloc(static_cast<size_t>(count) * static_cast<size_t>(bytes), csr.ctx);
    const int64_t* const from = csr.index[SparseParts::kColumns].data<int64_t>();
    if (bytes == 2)
      Fill(from, count, static_cast<uint16_t*>(kept.memory.dptr));
    else
      Fill(from, count, static_cast<uint32_t*>(kept.memory.dptr));
    kept.bytes = bytes;
  }
  return {kept.memory.dptr, kept.bytes};
}

void DropNarrowColumns(const SparseParts* parts) {
  if (g_count.load(std::memory_order_acquire) == 0) return;
  StorageHandle memory;
  {
    std::lock_guard<ForkMutex> lock(*g_mutex);
    const auto at = g_kept->find(parts);
    if (at == g_kept->end()) return;
    memory = at->second.memory;
    g_kept->erase(at);
    g_count.store(g_kept->size(), std::memory_order_release);
  }
  Storage::Get()->Free(memory);
}

}  // namespace mxnet
