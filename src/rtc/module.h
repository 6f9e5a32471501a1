/* Compiled code on devices. Linked only when USE_CUDA=ON. */
#ifndef MXNET_RTC_MODULE_H_
#define MXNET_RTC_MODULE_H_

#include <string>
#include <vector>

#include "rtc/compile.h"
#include "rtc/kernel.h"

namespace mxnet {
namespace rtc {

/* 90 for an H100 or H200. Throws Error when there is no such device. */
int CapabilityOf(int dev_id);
/* Options that the library's own kernels are compiled with. */
inline std::vector<std::string> KernelOptions() { return {"--std=c++17"}; }

/* Loaded code; its functions serve every device of the architecture and are valid while the module
 * lives. */
class Module {
 public:
  /* Throws Error(kGeneric) when there is no driver or the code is for another architecture. */
  Module(const CompiledCode& code, const std::string& name);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  /* A cudaKernel_t. Throws Error(kGeneric) when there is no such function. */
  void* Function(const std::string& function) const;

 private:
  std::string name_;
  void* library_ = nullptr;
};

/* `args`: addresses of the arguments' values. `stream` is a cudaStream_t of the current device. */
void LaunchFunction(void* function, const std::string& name, const LaunchShape& shape, void** args, void* stream);

}  // namespace rtc
}  // namespace mxnet
#endif  // MXNET_RTC_MODULE_H_
