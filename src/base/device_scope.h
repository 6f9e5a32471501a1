/* For files of the CUDA build alone. */
#ifndef MXNET_SRC_BASE_DEVICE_SCOPE_H_
#define MXNET_SRC_BASE_DEVICE_SCOPE_H_

#include <cuda_runtime_api.h>

namespace mxnet {

/* Makes `dev_id` current on the calling thread for one call sequence and puts the caller's device back. */
class DeviceScope {
 public:
  explicit DeviceScope(int dev_id) {
    ok_ = cudaGetDevice(&before_) == cudaSuccess && (before_ == dev_id || cudaSetDevice(dev_id) == cudaSuccess);
    changed_ = ok_ && before_ != dev_id;
    if (!ok_) cudaGetLastError();  // the caller reports it; the next CUDA call must not find it again
  }
  ~DeviceScope() {
    if (changed_) cudaSetDevice(before_);
  }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  bool ok() const { return ok_; }

 private:
  int before_ = 0;
  bool ok_ = false, changed_ = false;
};

}  // namespace mxnet
#endif  // MXNET_SRC_BASE_DEVICE_SCOPE_H_
