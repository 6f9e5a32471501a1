/* What ptxas says of machine code: read from the ELF file that NVRTC gives back for sm_XX. */
#ifndef MXNET_TESTS_DEVICE_CODE_CUDA_H_
#define MXNET_TESTS_DEVICE_CODE_CUDA_H_

#include <string>

namespace mxnet {

struct CodeResources {
  int registers = 0;     // of a thread
  int local_bytes = 0;   // of a thread: its stack frame, spilled registers included
  int shared_bytes = 0;  // of a block, static
  int code_bytes = 0;
};
/* Of kernel `name` (extern "C"). Throws Error when the code has no such kernel. */
CodeResources ResourcesOf(const std::string& cubin, const std::string& name);

}  // namespace mxnet
#endif  // MXNET_TESTS_DEVICE_CODE_CUDA_H_
