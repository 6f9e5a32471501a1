/*
 * Threads that work on one sequence together, step by step. They meet once for a whole sequence:
 * a parallel loop for each step would take longer than a small step does.
 */
#ifndef MXNET_OPERATOR_NN_RNN_RNN_TEAM_H_
#define MXNET_OPERATOR_NN_RNN_RNN_TEAM_H_

#include <sched.h>

#include <atomic>

namespace mxnet {
namespace nn {

constexpr int kSpins = 1024;  // some ten microseconds; then somebody else may need the core

inline void SpinOnce(int spins) {
  if (spins > kSpins) {
    sched_yield();
  } else {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
}

/*
 * Each member calls Join. Where all of them came in time, each gets its own number; else the first
 * one gets 0 and works alone, and the others get -1. So it does not matter how many threads the
 * members of a parallel loop run on.
 */
class StepTeam {
 public:
  explicit StepTeam(int members) : members_(members) {}
  StepTeam(const StepTeam&) = delete;
  StepTeam& operator=(const StepTeam&) = delete;

  int Join() {
    const int self = arrived_.fetch_add(1);
    if (self == 0) {
      for (int spins = 0; arrived_.load(std::memory_order_acquire) < members_ && spins < kSpins; ++spins) SpinOnce(0);
      const bool all = arrived_.load(std::memory_order_acquire) >= members_;
      state_.store(all ? kTogether : kAlone, std::memory_order_release);
      return 0;
    }
    int state = kOpen;
    for (int spins = 0; (state = state_.load(std::memory_order_acquire)) == kOpen; ++spins) SpinOnce(spins);
    return state == kTogether ? self : -1;
  }
  /* After Join: how many work. */
  int size() const { return state_.load(std::memory_order_relaxed) == kTogether ? members_ : 1; }
  /* Returns when all have come here as often as the caller. */
  void Meet() {
    if (size() == 1) return;
    const unsigned round = round_.load(std::memory_order_acquire);
    if (here_.fetch_add(1, std::memory_order_acq_rel) == members_ - 1) {
      here_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      return;
    }
    int spins = 0;
    for (; round_.load(std::memory_order_acquire) == round; ++spins) SpinOnce(spins);
    if (spins > kSpins) disturbed_.store(true, std::memory_order_relaxed);
  }
  /* Did a member keep the others waiting, or come too late? Then other programs use its core. */
  bool disturbed() const { return disturbed_.load(std::memory_order_relaxed) || state_.load(std::memory_order_relaxed) == kAlone; }

 private:
  enum State : int { kOpen, kTogether, kAlone };
  const int members_;
  std::atomic<int> arrived_{0}, state_{kOpen};
  std::atomic<bool> disturbed_{false};
  alignas(64) std::atomic<int> here_{0};
  alignas(64) std::atomic<unsigned> round_{0};
};

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_RNN_RNN_TEAM_H_
