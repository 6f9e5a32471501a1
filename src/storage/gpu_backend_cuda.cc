/* GPU memory and page-locked host memory through the CUDA runtime. */
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <string>

#include "base/device/cuda_error.h"
#include "base/device/device_interface.h"
#include "base/device/device_scope.h"
#include "base/foreign_env.h"
#include "base/threads/collective_launch.h"
#include "storage/backend_registry.h"

namespace mxnet {
namespace storage {
namespace {

int Count() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess) return count;
  cudaGetLastError();
  // InsufficientDriver is also the answer when no driver is installed.
  MXNET_CHECK(status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver)
      << "[storage] cannot count GPUs: " << CudaErrorText(status);
  return 0;
}

void CheckDevice(int dev_id) {
  const int count = Count();
  if (dev_id >= 0 && dev_id < count) return;
  const auto version = [](int number) { return "CUDA " + std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10); };
  int driver = 0;
  cudaDriverGetVersion(&driver);
  std::string why = driver > 0 ? "NVIDIA's driver is for " + version(driver) + ", this library for " + version(CUDART_VERSION)
                               : "NVIDIA's driver, libcuda.so.1, was not found";
  why += ForeignVariable("CUDA_VISIBLE_DEVICES");
  MXNET_THROW(Value) << "[storage] gpu(" << dev_id << ") does not exist: there " << (count == 1 ? "is " : "are ")
                     << (count ? std::to_string(count) : "no") << " usable GPU" << (count == 1 ? "" : "s") << " (" << why << "); accepted: "
                     << (count > 1 ? "gpu(0) to gpu(" + std::to_string(count - 1) + ")"
                         : count   ? "gpu(0)"
                                   : "cpu contexts");
}

void MemoryInfo(int dev_id, size_t* free_bytes, size_t* total_bytes) {
  CheckDevice(dev_id);
  DeviceScope scope(dev_id);
  const cudaError_t status = scope.ok() ? cudaMemGetInfo(free_bytes, total_bytes) : scope.status();
  if (status == cudaSuccess) return;
  cudaGetLastError();
  MXNET_THROW(Generic) << "[storage] memory of gpu(" << dev_id << "): " << CudaErrorText(status);
}

int DeviceOf(const void* ptr) {
  cudaPointerAttributes attributes = {};
  const cudaError_t status = cudaPointerGetAttributes(&attributes, ptr);
  if (status != cudaSuccess) cudaGetLastError();
  const bool there = status == cudaSuccess && (attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged);
  return there ? attributes.device : -1;
}

class GpuBackend : public StorageBackend {
 public:
  explicit GpuBackend(int dev_id) : dev_id_(dev_id) {}

  void* Malloc(size_t bytes, size_t) override {
    std::lock_guard<ForkMutex> lock(CollectiveLaunchMutex());
    DeviceScope scope(dev_id_);
    void* ptr = nullptr;
    const cudaError_t status = scope.ok() ? cudaMalloc(&ptr, bytes) : scope.status();
    if (status == cudaSuccess) return ptr;
    cudaGetLastError();
    MXNET_CHECK(!IsDeviceFault(status)) << "[storage] gpu(" << dev_id_ << ") gives no memory: " << CudaErrorText(status);
    return nullptr;
  }
  void Free(void* ptr, size_t) override {
    std::lock_guard<ForkMutex> lock(CollectiveLaunchMutex());
    DeviceScope scope(dev_id_);
    if (!scope.ok() || cudaFree(ptr) != cudaSuccess) cudaGetLastError();  // at process end the driver may be gone already
  }
  void MemInfo(size_t* free_bytes, size_t* total_bytes) override {
    DeviceScope scope(dev_id_);
    if (scope.ok() && cudaMemGetInfo(free_bytes, total_bytes) == cudaSuccess) return;
    cudaGetLastError();
    *free_bytes = *total_bytes = 0;
  }
  bool SurvivesFork() const override { return false; }

 private:
  const int dev_id_;
};

class PinnedBackend : public StorageBackend {
 public:
  void* Malloc(size_t bytes, size_t) override {  // page-aligned, and usable from every device
    std::lock_guard<ForkMutex> lock(CollectiveLaunchMutex());
    void* ptr = nullptr;
    if (cudaHostAlloc(&ptr, bytes, cudaHostAllocPortable) == cudaSuccess) return ptr;
    cudaGetLastError();
    return nullptr;
  }
  void Free(void* ptr, size_t) override {
    std::lock_guard<ForkMutex> lock(CollectiveLaunchMutex());
    if (cudaFreeHost(ptr) != cudaSuccess) cudaGetLastError();
  }
  void MemInfo(size_t* free_bytes, size_t* total_bytes) override { host_->MemInfo(free_bytes, total_bytes); }
  bool SurvivesFork() const override { return false; }

 private:
  const std::shared_ptr<StorageBackend> host_ = HostBackend();
};

std::shared_ptr<StorageBackend> MakeGpu(int dev_id) {
  CheckDevice(dev_id);
  return std::make_shared<GpuBackend>(dev_id);
}

std::shared_ptr<StorageBackend> MakePinned(int) {
  if (Count() == 0) return nullptr;  // nothing to copy to: plain memory does
  return std::make_shared<PinnedBackend>();
}

const DeviceQuery kQuery = {Count, MemoryInfo, DeviceOf};
const MemoryHooks kGpuMemory = {MakeGpu}, kPinnedMemory = {MakePinned};
[[maybe_unused]] const bool registered = GpuInterface().query.Register(&kQuery) && GpuInterface().memory.Register(&kGpuMemory) &&
                                         DeviceInterfaceOf(DeviceType::kCPUPinned).memory.Register(&kPinnedMemory);

}  // namespace
}  // namespace storage
}  // namespace mxnet
