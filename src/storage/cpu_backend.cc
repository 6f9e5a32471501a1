#include "storage/cpu_backend.h"

#include <sys/mman.h>

#include <cstdlib>

#include "base/huge_pages.h"
#include "base/round_up.h"

namespace mxnet {
namespace storage {
namespace {

// Blocks from kHugePage on are mapped by themselves, on the boundary of a huge page.
constexpr size_t kPage = 4096;

size_t MappedBytes(size_t bytes) { return RoundUp(bytes, kPage); }

void* MapHuge(size_t bytes) {
  char* const begin = MapAligned(bytes);
  // First touch of large temporaries is dominated by page faults: one per 2 MiB instead of 512.
  if (begin != nullptr) madvise(begin, MappedBytes(bytes), MADV_HUGEPAGE);
  return begin;
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
