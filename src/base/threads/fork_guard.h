/*
 * Keeps locks usable across fork(): the thread that forks first takes every registered lock, so the
 * child gets what they guard in a whole state, and both processes release them afterwards.
 *
 * LOCK ORDER: locks of a lower module are taken after those of a higher one, by a fork as by
 * everybody else. Nothing that is guarded takes another lock of its own level with its lock held.
 */
#ifndef MXNET_BASE_THREADS_FORK_GUARD_H_
#define MXNET_BASE_THREADS_FORK_GUARD_H_

#include <mutex>

namespace mxnet {

enum class ForkLevel { kCaller, kEngine, kOperator, kNDArray, kStorage, kDeviceWork, kEvents };  // in the order in which a fork takes them

class ForkGuarded {
 public:
  virtual void ForkLock() = 0;
  virtual void ForkUnlock(bool child) = 0;

 protected:
  ~ForkGuarded() = default;
};

void AddForkGuarded(ForkGuarded* object, ForkLevel level);
void RemoveForkGuarded(ForkGuarded* object);

/* A mutex that a fork waits for: the first choice for what workers or several callers share. Made
 * as the library is loaded or leaked. */
class ForkMutex final : private ForkGuarded {
 public:
  explicit ForkMutex(ForkLevel level) { AddForkGuarded(this, level); }
  ~ForkMutex() { RemoveForkGuarded(this); }
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  void ForkLock() override { mutex_.lock(); }
  void ForkUnlock(bool) override { mutex_.unlock(); }
  std::mutex mutex_;
};

}  // namespace mxnet
#endif  // MXNET_BASE_THREADS_FORK_GUARD_H_
