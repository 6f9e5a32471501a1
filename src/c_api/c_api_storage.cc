/* Memory pools and GPU memory through C. */
#include "mxnet/c_api_storage.h"

#include "base/device/device_query.h"
#include "c_api/c_api_error.h"
#include "mxnet/c_api.h"
#include "mxnet/storage.h"
#include "storage/pool.h"

using mxnet::Context;
using mxnet::Storage;

int MXStorageEmptyCache(int dev_type, int dev_id) {
  API_BEGIN();
  Storage::Get()->ReleaseAll(Context::Make(dev_type, dev_id));
  API_END();
}

int MXStorageStats(int dev_type, int dev_id, uint64_t out[7]) {
  API_BEGIN(out);
  const mxnet::StorageStats stats = Storage::Get()->Stats(Context::Make(dev_type, dev_id));
  out[0] = stats.used_bytes;
  out[1] = stats.cached_bytes;
  out[2] = stats.peak_bytes;
  out[3] = stats.peak_used_bytes;
  out[4] = stats.hits;
  out[5] = stats.misses;
  out[6] = stats.releases;
  API_END();
}

int MXStorageBound(int dev_type, int dev_id, uint64_t out[3]) {
  API_BEGIN(out);
  const mxnet::storage::GivenBack bound = mxnet::storage::BoundStatsOf(Context::Make(dev_type, dev_id));
  out[0] = bound.limit;
  out[1] = bound.blocks;
  out[2] = bound.bytes;
  API_END();
}

int MXStorageResetPeak(int dev_type, int dev_id) {
  API_BEGIN();
  Storage::Get()->ResetPeak(Context::Make(dev_type, dev_id));
  API_END();
}

int MXStoragePoolName(int dev_type, int dev_id, const char** out) {
  API_BEGIN(out);
  *out = Storage::Get()->PoolName(Context::Make(dev_type, dev_id));
  API_END();
}

int MXGetGPUCount(int* out) {
  API_BEGIN(out);
  *out = mxnet::DeviceCount(mxnet::DeviceType::kGPU);
  API_END();
}

int MXGetGPUMemoryInformation64(int dev, uint64_t* free_mem, uint64_t* total_mem) {
  API_BEGIN(free_mem, total_mem);
  size_t free_bytes = 0, total_bytes = 0;
  mxnet::DeviceMemInfo(Context::GPU(dev), &free_bytes, &total_bytes);
  *free_mem = free_bytes;
  *total_mem = total_bytes;
  API_END();
}

/* In MiB, so that every device's memory fits an int. */
int MXGetGPUMemoryInformation(int dev, int* free_mem, int* total_mem) {
  API_BEGIN(free_mem, total_mem);
  size_t free_bytes = 0, total_bytes = 0;
  mxnet::DeviceMemInfo(Context::GPU(dev), &free_bytes, &total_bytes);
  *free_mem = static_cast<int>(free_bytes >> 20);
  *total_mem = static_cast<int>(total_bytes >> 20);
  API_END();
}
