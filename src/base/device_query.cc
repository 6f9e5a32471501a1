#include "base/device_query.h"

namespace mxnet {
namespace {

DeviceQuery& GpuQuery() {
  static DeviceQuery query;
  return query;
}

}  // namespace

bool RegisterDeviceQuery(DeviceType type, DeviceQuery query) {
  MXNET_CHECK_KIND(type == DeviceType::kGPU, Value) << "[device] query for device type " << static_cast<int>(type) << "; accepted: gpu (2)";
  GpuQuery() = query;
  return true;
}

int DeviceCount(DeviceType type) {
  if (type != DeviceType::kGPU) return 1;
  return GpuQuery().count != nullptr ? GpuQuery().count() : 0;
}

void DeviceMemInfo(Context ctx, size_t* free_bytes, size_t* total_bytes) {
  MXNET_CHECK_KIND(ctx.is_gpu(), Value) << "[device] memory of " << ctx.str() << "; accepted: a gpu context";
  MXNET_CHECK_KIND(GpuQuery().mem_info != nullptr, Value)
      << "[device] memory of " << ctx.str() << " on a library that was built without CUDA; accepted: a build with USE_CUDA=ON";
  GpuQuery().mem_info(ctx.dev_id, free_bytes, total_bytes);
}

int GpuOfMemory(const void* ptr) { return GpuQuery().device_of != nullptr ? GpuQuery().device_of(ptr) : -1; }

}  // namespace mxnet
