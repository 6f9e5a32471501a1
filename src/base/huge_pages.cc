#include "base/huge_pages.h"

#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/round_up.h"

namespace mxnet {
namespace {

constexpr size_t kPage = 4096;
constexpr double kSlowMs = 1;                        // of a huge page's first touch: 512 small ones take less
constexpr int kSmallAfterSlow = 8, kMost = 128;      // pages that are small after a slow one, twice as many after the next
constexpr int kFastInRow = 64, kHugeAfterFast = 15;  // after so many fast ones, pages that are not touched after each

std::atomic<int> g_small{0}, g_huge{0};  // pages left of these
std::atomic<int> g_next_small{kSmallAfterSlow}, g_fast{0};

/* Of this thread: others may have the processor meanwhile. */
double ThreadMs() {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
}

/* What `get` took tells about the pages to come. */
template <typename Get>
void Time(const Get& get) {
  const double begin = ThreadMs();
  get();
  if (ThreadMs() - begin > kSlowMs) {
    const int next = g_next_small.load(std::memory_order_relaxed);
    g_small.store(next, std::memory_order_relaxed);
    g_next_small.store(std::min(kMost, 2 * next), std::memory_order_relaxed);
    g_fast.store(0, std::memory_order_relaxed);
    return;
  }
  g_small.store(0, std::memory_order_relaxed);
  g_next_small.store(kSmallAfterSlow, std::memory_order_relaxed);
  const int fast = std::min(kFastInRow, g_fast.load(std::memory_order_relaxed) + 1);
  g_fast.store(fast, std::memory_order_relaxed);
  g_huge.store(fast < kFastInRow ? 0 : kHugeAfterFast, std::memory_order_relaxed);
}

/* So many of `most` pages as are left; fewer are from now on. */
size_t TakeLeft(std::atomic<int>* left, size_t most) {
  const int now = left->load(std::memory_order_relaxed);
  const size_t taken = std::min(most, static_cast<size_t>(std::max(0, now)));
  if (taken > 0) left->store(now - static_cast<int>(taken), std::memory_order_relaxed);
  return taken;
}

}  // namespace

char* MapAligned(size_t bytes, int flags) {
  const size_t length = RoundUp(bytes, kPage);
  if (length > SIZE_MAX - kHugePage) return nullptr;
  void* const raw = mmap(nullptr, length + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(raw);
  const size_t before = (kHugePage - reinterpret_cast<uintptr_t>(begin) % kHugePage) % kHugePage;
  if (before > 0) munmap(begin, before);
  if (before < kHugePage) munmap(begin + before + length, kHugePage - before);
  return begin + before;
}

void PrepareHugePages(const PageRange& pages, std::vector<PageRange>* small) {
  constexpr size_t kMostTouched = size_t{256} << 20;  // of what may never be written after all
  for (size_t at = 0; at < pages.bytes;) {
    char* const page = pages.begin + at;
    const size_t left = (pages.bytes - at) / kHugePage;
    if (const size_t count = TakeLeft(&g_small, left)) {
      madvise(page, count * kHugePage, MADV_NOHUGEPAGE);
      small->push_back({page, count * kHugePage});
      at += count * kHugePage;
    } else if (const size_t untimed = at < kMostTouched ? TakeLeft(&g_huge, left) : left) {
      madvise(page, untimed * kHugePage, MADV_HUGEPAGE);
      at += untimed * kHugePage;
    } else {
      madvise(page, kHugePage, MADV_HUGEPAGE);
      Time([page] { *static_cast<volatile char*>(page) = 0; });
      at += kHugePage;
    }
  }
}

void AssumeSlowPages(int count) { g_small.store(count, std::memory_order_relaxed); }

void JoinToPage(char* page) {
  constexpr int kCollapse = 25;  // MADV_COLLAPSE, which older headers do not have
  madvise(page, kHugePage, MADV_HUGEPAGE);
  Time([page] { madvise(page, kHugePage, kCollapse); });
}

void JoinSmallPages(const PageRange& pages, bool now) {
  madvise(pages.begin, pages.bytes, MADV_HUGEPAGE);
  for (size_t at = 0; now && at < pages.bytes && g_small.load(std::memory_order_relaxed) == 0; at += kHugePage)
    JoinToPage(pages.begin + at);
}

}  // namespace mxnet
