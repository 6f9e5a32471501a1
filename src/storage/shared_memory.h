/*
 * Memory shared between processes, as POSIX shared memory objects "/mxnet-<pid>-<id>". See SHARED
 * in mxnet/storage.h for who removes a name and when; SegmentHeader (in the .cc) holds the counts
 * behind it.
 *
 * THREADS  Everything may be called from any thread.
 */
#ifndef MXNET_STORAGE_SHARED_MEMORY_H_
#define MXNET_STORAGE_SHARED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/threads/fork_guard.h"
#include "mxnet/storage.h"

namespace mxnet {
namespace storage {

class SharedMemory final : private ForkGuarded {
 public:
  /* A process, told apart from a later one with the same number. */
  struct Process {
    int32_t pid = 0;
    uint64_t start = 0;  // clock ticks since boot; 0: not known
  };

  SharedMemory();
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /* REQUIRES: bytes > 0. */
  StorageHandle Alloc(size_t bytes, Context ctx);
  StorageHandle Open(int pid, int id, size_t bytes);
  bool Share(const StorageHandle& handle);
  void Free(const StorageHandle& handle);
  StorageStats Stats();
  void ResetPeak();

  /* Name of a segment, as in /dev/shm without the slash. */
  static std::string Name(int pid, int id);
  /* Removes what dead processes left; returns how many names. */
  static int Sweep();

 private:
  void ForkLock() override { mutex_.lock(); }
  void ForkUnlock(bool) override { mutex_.unlock(); }
  void Count(size_t rounded);
  void SweepIfOlder(int64_t age);

  std::mutex mutex_;  // guards everything below
  StorageStats stats_;
  Process self_, owner_;   // known when self_.pid is that of this process
  int64_t swept_at_ = -1;  // ns of a monotonic clock
};

}  // namespace storage
}  // namespace mxnet
#endif  // MXNET_STORAGE_SHARED_MEMORY_H_
