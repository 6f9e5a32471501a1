// NVTX ranges, and where NVIDIA's profilers begin and end to record.
#include <cuda_profiler_api.h>
#include <nvtx3/nvToolsExt.h>

#include "base/device/cuda_error.h"
#include "base/device/device_interface.h"
#include "mxnet/error.h"
#include "profiler/device_tools.h"

namespace mxnet {
namespace profiler {
namespace {

void PushRange(const char* name, uint32_t color) {
  nvtxEventAttributes_t range = {};
  range.version = NVTX_VERSION;
  range.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  range.colorType = NVTX_COLOR_ARGB;
  range.color = color | 0xff000000u;
  range.messageType = NVTX_MESSAGE_TYPE_ASCII;
  range.message.ascii = name;
  nvtxRangePushEx(&range);
}

void PopRange() { nvtxRangePop(); }

void Check(cudaError_t status) {
  MXNET_CHECK(status == cudaSuccess) << "[profiler] NVIDIA's tools cannot be told when to record: " << CudaErrorText(status);
}
void Start() { Check(cudaProfilerStart()); }
void Stop() { Check(cudaProfilerStop()); }

const ToolHooks kHooks = {PushRange, PopRange, Start, Stop};
[[maybe_unused]] const bool registered = GpuInterface().tools.Register(&kHooks);

}  // namespace
}  // namespace profiler
}  // namespace mxnet
