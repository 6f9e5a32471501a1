#include "storage/block_cache.h"

#include <algorithm>
#include <iterator>

namespace mxnet {
namespace storage {

void BlockCache::Put(void* ptr, size_t size, uint32_t tick) {
  auto bin = bins_.lower_bound(size);
  if (bin == bins_.end() || bin->first != size) {
    bin = bins_.emplace_hint(bin, size, Bin());
    ++empty_bins_;
  }
  uint32_t at = free_;
  if (at == kNone) {
    at = static_cast<uint32_t>(nodes_.size());
    nodes_.emplace_back();
  } else {
    free_ = nodes_[at].newer;
  }
  const uint32_t below = bin->second.top;
  nodes_[at] = {ptr, bin, tick, below, kNone, newest_, kNone};
  if (below != kNone)
    nodes_[below].above = at;
  else
    --empty_bins_;
  if (newest_ != kNone)
    nodes_[newest_].newer = at;
  else
    oldest_ = at;
  newest_ = at;
  bin->second.top = at;
  bytes_ += size;
  ++count_;
}

BlockCache::Block BlockCache::Take(size_t size, size_t most) {
  for (auto bin = bins_.lower_bound(size); bin != bins_.end() && bin->first <= most; ++bin)
    if (bin->second.top != kNone) return Remove(bin->second.top);
  return Block();
}

BlockCache::Block BlockCache::TakeBelow(size_t size, size_t least) {
  for (auto bin = bins_.lower_bound(size); bin != bins_.begin();) {
    --bin;
    if (bin->first < least) break;
    if (bin->second.top != kNone) return Remove(bin->second.top);
  }
  return Block();
}

BlockCache::Block BlockCache::TakeOldest(uint32_t tick) {
  if (oldest_ == kNone || nodes_[oldest_].tick >= tick) return Block();
  return Remove(oldest_);
}

void BlockCache::TakeAll(std::vector<Block>* blocks) {
  blocks->reserve(blocks->size() + count_);
  for (uint32_t at = oldest_; at != kNone; at = nodes_[at].newer) blocks->push_back({nodes_[at].ptr, nodes_[at].bin->first});
  *this = BlockCache();
}

BlockCache::Block BlockCache::Remove(uint32_t at) {
  Node& node = nodes_[at];
  const Block block{node.ptr, node.bin->first};
  if (node.above != kNone)
    nodes_[node.above].below = node.below;
  else
    node.bin->second.top = node.below;
  if (node.below != kNone) nodes_[node.below].above = node.above;
  if (node.older != kNone)
    nodes_[node.older].newer = node.newer;
  else
    oldest_ = node.newer;
  if (node.newer != kNone)
    nodes_[node.newer].older = node.older;
  else
    newest_ = node.older;
  const bool emptied = node.bin->second.top == kNone;
  node.newer = free_;
  free_ = at;
  bytes_ -= block.size;
  --count_;
  if (emptied && ++empty_bins_ > std::max(kEmptyBins, bins_.size() / 2)) DropEmptyBins();
  return block;
}

void BlockCache::DropEmptyBins() {
  for (auto bin = bins_.begin(); bin != bins_.end();) bin = bin->second.top == kNone ? bins_.erase(bin) : std::next(bin);
  empty_bins_ = 0;
}

}  // namespace storage
}  // namespace mxnet
