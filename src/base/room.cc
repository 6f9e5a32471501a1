#include "base/room.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdint>
#include <ctime>

namespace mxnet {
namespace {

/* Asked again after a tenth of a millisecond, for a program may set it while it runs, and the
 * system takes as long to tell it as a small operator does. */
bool Limited() {
  constexpr int64_t kKept = 100000;  // nanoseconds
  static std::atomic<int64_t> asked{-kKept};
  static std::atomic<bool> limited{false};
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  const int64_t now = int64_t{t.tv_sec} * 1000000000 + t.tv_nsec;
  if (now - asked.load(std::memory_order_acquire) >= kKept) {
    rlimit limit;
    limited.store(getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY, std::memory_order_relaxed);
    asked.store(now, std::memory_order_release);
  }
  return limited.load(std::memory_order_relaxed);
}

size_t StackBytes() {
  static const size_t bytes = [] {
    pthread_attr_t attr;
    size_t size = size_t{8} << 20;
    if (pthread_getattr_default_np(&attr) == 0) {
      pthread_attr_getstacksize(&attr, &size);
      pthread_attr_destroy(&attr);
    }
    return size;
  }();
  return bytes;
}

}  // namespace

bool HasRoom(size_t bytes) {
  void* room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return false;
  munmap(room, bytes);
  return true;
}

bool HasRoomIfLimited(size_t bytes) { return !Limited() || HasRoom(bytes); }

bool HasRoomForThreads(int threads) {
  // The C library reserves 128 MiB for a thread's allocations, of which it keeps an aligned half.
  constexpr size_t kArena = size_t{128} << 20, kSpare = size_t{32} << 20;
  return threads <= 0 || !Limited() || HasRoom(static_cast<size_t>(threads) * (StackBytes() + kArena) + kSpare);
}

}  // namespace mxnet
