/* What the stand-ins of cuBLASLt and cuDNN share. */
#ifndef MXNET_TESTS_HOST_GPU_LIBRARIES_H_
#define MXNET_TESTS_HOST_GPU_LIBRARIES_H_

#include <cstdlib>
#include <string>

#include "device.h"

namespace host_gpu {

/*
 * Whether HOST_GPU_<library>_REFUSE, a list with commas, has the word: what the library is to
 * refuse, so that callers' other ways run. Read each time. CUDNN: fused, channels_last, half,
 * attention. CUBLASLT: bias, relu, bgrad. NCCL: init, launch, async.
 */
inline bool Refuses(const char* library, const char* word) {
  const char* list = std::getenv((std::string("HOST_GPU_") + library + "_REFUSE").c_str());
  return list && ("," + std::string(list) + ",").find("," + std::string(word) + ",") != std::string::npos;
}

}  // namespace host_gpu
#endif  // MXNET_TESTS_HOST_GPU_LIBRARIES_H_
