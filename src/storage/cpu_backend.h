/* The host's memory as a backend; also used for pinned memory by builds and machines without
 * CUDA. */
#ifndef MXNET_STORAGE_CPU_BACKEND_H_
#define MXNET_STORAGE_CPU_BACKEND_H_

#include <cstddef>

#include "storage/growing_backend.h"
#include "storage/host_memory.h"

namespace mxnet {
namespace storage {

class CpuBackend : public GrowingBackend {
 public:
  /* Refuses what exceeds the memory that is available: the kernel would promise it, and kill the
   * process at first use. */
  void* Malloc(size_t bytes, size_t alignment) override;
  size_t GrowsFrom() const override;
  void* Grow(void* ptr, size_t from, size_t to) override;
  void Prepare(void* ptr, size_t used, size_t bytes) override;
  void Free(void* ptr, size_t bytes) override;
  void MemInfo(size_t* free_bytes, size_t* total_bytes) override;

 private:
  HostMemory memory_;
};

}  // namespace storage
}  // namespace mxnet
#endif  // MXNET_STORAGE_CPU_BACKEND_H_
