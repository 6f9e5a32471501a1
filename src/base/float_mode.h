/*
 * Whether kernels on the CPU treat denormal numbers as zero (MXCSR's FTZ and DAZ on x86-64, FPCR's
 * FZ on aarch64). The processor keeps that per thread. A scope around every operation gives it to
 * the thread that runs the operation and, once per change, to that thread's OpenMP team; user
 * threads get their own mode back, so that Python's and NumPy's numbers do not change.
 */
#ifndef MXNET_BASE_FLOAT_MODE_H_
#define MXNET_BASE_FLOAT_MODE_H_

#include <atomic>
#include <cstdint>

#include "mxnet/base.h"

namespace mxnet {

/* For operations that start from now on. Returns the previous setting; off when the process starts.
 * Thread-safe. */
MXNET_DLL bool SetFlushDenorms(bool flush);

namespace detail {
extern std::atomic<uint32_t> g_float_mode;  // changes so far; odd: flush. 0 costs an operation one load
uint64_t EnterFloatMode(uint32_t mode);     // returns the thread's control word
void LeaveFloatMode(uint64_t control);
uint64_t FloatControl();  // of the calling thread
void SetFloatControl(uint64_t control);
}  // namespace detail

class FloatModeScope {
 public:
  FloatModeScope() : mode_(detail::g_float_mode.load(std::memory_order_relaxed)) {
    if (__builtin_expect(mode_ != 0, 0)) control_ = detail::EnterFloatMode(mode_);
  }
  ~FloatModeScope() {
    if (__builtin_expect(mode_ != 0, 0)) detail::LeaveFloatMode(control_);
  }
  FloatModeScope(const FloatModeScope&) = delete;
  FloatModeScope& operator=(const FloatModeScope&) = delete;

 private:
  uint32_t mode_;
  uint64_t control_ = 0;
};

}  // namespace mxnet
#endif  // MXNET_BASE_FLOAT_MODE_H_
