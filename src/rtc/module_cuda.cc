/* Loads compiled kernels and launches them. cudaLibraryLoadData needs no libcuda at link time, so a
 * CUDA build loads without a driver. */
#include <cuda_runtime_api.h>

#include <mutex>

#include "base/device/cuda_error.h"
#include "base/device/device_interface.h"
#include "base/threads/collective_launch.h"
#include "mxnet/error.h"
#include "rtc/compile.h"
#include "rtc/kernel.h"
#include "rtc/module.h"

namespace mxnet {
namespace rtc {
namespace {

void Check(cudaError_t status, const char* what, const std::string& name) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  MXNET_THROW(Generic) << "[rtc] " << what << " " << name << " failed: " << CudaErrorText(status);
}

}  // namespace

int CapabilityOf(int dev_id) {
  int major = 0, minor = 0;
  Check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, dev_id), "asking for the architecture of device",
        std::to_string(dev_id));
  Check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, dev_id), "asking for the architecture of device",
        std::to_string(dev_id));
  return major * 10 + minor;
}

Module::Module(const CompiledCode& code, const std::string& name) : name_(name) {
  std::lock_guard<ForkMutex> lock(CollectiveLaunchMutex());
  cudaLibrary_t library = nullptr;
  Check(cudaLibraryLoadData(&library, code.code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0), "loading", name);
  library_ = library;
}

Module::~Module() {
  std::lock_guard<ForkMutex> lock(CollectiveLaunchMutex());
  if (cudaLibraryUnload(static_cast<cudaLibrary_t>(library_)) != cudaSuccess) cudaGetLastError();  // at process end the driver may be gone
}

void* Module::Function(const std::string& function) const {
  cudaKernel_t kernel = nullptr;
  Check(cudaLibraryGetKernel(&kernel, static_cast<cudaLibrary_t>(library_), function.c_str()), "finding kernel", function + " in " + name_);
  return kernel;
}

void LaunchFunction(void* function, const std::string& name, const LaunchShape& s, void** args, void* stream) {
  if (s.shared_bytes > 48 * 1024)
    Check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(s.shared_bytes)),
          "giving shared memory to", name);
  Check(cudaLaunchKernel(function, dim3(s.grid[0], s.grid[1], s.grid[2]), dim3(s.block[0], s.block[1], s.block[2]), args, s.shared_bytes,
                         static_cast<cudaStream_t>(stream)),
        "launching", name);
}

namespace {

void LaunchKernel(const Kernel& kernel, const LaunchShape& shape, void* args, size_t, const RunContext& run) {
  const int dev = run.ctx.dev_id;
  MXNET_CHECK_KIND(dev >= 0 && dev < Kernel::kMaxDevices, Value)
      << "[rtc] device " << dev << "; accepted: 0 to " << Kernel::kMaxDevices - 1;
  void* function = kernel.loaded[dev].load(std::memory_order_acquire);
  if (!function) {
    // One at a time: two threads that meet the same new kernel would compile it twice.
    static std::mutex mutex;
    std::lock_guard<std::mutex> lock(mutex);
    function = kernel.loaded[dev].load(std::memory_order_relaxed);
    if (!function) {
      CompileRequest r;
      r.name = kernel.name + ".cu";
      r.source = kernel.source;
      r.options = KernelOptions();
      r.architecture = CodeFor(CapabilityOf(dev));
      const auto* module = new Module(CompileCached(r), kernel.name);  // stays loaded: kernels are launched until the end of the process
      function = module->Function(kernel.name);
      kernel.loaded[dev].store(function, std::memory_order_release);
    }
  }
  void* pointers[1] = {args};
  LaunchFunction(function, kernel.name, shape, pointers, run.stream);
}

void Read(const void* src, void* dst, size_t bytes, const RunContext& run) {
  const cudaStream_t stream = static_cast<cudaStream_t>(run.stream);
  Check(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToHost, stream), "reading", "from the device");
  Check(cudaStreamSynchronize(stream), "running", "the kernels before a read");
}

const LaunchHooks kCudaKernels = {LaunchKernel, Read};
[[maybe_unused]] const bool registered = GpuInterface().kernels.Register(&kCudaKernels);

}  // namespace
}  // namespace rtc
}  // namespace mxnet
