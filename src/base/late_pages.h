/*
 * Small pages that are to become huge when a program has run for a while, one after the other: huge
 * ones were slow to come when they were wanted (base/huge_pages.h).
 *
 * THREADS  One at a time, but for TakeTurn.
 */
#ifndef MXNET_BASE_LATE_PAGES_H_
#define MXNET_BASE_LATE_PAGES_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/huge_pages.h"

namespace mxnet {

class LatePages {
 public:
  /* Whole huge pages' worth of small ones. The first is joined a second after the first Add. */
  void Add(const PageRange& pages);
  /* What lies between is given back, or about to be. */
  void Drop(const char* begin, const char* end);
  /* Is a page due, and is it for the caller to join it? */
  bool TakeTurn();
  /* Joins a page, unless nobody wrote most of it; then it stays as it is, and those that follow are
   * looked at. The next one is due when twenty times as long has passed. */
  void JoinOne();
  bool empty() const { return pages_.empty(); }

 private:
  std::atomic<int64_t> due_{0};  // milliseconds; 0: there is none
  std::vector<char*> pages_;
};

}  // namespace mxnet
#endif  // MXNET_BASE_LATE_PAGES_H_
