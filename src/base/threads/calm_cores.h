/* Are shared cores (shared_cores.h) calm for the moment? */
#ifndef MXNET_BASE_THREADS_CALM_CORES_H_
#define MXNET_BASE_THREADS_CALM_CORES_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace mxnet {
namespace detail {

/*
 * By what threads of loops say every few milliseconds: how long they waited for a processor. From
 * the first that waited for a third of the time cores are disturbed for 20 ms. Threads that sleep
 * do not wait, so beside somebody who computes all the time each calm ends as soon as they are
 * woken. Where one was so short the next comes twice as late, up to 640 ms; half as late where
 * nobody waited for 50 ms before somebody came. All times are nanoseconds. No locks: what two
 * threads say at once costs a wrong guess for a moment.
 */
class CalmCores {
 public:
  static constexpr int64_t kHold = 20000000, kLongestHold = 32 * kHold;
  static constexpr int64_t kShort = 15000000, kLong = 50000000;  // of a calm, and of a time without waiting
  static constexpr int64_t kMuch = 3;                            // a third

  /* Cores begin to be shared. */
  void Begin(int64_t now) {
    hold_ = kHold;
    waited_ = now;
    until_ = now + kHold;
    calm_ = false;
  }

  /* A thread took part in loops for `passed` and was ready to run and did not for `waited` of it;
   * whether cores are calm now. */
  bool Say(int64_t now, int64_t passed, int64_t waited) {
    if (waited * kMuch > passed) {
      const bool was_calm = calm_.exchange(false);
      if (was_calm && now - since_ < kShort)
        hold_ = std::min(2 * hold_, kLongestHold);
      else if (now - waited_ > kLong)
        hold_ = std::max(hold_ / 2, kHold);
      waited_ = now;
      until_ = now + hold_;
    } else if (now >= until_ && !calm_.exchange(true)) {
      since_ = now;
    }
    return calm_;
  }

 private:
  // how long cores are disturbed at least; who waited last; until when; since when they are calm
  std::atomic<int64_t> hold_{kHold}, waited_{0}, until_{0}, since_{0};
  std::atomic<bool> calm_{false};
};

}  // namespace detail
}  // namespace mxnet
#endif  // MXNET_BASE_THREADS_CALM_CORES_H_
