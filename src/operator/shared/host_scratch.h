/* Memory of the host that one call of a kernel needs, from the pool; pages of new memory would be
 * cleared each time. */
#ifndef MXNET_OPERATOR_SHARED_HOST_SCRATCH_H_
#define MXNET_OPERATOR_SHARED_HOST_SCRATCH_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "mxnet/storage.h"

namespace mxnet {

/* n numbers, not set to anything; few of them lie in the object. Throws Error(kOutOfMemory) as
 * Storage does. */
template <typename T>
class HostScratch {
 public:
  explicit HostScratch(int64_t n) {
    const size_t bytes = static_cast<size_t>(std::max<int64_t>(n, 1)) * sizeof(T);
    if (bytes <= sizeof(few_)) return;
    memory_ = Storage::Get()->Alloc(bytes, Context::CPU());
    numbers_ = static_cast<T*>(memory_.dptr);
  }
  ~HostScratch() {
    if (memory_.dptr != nullptr) Storage::Get()->Free(memory_);
  }
  HostScratch(const HostScratch&) = delete;
  HostScratch& operator=(const HostScratch&) = delete;

  T* get() const { return numbers_; }
  T& operator[](int64_t i) const { return numbers_[i]; }

 private:
  alignas(64) unsigned char few_[512];
  StorageHandle memory_{};
  T* numbers_ = reinterpret_cast<T*>(few_);
};

}  // namespace mxnet
#endif  // MXNET_OPERATOR_SHARED_HOST_SCRATCH_H_
