#include <algorithm>

#include "mxnet/storage.h"

namespace mxnet {
namespace {

constexpr size_t kTooLarge = SIZE_MAX;

size_t RoundUpTo(size_t bytes, size_t multiple) {
  const size_t rest = bytes % multiple;
  if (rest == 0) return bytes;
  const size_t add = multiple - rest;
  return bytes > kTooLarge - add ? kTooLarge : bytes + add;
}

}  // namespace

MXNET_DLL size_t PoolOptions::Round(size_t bytes) const {
  if (bytes == 0 || type == PoolType::kUnpooled) return bytes;
  if (type == PoolType::kRound) {
    const size_t cutoff = size_t{1} << std::clamp(round_linear_cutoff, 0, 62);
    if (bytes > cutoff) return RoundUpTo(bytes, cutoff);
    size_t power = 1;
    while (power < bytes) power <<= 1;
    return power;
  }
  const size_t paged = RoundUpTo(bytes, std::max<size_t>(page_size, 1));
  return paged > large_alloc_round_size ? RoundUpTo(paged, std::max<size_t>(large_alloc_round_size, 1)) : paged;
}

}  // namespace mxnet
