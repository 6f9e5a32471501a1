/*
 * The three ways in which the engine synchronises: a spinlock for sections of a few instructions, a
 * futex word for threads that have nothing to do, and a bounded spin in front of the futex. No
 * operation takes a std::mutex.
 */
#ifndef MXNET_ENGINE_SYNC_H_
#define MXNET_ENGINE_SYNC_H_

#include <atomic>
#include <cstdint>

namespace mxnet {
namespace engine {

inline void CpuPause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/* REQUIRES: no user code, allocation of unbounded size or system call runs under it (unlock is a
 * plain store). */
class SpinLock {
 public:
  void lock() {
    if (__builtin_expect(flag_.exchange(1, std::memory_order_acquire) != 0, 0)) LockSlow();
  }
  void unlock() { flag_.store(0, std::memory_order_release); }
  /* Only for the child of a fork, where the thread that held it does not exist. */
  void Reset() { flag_.store(0, std::memory_order_relaxed); }

 private:
  void LockSlow();
  std::atomic<uint32_t> flag_{0};
};

/* Sleeps while *word == expected (may return early); timeout_ms < 0: without limit. Returns whether
 * a signal or the limit woke it. */
bool FutexWait(std::atomic<uint32_t>* word, uint32_t expected, int timeout_ms = -1);
void FutexWake(std::atomic<uint32_t>* word, int count);

/* How long an interruptible wait sleeps at most: a signal may come just before it does. */
constexpr int kInterruptibleMs = 200;

/* Iterations of CpuPause worth spending before sleeping: about 5 microseconds, 0 on a machine with
 * one core. */
int SpinBudget();

/* One thread waits, one signals, once. The waiter may destroy it as soon as Wait returns. One that
 * the waiter has abandoned belongs to the thread that signals. */
class Latch {
 public:
  /* Whether it was abandoned. */
  bool Signal() {
    const uint32_t before = state_.exchange(kSet, std::memory_order_acq_rel);
    if (before == kSleeping) FutexWake(&state_, 1);
    return before == kAbandoned;
  }
  /* With a limit: false, and abandoned, when it is over or a signal's handler has run on this
   * thread. */
  bool Wait(int timeout_ms = -1);
  bool signalled() const { return state_.load(std::memory_order_acquire) == kSet; }

 private:
  enum : uint32_t { kUnset = 0, kSet = 1, kSleeping = 2, kAbandoned = 3 };
  std::atomic<uint32_t> state_{kUnset};
};

}  // namespace engine
}  // namespace mxnet
#endif  // MXNET_ENGINE_SYNC_H_
