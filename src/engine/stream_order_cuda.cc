#include <cuda_runtime_api.h>

#include "base/cuda_error.h"
#include "engine/stream_order.h"
#include "mxnet/error.h"

namespace mxnet {
namespace engine {
namespace {

void Check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  MXNET_THROW(Generic) << "[engine] " << what << " failed: " << CudaErrorText(status);
}

void Order(void* later, void* earlier) {
  cudaEvent_t event = nullptr;
  Check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "creating an event");
  cudaError_t status = cudaEventRecord(event, static_cast<cudaStream_t>(earlier));
  if (status == cudaSuccess) status = cudaStreamWaitEvent(static_cast<cudaStream_t>(later), event, 0);
  cudaEventDestroy(event);  // lives on until it has passed
  Check(status, "ordering two streams");
}

const bool registered = (SetStreamOrder(Order), true);

}  // namespace
}  // namespace engine
}  // namespace mxnet
