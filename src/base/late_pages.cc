#include "base/late_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>

namespace mxnet {
namespace {

constexpr int64_t kLater = 1000, kRest = 20;  // ms until the first; until the next, times what one took

int64_t Milliseconds() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/* To join a page takes memory for all of it. */
bool IsWritten(char* page) {
  constexpr int kParts = kHugePage / 4096, kMost = kParts / 8 * 7;
  unsigned char there[kParts];
  if (mincore(page, kHugePage, there) != 0) return false;
  return std::count_if(there, there + kParts, [](unsigned char part) { return (part & 1) != 0; }) >= kMost;
}

}  // namespace

void LatePages::Add(const PageRange& pages) {
  for (size_t at = 0; at < pages.bytes; at += kHugePage) pages_.push_back(pages.begin + at);
  if (!pages_.empty() && due_ == 0) due_ = Milliseconds() + kLater;
}

void LatePages::Drop(const char* begin, const char* end) {
  const auto within = [=](const char* page) { return page < end && begin < page + kHugePage; };
  pages_.erase(std::remove_if(pages_.begin(), pages_.end(), within), pages_.end());
}

bool LatePages::TakeTurn() {
  int64_t due = due_.load(std::memory_order_relaxed);
  if (due == 0) return false;
  const int64_t now = Milliseconds();
  return now >= due && due_.compare_exchange_strong(due, now + kLater);
}

void LatePages::JoinOne() {
  const int64_t before = Milliseconds();
  for (bool joined = false; !joined && !pages_.empty(); pages_.pop_back()) {
    joined = IsWritten(pages_.back());
    if (joined) JoinToPage(pages_.back());
  }
  const int64_t now = Milliseconds();
  due_ = pages_.empty() ? 0 : now + kRest * std::max<int64_t>(1, now - before);
}

}  // namespace mxnet
