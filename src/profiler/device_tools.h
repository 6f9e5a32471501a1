/* What NVIDIA's tools show and when they record, asked for by the program. */
#ifndef MXNET_PROFILER_DEVICE_TOOLS_H_
#define MXNET_PROFILER_DEVICE_TOOLS_H_

#include <cstdint>

#include "mxnet/base.h"

namespace mxnet {
namespace profiler {

/* A part of the GPU's interface (base/device/device_interface.h). */
struct ToolHooks {
  /* Ranges of the calling thread lie in each other. `color`: 0xRRGGBB. */
  void (*push_range)(const char* name, uint32_t color);
  void (*pop_range)();
  /* Both throw Error where there is no device. */
  void (*start_recording)();
  void (*stop_recording)();
};

/* Throw Error(kGeneric) in a build without CUDA. */
MXNET_DLL void PushToolRange(const char* name, uint32_t color);
MXNET_DLL void PopToolRange();
MXNET_DLL void RecordForTools(bool record);

}  // namespace profiler
}  // namespace mxnet
#endif  // MXNET_PROFILER_DEVICE_TOOLS_H_
