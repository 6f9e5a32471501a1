/* A CUDA kernel of which users write the body alone: its signature follows from arrays. */
#ifndef MXNET_RTC_BODY_KERNEL_H_
#define MXNET_RTC_BODY_KERNEL_H_

#include <memory>
#include <string>
#include <vector>

#include "rtc/user_module.h"

namespace mxnet {
namespace rtc {

struct BodyArgument {
  std::string name;
  Shape shape;
  int dtype = kFloat32;
};

/*
 * The text of a kernel around `body`: pointers in the order of inputs and outputs, and for each
 * array the constants NAME_ndim and NAME_dims. Throws Error(kValue) for names that are no
 * identifiers or not distinct, kType for a dtype that CUDA C has no type for.
 */
std::string KernelAround(const std::string& name, const std::vector<BodyArgument>& inputs, const std::vector<BodyArgument>& outputs,
                         const std::string& body);

class BodyKernel {
 public:
  /* Compiles. Throws as KernelAround and UserModule do. */
  BodyKernel(const std::string& name, const std::vector<BodyArgument>& inputs, const std::vector<BodyArgument>& outputs,
             const std::string& body);
  /* On the device of the arrays, which must be one GPU; see UserKernel. */
  void Launch(const std::vector<const NDArray*>& inputs, const std::vector<const NDArray*>& outputs, const LaunchShape& shape) const;

 private:
  std::string name_;
  size_t num_inputs_, num_outputs_;
  std::unique_ptr<UserKernel> kernel_;
};

}  // namespace rtc
}  // namespace mxnet
#endif  // MXNET_RTC_BODY_KERNEL_H_
