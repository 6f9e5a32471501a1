/* What the machine has, asked without opening a device. */
#ifndef MXNET_BASE_DEVICE_DEVICE_QUERY_H_
#define MXNET_BASE_DEVICE_DEVICE_QUERY_H_

#include <cstddef>

#include "base/device/device_interface.h"

namespace mxnet {

/* Devices of `type` on this machine that this build can use: 0 for GPUs without CUDA, 1 for the
 * host's types. */
int DeviceCount(DeviceType type);
/* Memory of a device with its own memory (GPU). Throws Error(kValue) when there is no such
 * device. */
void DeviceMemInfo(Context ctx, size_t* free_bytes, size_t* total_bytes);
/* The number of the GPU that the memory is on; -1: none, or a build without CUDA. */
int GpuOfMemory(const void* ptr);

}  // namespace mxnet
#endif  // MXNET_BASE_DEVICE_DEVICE_QUERY_H_
