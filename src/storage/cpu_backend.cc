#include "storage/cpu_backend.h"

#include <sys/mman.h>

#include <cstdlib>

#include "base/round_up.h"

namespace mxnet {
namespace storage {
namespace {

// Blocks from this size are mapped by themselves, on the boundary of a huge page.
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kPage = 4096;

size_t MappedBytes(size_t bytes) { return RoundUp(bytes, kPage); }

void* MapHuge(size_t bytes) {
  const size_t length = MappedBytes(bytes);
  if (length > SIZE_MAX - kHugePage) return nullptr;
  void* raw = mmap(nullptr, length + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  char* begin = static_cast<char*>(raw);
  const size_t before = (kHugePage - reinterpret_cast<uintptr_t>(begin) % kHugePage) % kHugePage;
  if (before > 0) munmap(begin, before);
  if (before < kHugePage) munmap(begin + before + length, kHugePage - before);
  // First touch of large temporaries is dominated by page faults: one per 2 MiB instead of 512.
  madvise(begin + before, length, MADV_HUGEPAGE);
  return begin + before;
}

}  // namespace

void* CpuBackend::Malloc(size_t bytes, size_t alignment) {
  if (bytes >= kHugePage) {
    size_t free_bytes = 0, total_bytes = 0;
    memory_.Get(&free_bytes, &total_bytes);
    if (total_bytes > 0 && bytes > free_bytes) return nullptr;
  }
  void* ptr = nullptr;
  if (bytes >= kHugePage) {
    ptr = MapHuge(bytes);
  } else if (posix_memalign(&ptr, alignment, bytes) != 0) {
    ptr = nullptr;
  }
  if (ptr != nullptr) memory_.Took(bytes);
  return ptr;
}

void CpuBackend::Spare(void* ptr, size_t used, size_t bytes) {
  if (bytes < kHugePage) return;
  const size_t whole = used & ~(kHugePage - 1);
  if (whole < bytes) madvise(static_cast<char*>(ptr) + whole, MappedBytes(bytes - whole), MADV_NOHUGEPAGE);
}

void CpuBackend::Free(void* ptr, size_t bytes) {
  if (bytes >= kHugePage) {
    munmap(ptr, MappedBytes(bytes));
  } else {
    free(ptr);
  }
  memory_.Gave(bytes);
}

void CpuBackend::MemInfo(size_t* free_bytes, size_t* total_bytes) { memory_.Get(free_bytes, total_bytes); }

}  // namespace storage
}  // namespace mxnet
