/* Copies past the caches, of what they could not keep. */
#ifndef MXNET_BASE_COPY_PAST_H_
#define MXNET_BASE_COPY_PAST_H_

#include <cstdint>

namespace mxnet {

/* Bytes of the last-level cache that a program may count on. */
int64_t LastLevelCacheBytes();
/* Bytes of the largest cache of one core's own. */
int64_t CoreCacheBytes();

/* Where a call reads and writes so many bytes, the caches lose its first results before its end. At
 * the size of the cache half of them are still there. */
inline bool OutgrowsCaches(int64_t bytes) { return bytes / 3 >= LastLevelCacheBytes() / 2; }

/* memcpy whose stores go to memory at once: nothing is read there first. REQUIRES: no overlap. */
void CopyPast(void* to, const void* from, int64_t bytes);

/* Between the last of a thread's copies past the caches and whatever tells others of them. */
void EndCopiesPast();

}  // namespace mxnet
#endif  // MXNET_BASE_COPY_PAST_H_
