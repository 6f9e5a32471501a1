#include "profiler/device_tools.h"

#include "base/device/device_interface.h"
#include "mxnet/error.h"

namespace mxnet {
namespace profiler {
namespace {

const ToolHooks& Hooks(const char* what) {
  const ToolHooks* hooks = GpuInterface().tools.get();
  MXNET_CHECK(hooks != nullptr) << "[profiler] " << what << " in a build without GPU support; accepted: a library built with USE_CUDA=ON";
  return *hooks;
}

}  // namespace

void PushToolRange(const char* name, uint32_t color) { Hooks("an NVTX range").push_range(name, color); }

void PopToolRange() { Hooks("an NVTX range").pop_range(); }

void RecordForTools(bool record) {
  const ToolHooks& hooks = Hooks("the CUDA profiler");
  record ? hooks.start_recording() : hooks.stop_recording();
}

}  // namespace profiler
}  // namespace mxnet
