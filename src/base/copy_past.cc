#include "base/copy_past.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace mxnet {

int64_t LastLevelCacheBytes() {
  // kAssumed: where the system does not tell. Of a larger cache than kMost the rest is taken for
  // other programs'.
  constexpr int64_t kAssumed = 32 << 20, kMost = 48 << 20;
#ifdef _SC_LEVEL3_CACHE_SIZE
  static const int64_t size = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (size > 0) return std::clamp<int64_t>(size, 4 << 20, kMost);
#endif
  return kAssumed;
}

int64_t CoreCacheBytes() {
  constexpr int64_t kAssumed = 512 << 10, kMost = 4 << 20;
#ifdef _SC_LEVEL2_CACHE_SIZE
  static const int64_t size = sysconf(_SC_LEVEL2_CACHE_SIZE);
  if (size > 0) return std::clamp<int64_t>(size, 256 << 10, kMost);
#endif
  return kAssumed;
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
