/* Which data of a loop falls into the same sets of the first-level cache. */
#ifndef MXNET_BASE_CACHE_SETS_H_
#define MXNET_BASE_CACHE_SETS_H_

#include <cstdint>

namespace mxnet {

constexpr int64_t kCacheLine = 64;  // bytes

/* Do `rows` rows, read side by side and a multiple of `distance` bytes apart, push each other out
 * of the first-level cache? Any thread; asks no system call. */
bool RowsCollide(int64_t distance, int rows);

}  // namespace mxnet
#endif  // MXNET_BASE_CACHE_SETS_H_
