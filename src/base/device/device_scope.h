/* For files of the CUDA build alone. */
#ifndef MXNET_BASE_DEVICE_DEVICE_SCOPE_H_
#define MXNET_BASE_DEVICE_DEVICE_SCOPE_H_

#include <cuda_runtime_api.h>

namespace mxnet {

/* Makes `dev_id` current on the calling thread for one call sequence and puts the caller's device
 * back. */
class DeviceScope {
 public:
  explicit DeviceScope(int dev_id) {
    status_ = cudaGetDevice(&before_);
    if (status_ == cudaSuccess && before_ != dev_id) status_ = cudaSetDevice(dev_id);
    changed_ = ok() && before_ != dev_id;
    if (!ok()) cudaGetLastError();  // the caller reports it; the next CUDA call must not find it again
  }
  ~DeviceScope() {
    if (changed_) cudaSetDevice(before_);
  }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  bool ok() const { return status_ == cudaSuccess; }
  cudaError_t status() const { return status_; }

 private:
  int before_ = 0;
  cudaError_t status_ = cudaSuccess;
  bool changed_ = false;
};

}  // namespace mxnet
#endif  // MXNET_BASE_DEVICE_DEVICE_SCOPE_H_
