#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/copy_past.h"
#include "base/dtype.h"
#include "kvstore/reduce.h"
#include "mxnet/env.h"

namespace mxnet {
namespace {

constexpr int64_t kBlockBytes = 8192;  // a block of sums stays in the first-level cache
constexpr int64_t kLine = 64;          // bytes of a line of the caches
/* Where a call touches more bytes than this, results bypass the caches: the caches could not keep
 * them, and would read what is about to be replaced. */
constexpr int64_t kStreamedBytes = int64_t{64} << 20;
/* How far inputs are fetched ahead: the processor's own prefetching ends at each page. */
constexpr int64_t kFetchAhead = 1024;

void Fetch(const void* in, int64_t bytes) {
#if defined(__GNUC__)
  for (int64_t i = 0; i < bytes; i += kLine) __builtin_prefetch(static_cast<const char*>(in) + i);
#else
  (void)in, (void)bytes;
#endif
}

#if defined(__SSE2__)
/* A line of the caches, both aligned. */
inline void StoreLinePast(const void* from, void* to) {
  const __m128i* f = static_cast<const __m128i*>(from);
  __m128i* t = static_cast<__m128i*>(to);
  for (int i = 0; i < 4; ++i) _mm_stream_si128(t + i, _mm_load_si128(f + i));
}
#else
inline void StoreLinePast(const void* from, void* to) { std::memcpy(to, from, static_cast<size_t>(kLine)); }
#endif

/* The sum of one element. */
template <typename T>
T SumAt(const std::vector<const T*>& in, int64_t i) {
  T sum = in[0][i];
  for (size_t k = 1; k < in.size(); ++k) sum = static_cast<T>(sum + in[k][i]);
  return sum;
}

/*
 * Each of `out` = sum of `in` past the caches, a line at a time: from registers, without a buffer.
 * False where results do not lie in lines alike.
 */
template <typename T>
bool SumLines(const std::vector<const T*>& in, const std::vector<T*>& out, int64_t begin, int64_t end) {
  constexpr int64_t kWidth = static_cast<int64_t>(sizeof(T)), kCount = kLine / kWidth, kAhead = kFetchAhead / kWidth;
  const int64_t place = static_cast<int64_t>(reinterpret_cast<uintptr_t>(out[0] + begin) % kLine);
  for (const T* o : out)
    if (static_cast<int64_t>(reinterpret_cast<uintptr_t>(o + begin) % kLine) != place || place % kWidth != 0) return false;
  const int64_t first = std::min(end, begin + (kLine - place) % kLine / kWidth);
  const int64_t last = first + (end - first) / kCount * kCount;
  const auto plain = [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      const T sum = SumAt(in, i);
      for (T* o : out) o[i] = sum;
    }
  };
  plain(begin, first);
  const size_t addends = in.size();
  const T *a = in[0], *b = in[addends > 1 ? 1 : 0];
  for (int64_t at = first; at < last; at += kCount) {
    alignas(kLine) T line[kCount];
    __builtin_prefetch(a + at + kAhead);
    if (addends == 1) {
      std::memcpy(line, a + at, static_cast<size_t>(kLine));
    } else {
      __builtin_prefetch(b + at + kAhead);
      for (int64_t i = 0; i < kCount; ++i) line[i] = static_cast<T>(a[at + i] + b[at + i]);
      for (size_t k = 2; k < addends; ++k) {
        const T* p = in[k] + at;
        __builtin_prefetch(p + kAhead);
        for (int64_t i = 0; i < kCount; ++i) line[i] = static_cast<T>(line[i] + p[i]);
      }
    }
    for (T* o : out) StoreLinePast(line, o + at);
  }
  EndCopiesPast();
  plain(last, end);
  return true;
}

/* Each of `out` = `in`, through a block at a time. */
void CopyRange(const char* in, const std::vector<char*>& out, int64_t begin, int64_t end, bool past_caches) {
  if (past_caches && SumLines<char>({in}, out, begin, end)) return;
  for (int64_t at = begin; at < end; at += kBlockBytes) {
    const int64_t n = std::min(kBlockBytes, end - at);
    if (past_caches) Fetch(in + at, std::min(n + kFetchAhead, end - at));
    for (char* o : out) {
      if (o == in) continue;
      if (past_caches)
        CopyPast(o + at, in + at, n);
      else
        std::memcpy(o + at, in + at, static_cast<size_t>(n));
    }
  }
  if (past_caches) EndCopiesPast();
}

template <typename T, typename A>
void SumBlock(const std::vector<const T*>& in, A* sum, int64_t at, int64_t n) {
  const T *a = in[0] + at, *b = in[1] + at;
  for (int64_t i = 0; i < n; ++i) sum[i] = static_cast<A>(static_cast<A>(a[i]) + static_cast<A>(b[i]));
  for (size_t k = 2; k < in.size(); ++k) {
    const T* p = in[k] + at;
    for (int64_t i = 0; i < n; ++i) sum[i] = static_cast<A>(sum[i] + static_cast<A>(p[i]));
  }
}

template <typename T, typename A>
void SumRange(const std::vector<const T*>& in, const std::vector<T*>& out, int64_t begin, int64_t end, bool past_caches) {
  constexpr int64_t kBlock = kBlockBytes / static_cast<int64_t>(sizeof(A)), kAhead = kFetchAhead / static_cast<int64_t>(sizeof(T));
  constexpr int64_t kStep = 512 / static_cast<int64_t>(sizeof(T));
  if constexpr (std::is_same<T, A>::value)
    if (past_caches && SumLines(in, out, begin, end)) return;
  alignas(64) A sum[kBlock];
  alignas(64) T rounded[kBlock];
  for (int64_t at = begin; at < end; at += kBlock) {
    const int64_t n = std::min(kBlock, end - at);
    if (past_caches) {
      for (int64_t i = 0; i < n; i += kStep) {
        for (const T* p : in) Fetch(p + at + i + kAhead, at + i + kAhead + kStep <= end ? kStep * static_cast<int64_t>(sizeof(T)) : 0);
        SumBlock(in, sum + i, at + i, std::min(kStep, n - i));
      }
    } else {
      SumBlock(in, sum, at, n);
    }
    const void* result = sum;
    if (!std::is_same<T, A>::value) {
      for (int64_t i = 0; i < n; ++i) rounded[i] = T(sum[i]);
      result = rounded;
    }
    for (T* o : out) {
      if (past_caches)
        CopyPast(o + at, result, n * static_cast<int64_t>(sizeof(T)));
      else
        std::memcpy(o + at, result, static_cast<size_t>(n) * sizeof(T));
    }
  }
  if (past_caches) EndCopiesPast();
}

template <typename T>
struct SumType {
  using type = T;
};
template <>
struct SumType<float16> {
  using type = float;
};
template <>
struct SumType<bfloat16> {
  using type = float;
};
template <>
struct SumType<bool> {
  using type = int;
};

}  // namespace

void SumArrays(const std::vector<TBlob>& in, const std::vector<TBlob>& out) {
  const int64_t n = in[0].Size();
  const bool past_caches = static_cast<int64_t>(in[0].Bytes() * (in.size() + out.size())) > kStreamedBytes;
  if (in.size() == 1) {
    std::vector<char*> to;
    for (const TBlob& b : out) to.push_back(static_cast<char*>(b.dptr));
    const int64_t width = static_cast<int64_t>(DTypeSize(in[0].dtype));
    ParallelForThreads(ReductionThreads(n), n, [&](int64_t begin, int64_t end) {
      CopyRange(static_cast<const char*>(in[0].dptr), to, begin * width, end * width, past_caches);
    });
    return;
  }
  VisitDType(in[0].dtype, "kvstore", [&](auto tag) {
    using T = decltype(tag);
    std::vector<const T*> from;
    std::vector<T*> to;
    for (const TBlob& b : in) from.push_back(b.data<T>());
    for (const TBlob& b : out) to.push_back(b.data<T>());
    ParallelForThreads(ReductionThreads(n), n,
                       [&](int64_t begin, int64_t end) { SumRange<T, typename SumType<T>::type>(from, to, begin, end, past_caches); });
  });
}

}  // namespace mxnet
