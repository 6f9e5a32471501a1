#include "storage/cpu_backend.h"

#include <sys/mman.h>

#include <cstdlib>
#include <vector>

#include "base/huge_pages.h"
#include "base/round_up.h"
#include "storage/late_blocks.h"

namespace mxnet {
namespace storage {
namespace {

// Blocks from kMapped on are mapped by themselves, from kHugePage on to the boundary of a huge
// page. Those between can grow: the kernel moves their pages, which takes a thirtieth of the time
// that new ones do.
constexpr size_t kPage = 4096, kMapped = size_t{256} << 10;

size_t MappedBytes(size_t bytes) { return RoundUp(bytes, kPage); }

void* Map(size_t bytes) {
  void* const begin = mmap(nullptr, MappedBytes(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return begin == MAP_FAILED ? nullptr : begin;
}

// In the middle of other blocks a process may have too many mappings for one more hole.
void Unmap(void* ptr, size_t bytes) {
  if (munmap(ptr, bytes) != 0) madvise(ptr, bytes, MADV_DONTNEED);
}

}  // namespace

size_t CpuBackend::GrowsFrom() const { return kMapped; }

void* CpuBackend::Grow(void* ptr, size_t from, size_t to) {
  void* const grown = mremap(ptr, MappedBytes(from), MappedBytes(to), MREMAP_MAYMOVE);
  if (grown == MAP_FAILED) {
    Free(ptr, from);
    return nullptr;
  }
  memory_.Took(to - from);
  return grown;
}

void* CpuBackend::Malloc(size_t bytes, size_t alignment) {
  if (bytes >= kHugePage) {
    size_t free_bytes = 0, total_bytes = 0;
    memory_.Get(&free_bytes, &total_bytes);
    if (total_bytes > 0 && bytes > free_bytes) return nullptr;
  }
  void* ptr = nullptr;
  if (bytes >= kHugePage) {
    ptr = MapAligned(bytes);  // on small pages until Prepare
  } else if (bytes >= kMapped) {
    ptr = Map(bytes);
  } else if (posix_memalign(&ptr, alignment, bytes) != 0) {
    ptr = nullptr;
  }
  if (ptr != nullptr) memory_.Took(bytes);
  return ptr;
}

// First touch of large temporaries is dominated by page faults: one per 2 MiB instead of 512. The
// page that `used` ends in need not be there as a whole.
void CpuBackend::Prepare(void* ptr, size_t used, size_t bytes) {
  if (bytes < kHugePage) return;
  char* const begin = static_cast<char*>(ptr);
  const size_t whole = used & ~(kHugePage - 1);
  if (whole < bytes) madvise(begin + whole, MappedBytes(bytes - whole), MADV_NOHUGEPAGE);
  std::vector<PageRange> small;
  PrepareHugePages({begin, whole}, &small);
  for (const PageRange& pages : small) LateBlocks::Add(pages);
}

void CpuBackend::Free(void* ptr, size_t bytes) {
  if (bytes >= kHugePage) LateBlocks::Drop(ptr, bytes);
  if (bytes >= kMapped) {
    Unmap(ptr, MappedBytes(bytes));
  } else {
    free(ptr);
  }
  memory_.Gave(bytes);
}

void CpuBackend::MemInfo(size_t* free_bytes, size_t* total_bytes) { memory_.Get(free_bytes, total_bytes); }

}  // namespace storage
}  // namespace mxnet
