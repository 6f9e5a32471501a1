/*
 * A lock for sections of a few instructions. Unlike std::mutex it may be released by a forked child
 * on behalf of the thread that held it in the parent's fork handler, and costs one atomic exchange
 * when nobody waits.
 */
#ifndef MXNET_STORAGE_SPIN_LOCK_H_
#define MXNET_STORAGE_SPIN_LOCK_H_

#include <sched.h>

#include <atomic>

namespace mxnet {
namespace storage {

class SpinLock {
 public:
  void lock() {
    while (locked_.exchange(true, std::memory_order_acquire)) WaitUntilFree();
  }
  bool try_lock() { return !locked_.exchange(true, std::memory_order_acquire); }
  void unlock() { locked_.store(false, std::memory_order_release); }

 private:
  void WaitUntilFree() {
    // After a short spin the holder has probably lost its core: let it run.
    for (int spins = 0; locked_.load(std::memory_order_relaxed); ++spins) {
      if (spins > 64) sched_yield();
    }
  }
  std::atomic<bool> locked_{false};
};

}  // namespace storage
}  // namespace mxnet
#endif  // MXNET_STORAGE_SPIN_LOCK_H_
