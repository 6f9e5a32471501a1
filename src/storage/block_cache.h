/*
 * Freed blocks by size, and by how long they have lain here.
 *
 * Blocks of one size are a stack: the one freed last, whose pages are still in the caches, is
 * handed out first, and the oldest stay at the bottom. An entry is a node in a slab that only grows
 * to the most entries there ever were at once, so that Put and Take allocate nothing in a steady
 * loop.
 *
 * THREADS  Used under the pool's lock.
 */
#ifndef MXNET_STORAGE_BLOCK_CACHE_H_
#define MXNET_STORAGE_BLOCK_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace mxnet {
namespace storage {

class BlockCache {
 public:
  struct Block {
    void* ptr = nullptr;
    size_t size = 0;
    explicit operator bool() const { return ptr != nullptr; }
  };

  /* `tick`: when; never less than at the call before. */
  void Put(void* ptr, size_t size, uint32_t tick);
  /* A block of `size`, else the smallest of up to `most` bytes; none: an empty one. */
  Block Take(size_t size, size_t most);
  /* The largest block of less than `size` bytes, but not less than `least`; none: an empty one. */
  Block TakeBelow(size_t size, size_t least);
  /* The block that has lain here longest, if it was put here before `tick`. */
  Block TakeOldest(uint32_t tick);
  void TakeAll(std::vector<Block>* blocks);
  size_t bytes() const { return bytes_; }
  size_t count() const { return count_; }
  /* Sizes that are remembered, blocks or not: bounded by twice those that have blocks. */
  size_t sizes() const { return bins_.size(); }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr size_t kEmptyBins = 64;
  struct Bin {
    uint32_t top = kNone;
  };
  using Bins = std::map<size_t, Bin>;
  struct Node {
    void* ptr;
    Bins::iterator bin;
    uint32_t tick;
    uint32_t below, above;  // in its bin
    uint32_t older, newer;  // among all; `newer` of a free node: the next free one
  };

  Block Remove(uint32_t at);
  void DropEmptyBins();

  Bins bins_;
  std::vector<Node> nodes_;
  uint32_t free_ = kNone, oldest_ = kNone, newest_ = kNone;
  size_t bytes_ = 0, count_ = 0, empty_bins_ = 0;
};

}  // namespace storage
}  // namespace mxnet
#endif  // MXNET_STORAGE_BLOCK_CACHE_H_
