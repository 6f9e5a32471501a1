/* Arrays whose values decide on the shape of a result: operators that read them on the calling
 * thread. */
#ifndef MXNET_OPERATOR_INDEXING_HOST_VALUES_H_
#define MXNET_OPERATOR_INDEXING_HOST_VALUES_H_

#include <memory>

#include "base/dtype.h"
#include "mxnet/engine.h"
#include "mxnet/ndarray.h"

namespace mxnet {

/* The values of an array: its own memory on the host, else a copy there. Waits until they are
 * written. REQUIRES: lives no longer than the array. */
class HostValues {
 public:
  /* kHeld: other threads' writes wait until Release, for those who look twice: a count must hold
   * when its elements are taken. REQUIRES: until then this thread waits for no array. */
  enum Hold { kUnheld, kHeld };

  explicit HostValues(const NDArray& a, Hold hold = kUnheld) {
    a.WaitToRead();
    blob_ = a.data();
    Var* const var = a.var();
    if (!a.ctx().is_gpu() && hold == kHeld && Engine::Get()->TryAcquire(&var, 1, nullptr, 0)) held_ = var;
    if (!a.ctx().is_gpu() && (held_ || hold == kUnheld)) return;
    copy_.reset(new char[blob_.Bytes() + 1]);
    a.CopyBytesTo(copy_.get(), blob_.Bytes());
    blob_.dptr = copy_.get();
    blob_.ctx = Context::CPU();
  }
  HostValues(const HostValues&) = delete;
  HostValues& operator=(const HostValues&) = delete;
  ~HostValues() { Release(); }
  void Release() {
    if (held_) Engine::Get()->Release(&held_, 1, nullptr, 0);
    held_ = nullptr;
  }
  const TBlob& blob() const { return blob_; }
  const char* at() const { return blob_.data<char>(); }

 private:
  TBlob blob_;
  std::unique_ptr<char[]> copy_;
  Var* held_ = nullptr;
};

}  // namespace mxnet
#endif  // MXNET_OPERATOR_INDEXING_HOST_VALUES_H_
