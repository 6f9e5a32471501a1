/*
 * Large blocks on small pages, since huge ones were slow to come (base/huge_pages.h). Their pages
 * become huge later, in some hundredths of the time.
 *
 * THREADS  Everything may be called from any thread. REQUIRES: no lock of a pool is held.
 */
#ifndef MXNET_STORAGE_LATE_BLOCKS_H_
#define MXNET_STORAGE_LATE_BLOCKS_H_

#include <cstddef>

#include "base/huge_pages.h"

namespace mxnet {
namespace storage {

class LateBlocks {
 public:
  static void Add(const PageRange& pages);
  /* The block is about to go. */
  static void Drop(const void* block, size_t bytes);
};

}  // namespace storage
}  // namespace mxnet
#endif  // MXNET_STORAGE_LATE_BLOCKS_H_
