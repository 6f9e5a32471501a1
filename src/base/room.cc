#include "base/room.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

namespace mxnet {
namespace {

/* Asked each time, for a program may set it while it runs. */
bool Limited() {
  rlimit limit;
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
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
