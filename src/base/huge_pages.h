/*
 * Which pages of fresh memory are huge. They spare page faults and misses of the translation
 * buffer. But the host of a virtual machine takes large pieces of free memory back, and to get one
 * again takes it 3 to 5 ms, fifty times as long as one that is still there, and four times as long
 * as 512 small pages. Those that are still there lie first in the kernel's list, so that a page
 * tells nothing about pages that are touched after others. So pages are touched in their order,
 * each is timed, and where one was slow the next are small. Where none ever is, most are left to
 * the threads that write them, which may run near other memory.
 *
 * THREADS  everything may be called from any thread.
 */
#ifndef MXNET_BASE_HUGE_PAGES_H_
#define MXNET_BASE_HUGE_PAGES_H_

#include <cstddef>
#include <vector>

#include "mxnet/base.h"

namespace mxnet {

constexpr size_t kHugePage = size_t{2} << 20;

struct PageRange {
  char* begin;
  size_t bytes;
};

/* Address space of whole small pages, from the boundary of a huge page on, for munmap. Null: there
 * is none. `flags`: of mmap, beside the usual ones. */
char* MapAligned(size_t bytes, int flags = 0);
/*
 * For whole huge pages that nobody has touched, and that are written soon: makes them huge, and
 * touches them, or small ones; those are added to `small`.
 */
void PrepareHugePages(const PageRange& pages, std::vector<PageRange>* small);
/* Small pages that are written may become huge: where `now`, at once, unless huge pages were slow
 * to come lately; else when the kernel gets round to it. */
void JoinSmallPages(const PageRange& pages, bool now);
/* The same at once for the small pages of one huge page, whatever it takes. */
MXNET_DLL void JoinToPage(char* page);
/* For tests: so many of the next pages are small, as where huge ones are slow. */
MXNET_DLL void AssumeSlowPages(int count);

}  // namespace mxnet
#endif  // MXNET_BASE_HUGE_PAGES_H_
