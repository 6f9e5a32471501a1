#include "base/device/device_query.h"

#include "base/device/device_interface.h"

namespace mxnet {
int DeviceCount(DeviceType type) {
  if (type != DeviceType::kGPU) return 1;
  const DeviceQuery* query = GpuInterface().query.get();
  return query != nullptr ? query->count() : 0;
}

void DeviceMemInfo(Context ctx, size_t* free_bytes, size_t* total_bytes) {
  MXNET_CHECK_KIND(ctx.is_gpu(), Value) << "[device] memory of " << ctx.str() << "; accepted: a gpu context";
  const DeviceQuery* query = GpuInterface().query.get();
  MXNET_CHECK_KIND(query != nullptr, Value) << "[device] memory of " << ctx.str()
                                            << " on a library that was built without CUDA; accepted: a build with USE_CUDA=ON";
  query->mem_info(ctx.dev_id, free_bytes, total_bytes);
}

int GpuOfMemory(const void* ptr) {
  const DeviceQuery* query = GpuInterface().query.get();
  return query != nullptr ? query->device_of(ptr) : -1;
}

}  // namespace mxnet
