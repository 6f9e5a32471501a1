/* Registers CUDA streams with the engine. Linked only when USE_CUDA=ON. */
#include <cuda_runtime.h>

#include "engine/stream.h"
#include "mxnet/error.h"

namespace mxnet {
namespace engine {
namespace {

void Check(cudaError_t status, const char* what) {
  MXNET_CHECK(status == cudaSuccess) << "[engine] " << what << " failed: " << cudaGetErrorString(status);
}

void SetDevice(int dev_id) {
  int count = 0;
  Check(cudaGetDeviceCount(&count), "counting GPUs");
  MXNET_CHECK_KIND(dev_id >= 0 && dev_id < count, Value)
      << "[engine] gpu(" << dev_id << ") does not exist; this machine has " << count << " GPU(s)";
  Check(cudaSetDevice(dev_id), "selecting the GPU");
}

void* Create(bool high_priority) {
  int least = 0, greatest = 0;
  Check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "reading stream priorities");
  cudaStream_t stream = nullptr;
  Check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, high_priority ? greatest : least), "creating a stream");
  return stream;
}

// At process exit the driver may already be gone; there is nobody to tell then.
void Destroy(void* stream) { (void)cudaStreamDestroy(static_cast<cudaStream_t>(stream)); }

void Synchronize(void* stream) { Check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "running on the GPU"); }

const StreamHooks kCudaHooks = {SetDevice, Create, Destroy, Synchronize};

struct Register {
  Register() { SetStreamHooks(&kCudaHooks); }
} g_register;

}  // namespace
}  // namespace engine
}  // namespace mxnet
