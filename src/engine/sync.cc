#include "engine/sync.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace mxnet {
namespace engine {

void SpinLock::LockSlow() {
  // The holder may have been descheduled in the middle of its few instructions: after a short spin,
  // give it the core.
  for (int spins = 0;; ++spins) {
    if (flag_.load(std::memory_order_relaxed) == 0 && flag_.exchange(1, std::memory_order_acquire) == 0) return;
    if (spins < 128) {
      CpuPause();
    } else {
      sched_yield();
    }
  }
}

bool FutexWait(std::atomic<uint32_t>* word, uint32_t expected, int timeout_ms) {
  timespec limit = {timeout_ms / 1000, (timeout_ms % 1000) * 1000000L};
  const long failed =
      syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), FUTEX_WAIT_PRIVATE, expected, timeout_ms < 0 ? nullptr : &limit, nullptr, 0);
  return failed != 0 && (errno == EINTR || errno == ETIMEDOUT);
}

void FutexWake(std::atomic<uint32_t>* word, int count) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

int SpinBudget() {
  // One pause lasts from 5 ns to 50 ns depending on the processor, so the budget is measured.
  static const int budget = [] {
    if (std::thread::hardware_concurrency() < 2) return 0;
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 1000; ++i) CpuPause();
    double ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / 1000;
    double n = 5000.0 / (ns < 1 ? 1 : ns);
    return n < 20 ? 20 : n > 5000 ? 5000 : static_cast<int>(n);
  }();
  return budget;
}

bool Latch::Wait(int timeout_ms) {
  for (int i = SpinBudget(); i > 0; --i) {
    if (state_.load(std::memory_order_acquire) == kSet) return true;
    CpuPause();
  }
  uint32_t expected = kUnset;
  if (!state_.compare_exchange_strong(expected, kSleeping, std::memory_order_acq_rel)) return true;
  while (state_.load(std::memory_order_acquire) != kSet) {
    if (!FutexWait(&state_, kSleeping, timeout_ms) || timeout_ms < 0) continue;
    expected = kSleeping;
    if (state_.compare_exchange_strong(expected, kAbandoned, std::memory_order_acq_rel)) return false;
  }
  return true;
}

}  // namespace engine
}  // namespace mxnet
