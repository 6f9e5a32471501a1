/*
 * Users' own CUDA C text: compiled when the module is made, loaded at the first launch, its kernels
 * ordered by the engine like operators. This header needs no CUDA: what compiles, loads and
 * launches stands behind ModuleHooks, which the CUDA build fills in (user_module_cuda.cc).
 */
#ifndef MXNET_RTC_USER_MODULE_H_
#define MXNET_RTC_USER_MODULE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mxnet/ndarray.h"
#include "rtc/compile.h"
#include "rtc/kernel.h"

namespace mxnet {
namespace rtc {

/* A part of the GPU's interface (base/device/device_interface.h). */
struct ModuleHooks {
  /* Throws Error(kGeneric) with the compiler's log. Needs no device. */
  CompiledCode (*compile)(const std::string& source, const std::vector<std::string>& options, const std::vector<std::string>& exports);
  /* Freed by the pointer's deleter. Throws Error(kGeneric) without a driver. */
  std::shared_ptr<void> (*load)(const CompiledCode& code);
  void* (*function)(void* loaded, const std::string& name);
  /* `args`: addresses of the arguments' values. */
  void (*launch)(void* function, const std::string& name, const LaunchShape& shape, void** args, const RunContext& run);
};

/* Safe from several threads. */
class UserModule {
 public:
  /* Compiles. Throws Error(kGeneric): the text's errors, or a build without GPU support. */
  UserModule(const std::string& source, const std::vector<std::string>& options, const std::vector<std::string>& exports);
  /*
   * `name`: of an extern "C" function, or one of the exports. Returns the name in the code. Throws
   * Error(kValue) when the text defines no such kernel (machine code is not looked into: there the
   * first launch tells).
   */
  std::string Find(const std::string& name) const;
  /* Loads the code when needed. */
  void* Function(const std::string& mangled);

 private:
  CompiledCode code_;
  std::vector<std::string> exports_;
  std::shared_ptr<void> loaded_;
};

struct UserArgument {
  bool is_array = false, is_const = false;
  int dtype = kFloat32;
};

class UserKernel {
 public:
  UserKernel(std::shared_ptr<UserModule> module, const std::string& name, std::vector<UserArgument> arguments);
  /*
   * Pushes a launch on gpu(dev_id) behind what writes the arrays. values[i]: an NDArray* for an
   * array, else the address of a number of the argument's dtype, read before this returns. Throws
   * Error(kValue, kType) for another device, dtype or an empty launch shape.
   */
  void Launch(int dev_id, void* const* values, const LaunchShape& shape) const;

 private:
  std::shared_ptr<UserModule> module_;
  std::string name_, mangled_;
  std::vector<UserArgument> arguments_;
};

}  // namespace rtc
}  // namespace mxnet
#endif  // MXNET_RTC_USER_MODULE_H_
