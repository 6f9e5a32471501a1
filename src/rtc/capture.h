/* What the thread does that a CUDA graph cannot repeat. Kernels' helpers report, whoever captures
 * looks. */
#ifndef MXNET_RTC_CAPTURE_H_
#define MXNET_RTC_CAPTURE_H_

#include <cstdint>

namespace mxnet {
namespace rtc {

struct CaptureState {
  bool capturing = false;   // the thread's stream takes work down in place of running it
  uint64_t host_waits = 0;  // how often this thread waited for its stream to look at a result
  /* Random numbers of a graph: two numbers in the device's memory, seed and counter where a replay
   * begins; null: what is captured cannot draw. */
  const uint64_t* draws = nullptr;
  uint64_t draws_begin = 0;  // the counter where the capture began
  uint64_t replayable = 0;   // counters taken so far by this thread for kernels that look there (DrawsOnDevice)
  static CaptureState& Local() {
    static thread_local CaptureState state;
    return state;
  }
};

}  // namespace rtc
}  // namespace mxnet
#endif  // MXNET_RTC_CAPTURE_H_
