/* Copies to, from and between GPUs. Linked only when USE_CUDA=ON. */
#include <cuda_runtime_api.h>

#include <mutex>

#include "base/device/cuda_error.h"
#include "base/device/device_interface.h"
#include "base/threads/collective_launch.h"
#include "ndarray/peer_access.h"
#include "ndarray/run.h"

namespace mxnet {
namespace {

bool Possible(int dev_id, int peer) {
  int can = 0;
  if (cudaDeviceCanAccessPeer(&can, dev_id, peer) == cudaSuccess) return can != 0;
  cudaGetLastError();
  return false;
}

bool Enable(int dev_id, int peer) {
  std::lock_guard<ForkMutex> lock(CollectiveLaunchMutex());
  int before = 0;
  bool on = false;
  if (cudaGetDevice(&before) == cudaSuccess && cudaSetDevice(dev_id) == cudaSuccess) {
    const cudaError_t status = cudaDeviceEnablePeerAccess(peer, 0);
    on = status == cudaSuccess || status == cudaErrorPeerAccessAlreadyEnabled;  // another library in the process may have been first
    if (status != cudaSuccess) cudaGetLastError();
    if (cudaSetDevice(before) != cudaSuccess) cudaGetLastError();
  } else {
    cudaGetLastError();
  }
  return on;
}

const PeerHooks kPeers = {Possible, Enable};

void Copy(void* dst, Context dst_ctx, const void* src, Context src_ctx, size_t bytes, void* stream) {
  cudaError_t status = cudaSuccess;
  if (dst_ctx.is_gpu() && src_ctx.is_gpu() && dst_ctx.dev_id != src_ctx.dev_id) {
    EnsurePeerAccess(dst_ctx.dev_id, src_ctx.dev_id, kPeers);
    status = stream != nullptr ? cudaMemcpyPeerAsync(dst, dst_ctx.dev_id, src, src_ctx.dev_id, bytes, static_cast<cudaStream_t>(stream))
                               : cudaMemcpyPeer(dst, dst_ctx.dev_id, src, src_ctx.dev_id, bytes);
  } else {
    const cudaMemcpyKind kind = !dst_ctx.is_gpu()  ? cudaMemcpyDeviceToHost
                                : src_ctx.is_gpu() ? cudaMemcpyDeviceToDevice
                                                   : cudaMemcpyHostToDevice;
    // From and to pageable memory the driver does not return before that memory is read or written;
    // from and to pinned memory it does.
    status =
        stream != nullptr ? cudaMemcpyAsync(dst, src, bytes, kind, static_cast<cudaStream_t>(stream)) : cudaMemcpy(dst, src, bytes, kind);
  }
  // Without a stream, CUDA may return before the bytes are in the device's memory: from pageable
  // memory as soon as they are staged, between places on devices at once. The streams of workers do
  // not wait for the default stream, so what they write next could be written over.
  if (status == cudaSuccess && stream == nullptr && dst_ctx.is_gpu()) status = cudaStreamSynchronize(nullptr);
  if (status != cudaSuccess) cudaGetLastError();
  MXNET_CHECK(status == cudaSuccess) << "[NDArray] copy of " << bytes << " bytes from " << src_ctx << " to " << dst_ctx
                                     << " failed: " << CudaErrorText(status);
}

const CopyHooks kCopies = {Copy};
[[maybe_unused]] const bool registered = GpuInterface().copies.Register(&kCopies);

}  // namespace
}  // namespace mxnet
