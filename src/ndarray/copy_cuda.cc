/* Copies to, from and between GPUs. Linked only when USE_CUDA=ON. */
#include <cuda_runtime_api.h>

#include "ndarray/run.h"

namespace mxnet {
namespace {

void Copy(void* dst, Context dst_ctx, const void* src, Context src_ctx, size_t bytes, void* stream) {
  cudaError_t status = cudaSuccess;
  if (dst_ctx.is_gpu() && src_ctx.is_gpu() && dst_ctx.dev_id != src_ctx.dev_id) {
    status = stream != nullptr ? cudaMemcpyPeerAsync(dst, dst_ctx.dev_id, src, src_ctx.dev_id, bytes, static_cast<cudaStream_t>(stream))
                               : cudaMemcpyPeer(dst, dst_ctx.dev_id, src, src_ctx.dev_id, bytes);
  } else {
    const cudaMemcpyKind kind = !dst_ctx.is_gpu() ? cudaMemcpyDeviceToHost : src_ctx.is_gpu() ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
    // On a worker's stream the engine waits for the stream before it calls the operation done.
    status = stream != nullptr ? cudaMemcpyAsync(dst, src, bytes, kind, static_cast<cudaStream_t>(stream)) : cudaMemcpy(dst, src, bytes, kind);
  }
  if (status != cudaSuccess) cudaGetLastError();
  MXNET_CHECK(status == cudaSuccess) << "[NDArray] copy of " << bytes << " bytes from " << src_ctx << " to " << dst_ctx
                                     << " failed: " << cudaGetErrorString(status);
}

const bool registered = (DeviceCopy::Get().copy = Copy) != nullptr;

}  // namespace
}  // namespace mxnet
