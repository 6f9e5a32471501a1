/* Arrays whose values decide on the shape of a result: operators that read them on the calling
 * thread. */
#ifndef MXNET_OPERATOR_INDEXING_HOST_VALUES_H_
#define MXNET_OPERATOR_INDEXING_HOST_VALUES_H_

#include <memory>

#include "base/dtype.h"
#include "mxnet/ndarray.h"

namespace mxnet {

/* The values of an array: its own memory on the host, else a copy there. Waits until they are
 * written. REQUIRES: lives no longer than the array. */
class HostValues {
 public:
  explicit HostValues(const NDArray& a) {
    a.WaitToRead();
    blob_ = a.data();
    if (!a.ctx().is_gpu()) return;
    copy_.reset(new char[blob_.Bytes() + 1]);
    a.SyncCopyToCPU(copy_.get(), blob_.Bytes());
    blob_.dptr = copy_.get();
    blob_.ctx = Context::CPU();
  }
  const TBlob& blob() const { return blob_; }
  const char* at() const { return blob_.data<char>(); }

 private:
  TBlob blob_;
  std::unique_ptr<char[]> copy_;
};

}  // namespace mxnet
#endif  // MXNET_OPERATOR_INDEXING_HOST_VALUES_H_
