/* Memory of the host that one call of a kernel needs, from the pool; pages of new memory would be
 * cleared each time. */
#ifndef MXNET_OPERATOR_HOST_SCRATCH_H_
#define MXNET_OPERATOR_HOST_SCRATCH_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "mxnet/storage.h"

namespace mxnet {

/* n numbers, not set to anything. Throws Error(kOutOfMemory) as Storage does. */
template <typename T>
class HostScratch {
 public:
  explicit HostScratch(int64_t n)
      : memory_(Storage::Get()->Alloc(static_cast<size_t>(std::max<int64_t>(n, 1)) * sizeof(T), Context::CPU())) {}
  ~HostScratch() { Storage::Get()->Free(memory_); }
  HostScratch(const HostScratch&) = delete;
  HostScratch& operator=(const HostScratch&) = delete;

  T* get() const { return static_cast<T*>(memory_.dptr); }
  T& operator[](int64_t i) const { return get()[i]; }

 private:
  const StorageHandle memory_;
};

}  // namespace mxnet
#endif  // MXNET_OPERATOR_HOST_SCRATCH_H_
