/*
 * Runs generated CUDA C kernels on the host: the text is compiled by the C++ compiler with the
 * device's keywords defined away, and every thread of a block runs in turn (where the text
 * synchronises, from barrier to barrier). Slow and exact: for checking kernels without a GPU.
 */
#ifndef MXNET_TESTS_DEVICE_EMULATOR_H_
#define MXNET_TESTS_DEVICE_EMULATOR_H_

#include "rtc/kernel.h"

namespace mxnet {
struct CopyHooks;  // ndarray/run.h

/* Whether there is a C++ compiler to run. */
bool EmulatorAvailable();

/* While one of these lives, launches go to the emulator; "device" memory is host memory. Compiling
 * costs most, so it is done for many kernels at once. */
class EmulatedDevice {
 public:
  enum Mode {
    kCollect,  // notes which kernels are launched, with what, and runs nothing
    kRun       // compiles what was noted and is not compiled yet, then runs launches
  };
  explicit EmulatedDevice(Mode mode = kRun);
  ~EmulatedDevice();
  /* Called with each kernel before it is first built here; may throw. Null: nothing more is
   * checked. */
  static void (*check_text)(const rtc::Kernel& kernel);
  static int launches();  // run since the process started
  static int copies();    // likewise: what operators that compute on the host write

 private:
  const rtc::LaunchHooks* before_;
  const CopyHooks* copies_before_;
};

}  // namespace mxnet
#endif  // MXNET_TESTS_DEVICE_EMULATOR_H_
