/*
 * Kernels as CUDA C text. This header needs no CUDA: texts are put together (source.h) and checked
 * in every build, and launched through a table that the CUDA build fills in (module_cuda.cc). Tests
 * fill in one that runs the text on the host.
 *
 * Every text defines one `extern "C" __global__ void NAME(const __grid_constant__ Args a)` with a
 * struct Args of its own. All members of Args take eight bytes (pointers, long long, double), so
 * Arguments can pack them in order without knowing the struct.
 */
#ifndef MXNET_RTC_KERNEL_H_
#define MXNET_RTC_KERNEL_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "mxnet/run_context.h"

namespace mxnet {
namespace rtc {

/* Immutable but for the loaded handles. Lives as long as the process. */
struct Kernel {
  static constexpr int kMaxDevices = 32;
  std::string name;  // of the __global__ function
  std::string source;
  int per_thread = 1;  // elements that a thread takes at a time, where the text decides that: for the launch's grid
  mutable std::atomic<void*> loaded[kMaxDevices] = {};  // by device: owned by whoever launches
};

/* The kernel of that signature; `make` writes name and source on the first mention. Safe from
 * several threads. */
const Kernel& FindKernel(const std::string& signature, const std::function<void(Kernel*)>& make);

class Arguments {
 public:
  static constexpr int kMax = 288;
  Arguments& Add(const void* p) { return Put(reinterpret_cast<uint64_t>(p)); }
  Arguments& Add(int64_t v) { return Put(static_cast<uint64_t>(v)); }
  Arguments& Add(double v);
  Arguments& Append(const Arguments& more);
  void* data() { return slot_; }
  size_t bytes() const { return 8 * static_cast<size_t>(count_); }

 private:
  Arguments& Put(uint64_t bits);
  uint64_t slot_[kMax];
  int count_ = 0;
};

struct LaunchShape {
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  uint32_t shared_bytes = 0;  // dynamic shared memory
};

/* Puts the kernel on run.stream. Throws Error(kGeneric) "[rtc] ..." when it does not compile or
 * start, or when the build has no GPU support. */
void Launch(const Kernel& kernel, const LaunchShape& shape, Arguments* args, const RunContext& run);

/* A part of the GPU's interface (base/device/device_interface.h). */
struct LaunchHooks {
  void (*launch)(const Kernel& kernel, const LaunchShape& shape, void* args, size_t arg_bytes, const RunContext& run);
  void (*read)(const void* src, void* dst, size_t bytes, const RunContext& run);  // to the host, behind what is on run.stream; waits
};

/* A one-dimensional grid for `items` threads of work: blocks of 256 that stride when the grid would
 * be longer than a device needs. */
LaunchShape Cover(int64_t items);

}  // namespace rtc
}  // namespace mxnet
#endif  // MXNET_RTC_KERNEL_H_
