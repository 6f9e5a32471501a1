/* What the thread does that a CUDA graph cannot repeat. Kernels' helpers report, whoever captures looks. */
#ifndef MXNET_RTC_CAPTURE_H_
#define MXNET_RTC_CAPTURE_H_

#include <cstdint>

namespace mxnet {
namespace rtc {

struct CaptureState {
  bool capturing = false;       // the thread's stream takes work down in place of running it
  uint64_t host_waits = 0;      // how often this thread waited for its stream to look at a result
  static CaptureState& Local() {
    static thread_local CaptureState state;
    return state;
  }
};

}  // namespace rtc
}  // namespace mxnet
#endif  // MXNET_RTC_CAPTURE_H_
