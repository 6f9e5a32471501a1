#ifndef MXNET_TESTS_HOST_GPU_CUDNN_HANDLE_H_
#define MXNET_TESTS_HOST_GPU_CUDNN_HANDLE_H_

#include <cudnn.h>

#include <cstdint>

namespace host_gpu {
namespace cudnn {

constexpr uint64_t kHandleMagic = 0x63756468616e646c;
struct Handle {
  uint64_t magic = 0;
  int device = 0;
  cudaStream_t stream = nullptr;
};
/* Null for what is no handle. */
Handle* HandleOf(cudnnHandle_t handle);

}  // namespace cudnn
}  // namespace host_gpu
#endif  // MXNET_TESTS_HOST_GPU_CUDNN_HANDLE_H_
