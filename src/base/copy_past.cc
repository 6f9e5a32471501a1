#include "base/copy_past.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace mxnet {

namespace {

#ifdef _SC_LEVEL3_CACHE_SIZE
constexpr int kLevel2 = _SC_LEVEL2_CACHE_SIZE, kLevel3 = _SC_LEVEL3_CACHE_SIZE;
#else
constexpr int kLevel2 = -1, kLevel3 = -1;  // sysconf knows no such name
#endif

/* What sysconf calls `name`, within bounds; `assumed` where the system does not tell. */
int64_t CacheBytes(int name, int64_t assumed, int64_t least, int64_t most) {
  const int64_t size = sysconf(name);
  return size > 0 ? std::clamp(size, least, most) : assumed;
}

}  // namespace

int64_t LastLevelCacheBytes() {
  constexpr int64_t kMost = 48 << 20;  // of a larger one the rest is taken for other programs'
  static const int64_t size = CacheBytes(kLevel3, 32 << 20, 4 << 20, kMost);
  return size;
}

int64_t CoreCacheBytes() {
  static const int64_t size = CacheBytes(kLevel2, 512 << 10, 256 << 10, 4 << 20);
  return size;
}

#if defined(__SSE2__)
void CopyPast(void* to, const void* from, int64_t bytes) {
  const char* f = static_cast<const char*>(from);
  char* t = static_cast<char*>(to);
  const int64_t head = std::min<int64_t>(bytes, static_cast<int64_t>(-reinterpret_cast<uintptr_t>(t) & 15));
  std::memcpy(t, f, static_cast<size_t>(head));
  int64_t i = head;
  for (; i + 16 <= bytes; i += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(t + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(f + i)));
  std::memcpy(t + i, f + i, static_cast<size_t>(bytes - i));
}
void EndCopiesPast() { _mm_sfence(); }
#else
void CopyPast(void* to, const void* from, int64_t bytes) { std::memcpy(to, from, static_cast<size_t>(bytes)); }
void EndCopiesPast() {}
#endif

}  // namespace mxnet
