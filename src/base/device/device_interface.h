/*
 * Everything that the library asks of a device: one table for each kind, made of parts. In a build
 * with CUDA the files that end in _cuda.cc fill in parts while the library is loaded; in other
 * builds the parts of a GPU are null, and who needs one says so in an error. Tests put parts of
 * their own in their place (tests/cpp/common/scoped_part.h).
 *
 * A part is a struct of functions that belongs to the module which calls them, and is declared in
 * that module's header: its functions may speak of types that this module must not know. Here a
 * part is only a pointer, so this lowest module can own the table.
 */
#ifndef MXNET_BASE_DEVICE_DEVICE_INTERFACE_H_
#define MXNET_BASE_DEVICE_DEVICE_INTERFACE_H_

#include <atomic>
#include <cstddef>

#include "mxnet/base.h"

namespace mxnet {

/* A table of functions that may be missing. Safe from several threads. */
template <typename Functions>
class DevicePart {
 public:
  const Functions* get() const { return functions_.load(std::memory_order_acquire); }
  const Functions* operator->() const { return get(); }
  explicit operator bool() const { return get() != nullptr; }
  /* `functions` must stay valid; null: none. Returns what was there before. */
  const Functions* Set(const Functions* functions) { return functions_.exchange(functions, std::memory_order_acq_rel); }
  /* Set in a static initialiser. */
  bool Register(const Functions* functions) {
    Set(functions);
    return true;
  }

 private:
  std::atomic<const Functions*> functions_{nullptr};
};

/* What the machine has, asked without opening a device; see base/device/device_query.h. */
struct DeviceQuery {
  /* 0 when there is no device; throws Error when devices cannot be counted (a driver that is too
   * old, say). */
  int (*count)() = nullptr;
  /* Throws Error(kValue) when there is no such device. */
  void (*mem_info)(int dev_id, size_t* free_bytes, size_t* total_bytes) = nullptr;
  /* The device that the memory is on; -1: none. */
  int (*device_of)(const void* ptr) = nullptr;
};

/* Streams and events: what the engine orders work with and the profiler measures it by. */
struct StreamHooks {
  /* Makes `dev_id` current on the calling thread. Throws Error when there is no such device. */
  void (*set_device)(int dev_id);
  /* A stream of the current device that does not wait for the default stream. `high_priority`: for
   * priority pools. */
  void* (*create)(bool high_priority);
  void (*destroy)(void* stream);
  /* Returns when the stream's work is done; throws Error on a device fault. */
  void (*synchronize)(void* stream);
  /*
   * Events; all of them null where there are none, and the host then waits behind every operation.
   * `record` needs the stream's device current and returns an event behind all that is on the
   * stream; `wait` lets the stream (of any device) go on when the event has passed; `passed` and
   * `finish` may be called on every thread and throw Error on a device fault; `release` gives the
   * event back at any time and never throws.
   */
  void* (*record)(void* stream) = nullptr;
  void (*wait)(void* stream, void* event) = nullptr;
  bool (*passed)(void* event) = nullptr;
  void (*finish)(void* event) = nullptr;
  void (*release)(void* event) = nullptr;
  /*
   * The same for streams of other libraries on device `dev_id`, where there are events: a
   * cudaStream_t, or DLPack's 1 and 2 for the legacy and the per-thread default stream. On any
   * thread, which keeps its current device.
   */
  void* (*record_on)(int dev_id, void* stream) = nullptr;
  void (*wait_on)(int dev_id, void* stream, void* event) = nullptr;
  /*
   * Times; null where there are none. `mark_time` is `record` with an event that also keeps when
   * the device came to it (which costs more); `elapsed` gives the nanoseconds between two of them
   * on one device that have passed. Neither while the stream is captured.
   */
  void* (*mark_time)(void* stream) = nullptr;
  double (*elapsed)(void* from, void* to) = nullptr;
  /* What is put on `later` from now on waits for all that is on `earlier`, a stream of the same
   * device. Throws Error on a device fault. Null: nobody uses second streams. */
  void (*order)(void* later, void* earlier) = nullptr;
};

// Declared by the modules that call them.
struct CopyHooks;     // ndarray/run.h
struct CaptureHooks;  // executor/plan/cuda_graphs.h
namespace profiler {
struct ToolHooks;  // profiler/device_tools.h
}
namespace storage {
struct MemoryHooks;  // storage/backend_registry.h
}
namespace rtc {
struct LaunchHooks;  // rtc/kernel.h
struct ModuleHooks;  // rtc/user_module.h
}  // namespace rtc
namespace gpu_library {
struct GemmLibrary;       // operator/gpu_library/gemm.h
struct EngineLibrary;     // operator/gpu_library/convolution.h
struct AttentionLibrary;  // operator/gpu_library/attention.h
}  // namespace gpu_library
namespace nccl {
struct Library;  // kvstore/nccl.h
}

struct DeviceInterface {
  DevicePart<DeviceQuery> query;
  DevicePart<StreamHooks> streams;
  DevicePart<storage::MemoryHooks> memory;
  DevicePart<CopyHooks> copies;
  DevicePart<rtc::LaunchHooks> kernels;
  DevicePart<rtc::ModuleHooks> user_modules;
  DevicePart<CaptureHooks> graphs;
  DevicePart<gpu_library::GemmLibrary> gemm;
  DevicePart<gpu_library::EngineLibrary> convolution;
  DevicePart<gpu_library::AttentionLibrary> attention;
  DevicePart<nccl::Library> collectives;
  DevicePart<profiler::ToolHooks> tools;
};

/* The table of a kind of device. There before any static initialiser runs. */
DeviceInterface& DeviceInterfaceOf(DeviceType type);
inline DeviceInterface& GpuInterface() { return DeviceInterfaceOf(DeviceType::kGPU); }

}  // namespace mxnet
#endif  // MXNET_BASE_DEVICE_DEVICE_INTERFACE_H_
