/* Compiles, loads and launches users' kernels. Linked only when USE_CUDA=ON. */
#include <cuda_runtime_api.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/device/device_interface.h"
#include "mxnet/env.h"
#include "mxnet/error.h"
#include "rtc/module.h"
#include "rtc/user_module.h"

namespace mxnet {
namespace rtc {
namespace {

/* PTX for the oldest device of the machine: drivers make code of it for each of them. Without a
 * device, the oldest that NVRTC 13 knows. */
std::string PtxArchitecture() {
  int count = 0, oldest = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    count = 0;
  }
  for (int dev = 0; dev < count; ++dev) {
    const int number = CapabilityOf(dev);
    oldest = oldest == 0 ? number : std::min(oldest, number);
  }
  return PtxFor(oldest ? oldest : 75);
}

bool IsFolder(const std::string& path) {
  struct stat s;
  return stat(path.c_str(), &s) == 0 && S_ISDIR(s.st_mode);
}

CompiledCode CompileUser(const std::string& source, const std::vector<std::string>& options, const std::vector<std::string>& exports) {
  CompileRequest r;
  r.name = "user_module.cu";
  r.source = source;
  r.names = exports;
  // An architecture that the user wants is taken out of the options: NVRTC accepts one only.
  for (size_t i = 0; i < options.size(); ++i) {
    const std::string& o = options[i];
    const size_t equals = o.find('=');
    const std::string key = o.substr(0, equals);
    if (key != "--gpu-architecture" && key != "-arch") {
      r.options.push_back(o);
    } else if (equals != std::string::npos) {
      r.architecture = o.substr(equals + 1);
    } else if (i + 1 < options.size()) {
      r.architecture = options[++i];
    }
  }
  if (r.architecture.empty()) r.architecture = PtxArchitecture();
  // for cuda_fp16.h and its like, behind the user's own folders
  const std::string include = Env::Get().cuda_home + "/include";
  for (const std::string& folder : {include, include + "/cccl"})
    if (IsFolder(folder)) r.options.push_back("--include-path=" + folder);
  return Compile(r);  // not through the disk cache: headers may have changed behind the same text
}

std::shared_ptr<void> Load(const CompiledCode& code) { return std::make_shared<Module>(code, "user_module.cu"); }

void* Function(void* loaded, const std::string& name) { return static_cast<Module*>(loaded)->Function(name); }

void LaunchUser(void* function, const std::string& name, const LaunchShape& shape, void** args, const RunContext& run) {
  LaunchFunction(function, name, shape, args, run.stream);
}

const ModuleHooks kCudaModuleHooks = {CompileUser, Load, Function, LaunchUser};
[[maybe_unused]] const bool registered = GpuInterface().user_modules.Register(&kCudaModuleHooks);

}  // namespace
}  // namespace rtc
}  // namespace mxnet
