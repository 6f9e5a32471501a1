/* Memory of the host: its blocks can be made larger for less than new ones cost, and have pages. */
#ifndef MXNET_STORAGE_GROWING_BACKEND_H_
#define MXNET_STORAGE_GROWING_BACKEND_H_

#include <cstddef>

#include "mxnet/storage.h"

namespace mxnet {
namespace storage {

class GrowingBackend : public StorageBackend {
 public:
  /* Blocks of so many bytes and more can grow, up to less than a huge page. */
  virtual size_t GrowsFrom() const = 0;
  /*
   * A block of `to` bytes in place of one of `from`, which is less: it has the pages of that one,
   * perhaps at another address, aligned as one of Malloc's. Null: there is no memory, and the block
   * is gone as well. Never throws.
   */
  virtual void* Grow(void* ptr, size_t from, size_t to) = 0;
  /* The first `used` bytes of a new block are written soon, the others are not. */
  virtual void Prepare(void* /*ptr*/, size_t /*used*/, size_t /*bytes*/) {}
};

}  // namespace storage
}  // namespace mxnet
#endif  // MXNET_STORAGE_GROWING_BACKEND_H_
