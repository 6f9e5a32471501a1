#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/vector_bytes.h"
#include "operator/reduce/reduce_loops.h"

#ifdef __AVX__
#include <immintrin.h>
#endif

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

template <typename T>
using Acc = std::conditional_t<std::is_same<T, float>::value, double, T>;
template <typename T>
constexpr T Infinity() {
  return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
}
template <typename T>
constexpr T MinusInfinity() {
  return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
}

template <typename T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes)));
};

// NaN wins.
template <typename V>
inline V Larger(V a, V x) {
  return a == a ? (a > x ? a : x) : a;
}
template <typename V>
inline V Smaller(V a, V x) {
  return a == a ? (a < x ? a : x) : a;
}
#if defined(__AVX512F__)  // max and min give their second operand when one is NaN: one comparison is left
using Floats = VectorOf<float>::type;
inline Floats Larger(Floats a, Floats x) {
  return reinterpret_cast<Floats>(_mm512_mask_mov_ps(_mm512_max_ps(a, x), _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), a));
}
inline Floats Smaller(Floats a, Floats x) {
  return reinterpret_cast<Floats>(_mm512_mask_mov_ps(_mm512_min_ps(a, x), _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), a));
}
#elif defined(__AVX__)
using Floats = VectorOf<float>::type;
inline Floats Larger(Floats a, Floats x) {
  return reinterpret_cast<Floats>(_mm256_blendv_ps(_mm256_max_ps(a, x), a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q)));
}
inline Floats Smaller(Floats a, Floats x) {
  return reinterpret_cast<Floats>(_mm256_blendv_ps(_mm256_min_ps(a, x), a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q)));
}
#endif

// The folds of folds.cuh, on scalars and on vectors V of them: Step takes an element in, Merge
// another partial result.
#define MXNET_FOLD(name, neutral, map, merge, range)                                     \
  struct name {                                                                          \
    template <typename T>                                                                \
    static constexpr T Neutral() {                                                       \
      [[maybe_unused]] constexpr T zero = 0, one = 1;                                    \
      [[maybe_unused]] constexpr T lowest = MinusInfinity<T>(), highest = Infinity<T>(); \
      return neutral;                                                                    \
    }                                                                                    \
    template <typename V>                                                                \
    static inline V Map([[maybe_unused]] V x) {                                          \
      [[maybe_unused]] const V zero = V{}, one = V{} + 1;                                \
      return map;                                                                        \
    }                                                                                    \
    template <typename V>                                                                \
    static inline V Merge(V a, V b) {                                                    \
      [[maybe_unused]] const V zero = V{}, one = V{} + 1;                                \
      return merge;                                                                      \
    }                                                                                    \
    template <typename V>                                                                \
    static inline V Step(V a, V x) {                                                     \
      return Merge<V>(a, Map<V>(x));                                                     \
    }                                                                                    \
  };
MXNET_REDUCTION_FOLDS(MXNET_FOLD)
// Of partial results: they are mapped already.
template <class K>
struct Merged : K {
  template <typename V>
  static inline V Step(V a, V b) {
    return K::template Merge<V>(a, b);
  }
};

template <typename V, typename T, typename In>
inline V LoadVector(const In* p) {
  if constexpr (std::is_same<In, T>::value) {
    V v;
    std::memcpy(&v, p, sizeof(v));
    return v;
#ifdef __AVX512F__  // the compiler's own conversion goes by halves
  } else if constexpr (std::is_same<In, float>::value) {
    return reinterpret_cast<V>(_mm512_cvtps_pd(_mm256_loadu_ps(p)));
#elif defined(__AVX__)
  } else if constexpr (std::is_same<In, float>::value) {
    return reinterpret_cast<V>(_mm256_cvtps_pd(_mm_loadu_ps(p)));
#endif
  } else {
    typedef In Narrow __attribute__((vector_size(kVectorBytes * sizeof(In) / sizeof(T))));
    Narrow v;
    std::memcpy(&v, p, sizeof(v));
    return __builtin_convertvector(v, V);
  }
}

#if defined(__AVX512F__)
inline __m512 MaskedLoad(float rest, const float* p, int64_t n) {
  return _mm512_mask_loadu_ps(_mm512_set1_ps(rest), static_cast<__mmask16>((1u << n) - 1), p);
}
inline __m512d MaskedLoad(double rest, const double* p, int64_t n) {
  return _mm512_mask_loadu_pd(_mm512_set1_pd(rest), static_cast<__mmask8>((1u << n) - 1), p);
}
inline __m512d MaskedLoad(double rest, const float* p, int64_t n) {
  const __mmask8 mask = static_cast<__mmask8>((1u << n) - 1);
  return _mm512_mask_mov_pd(_mm512_set1_pd(rest), mask, _mm512_cvtps_pd(_mm256_maskz_loadu_ps(mask, p)));
}
#elif defined(__AVX2__)
inline __m256i FirstOf(int64_t n, const __m256i& lanes32) { return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), lanes32); }
inline __m256 MaskedLoad(float rest, const float* p, int64_t n) {
  const __m256i mask = FirstOf(n, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  return _mm256_blendv_ps(_mm256_set1_ps(rest), _mm256_maskload_ps(p, mask), _mm256_castsi256_ps(mask));
}
inline __m256d MaskedLoad(double rest, const double* p, int64_t n) {
  const __m256i mask = FirstOf(n, _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3));
  return _mm256_blendv_pd(_mm256_set1_pd(rest), _mm256_maskload_pd(p, mask), _mm256_castsi256_pd(mask));
}
inline __m256d MaskedLoad(double rest, const float* p, int64_t n) {
  const __m128i mask = _mm256_castsi256_si128(FirstOf(n, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)));
  const __m256i wide = _mm256_cvtepi32_epi64(mask);
  return _mm256_blendv_pd(_mm256_set1_pd(rest), _mm256_cvtps_pd(_mm_maskload_ps(p, mask)), _mm256_castsi256_pd(wide));
}
#endif

// The elements of a vector beyond the first `n` are neutral, which no step takes notice of.
template <class K, typename V, typename T, typename In>
inline V LoadSome(const In* p, int64_t n) {
#ifdef __AVX2__
  if constexpr (std::is_floating_point<T>::value && std::is_floating_point<In>::value)
    return reinterpret_cast<V>(MaskedLoad(K::template Neutral<T>(), p, n));
#endif
  alignas(64) In some[kVectorBytes / sizeof(T)];
  std::fill_n(some, kVectorBytes / sizeof(T), K::template Neutral<In>());
  std::memcpy(some, p, static_cast<size_t>(n) * sizeof(In));
  return LoadVector<V, T>(some);
}

// Lanes of the wide accumulator for a vector of T.
template <typename T>
struct WideLanes {
  using V = typename VectorOf<T>::type;
  using W = typename VectorOf<Acc<T>>::type;
  static constexpr int kParts = sizeof(Acc<T>) / sizeof(T), kEach = kVectorBytes / sizeof(Acc<T>);
  W part[kParts];
  template <class K>
  void Start() {
    for (W& w : part) w = W{} + K::template Neutral<Acc<T>>();
  }
  template <class K>
  void Merge(V v) {
    typedef T Part __attribute__((vector_size(kEach * sizeof(T))));
    Part parts[kParts];
    std::memcpy(parts, &v, sizeof(v));
    for (int p = 0; p < kParts; ++p) part[p] = K::template Merge<W>(part[p], __builtin_convertvector(parts[p], W));
  }
  template <class K>
  Acc<T> Result(Acc<T> acc) const {
    W w = part[0];
    for (int p = 1; p < kParts; ++p) w = K::template Merge<W>(w, part[p]);
    for (int l = 0; l < kEach; ++l) acc = K::template Merge<Acc<T>>(acc, w[l]);
    return acc;
  }
};

#ifdef __AVX512F__
// The conversion to double, not the memory, bounds sums of floats in a cache. So four elements are
// added in float and their sums in double: the result is that of elements which differ from those
// given by one unit in the last place at most. They lie in neighbouring vectors: in a longer step
// the loads outrun the CPU's prefetching. Where the sum is not finite `total` is left alone, and
// false returned: in double it may be finite.
inline bool SumOfFours(const float* x, int64_t n, double* total, int64_t* done) {
  constexpr int kLanes = 16, kStep = 4 * kLanes;
  __m512d low = {}, high = {};
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    const float* p = x + i;
    const __m512 four = _mm512_add_ps(_mm512_add_ps(_mm512_loadu_ps(p), _mm512_loadu_ps(p + kLanes)),
                                      _mm512_add_ps(_mm512_loadu_ps(p + 2 * kLanes), _mm512_loadu_ps(p + 3 * kLanes)));
    low = _mm512_add_pd(low, _mm512_cvtps_pd(_mm512_castps512_ps256(four)));
    high = _mm512_add_pd(high, _mm512_cvtps_pd(_mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(four), 1))));
  }
  const double sum = _mm512_reduce_add_pd(_mm512_add_pd(low, high));
  if (!std::isfinite(sum)) return false;
  *total += sum;
  *done = i;
  return true;
}
#endif

// In: what the data is; T: what it is accumulated in.
template <class K, typename In, typename T>
Acc<T> Row(const In* x, int64_t n, Acc<T> acc) {
  using V = typename VectorOf<T>::type;
  constexpr int kLanes = kVectorBytes / sizeof(T);
  constexpr int64_t kChunk = 4096;  // elements between two visits to the wide accumulator
#ifdef __AVX512F__
  if constexpr (std::is_same<K, Sum>::value && std::is_same<In, float>::value && std::is_same<T, double>::value) {
    int64_t done = 0;
    if (n >= 256 && SumOfFours(x, n, &acc, &done)) x += done, n -= done;
  }
#endif
  if (n >= kLanes / 2) {
    const V neutral = V{} + K::template Neutral<T>();
    WideLanes<T> wide;
    wide.template Start<K>();
    do {
      const int64_t m = std::min(n, kChunk);
      V v0 = neutral, v1 = neutral, v2 = neutral, v3 = neutral;
      int64_t i = 0;
      for (; i + 4 * kLanes <= m; i += 4 * kLanes) {
        v0 = K::template Step<V>(v0, LoadVector<V, T>(x + i));
        v1 = K::template Step<V>(v1, LoadVector<V, T>(x + i + kLanes));
        v2 = K::template Step<V>(v2, LoadVector<V, T>(x + i + 2 * kLanes));
        v3 = K::template Step<V>(v3, LoadVector<V, T>(x + i + 3 * kLanes));
      }
      for (; i + kLanes <= m; i += kLanes) v0 = K::template Step<V>(v0, LoadVector<V, T>(x + i));
      if (i < m) v1 = K::template Step<V>(v1, LoadSome<K, V, T>(x + i, m - i));
      wide.template Merge<K>(K::template Merge<V>(K::template Merge<V>(v0, v1), K::template Merge<V>(v2, v3)));
      x += m;
      n -= m;
    } while (n > 0);
    return wide.template Result<K>(acc);
  }
  for (int64_t i = 0; i < n; ++i) acc = K::template Step<Acc<T>>(acc, x[i]);
  return acc;
}

// kRows neighbouring rows of few elements, each in its own order: their steps overlap.
template <class K, int kRows, typename In, typename A>
inline void ShortRows(const In* x, int64_t n, A* acc) {
  A a[kRows];
  for (int r = 0; r < kRows; ++r) a[r] = acc[r];
  for (int64_t j = 0; j < n; ++j)
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) a[r] = K::template Step<A>(a[r], static_cast<A>(x[r * n + j]));
  for (int r = 0; r < kRows; ++r) acc[r] = a[r];
}

template <class K, typename In, typename T>
void Rows(const void* data, int64_t rows, int64_t n, void* result) {
  constexpr int64_t kFew = 24;
  const In* x = static_cast<const In*>(data);
  Acc<T>* acc = static_cast<Acc<T>*>(result);
  if (n <= kFew) {  // all of them, that a row's rounding does not depend on how many there are
    constexpr int kTogether = 8;
    int64_t r = 0;
    for (; r + kTogether <= rows; r += kTogether) ShortRows<K, kTogether>(x + r * n, n, acc + r);
    for (; r < rows; ++r) ShortRows<K, 1>(x + r * n, n, acc + r);
    return;
  }
  for (int64_t r = 0; r < rows; ++r) acc[r] = Row<K, In, T>(x + r * n, n, acc[r]);
}

template <class K, typename In, typename T>
void Columns(const void* data, int64_t rows, int64_t stride, int64_t n, void* result) {
  const In* x = static_cast<const In*>(data);
  T* __restrict part = static_cast<T*>(result);
  using V = typename VectorOf<T>::type;
  constexpr int kLanes = kVectorBytes / sizeof(T);
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    const In *x0 = x + r * stride, *x1 = x0 + stride, *x2 = x1 + stride, *x3 = x2 + stride;
    int64_t j = 0;
    for (; j + kLanes <= n; j += kLanes) {
      V v = LoadVector<V, T>(part + j);
      for (const In* row : {x0, x1, x2, x3}) v = K::template Step<V>(v, LoadVector<V, T>(row + j));
      std::memcpy(part + j, &v, sizeof(v));
    }
    for (; j < n; ++j)
      part[j] = K::template Step<T>(K::template Step<T>(K::template Step<T>(K::template Step<T>(part[j], T(x0[j])), T(x1[j])), T(x2[j])),
                                    T(x3[j]));
  }
  for (; r < rows; ++r)
    for (int64_t j = 0; j < n; ++j) part[j] = K::template Step<T>(part[j], T(x[r * stride + j]));
}

template <class K, typename T>
void Start(void* part, void* acc, int64_t n) {
  std::fill_n(static_cast<Acc<T>*>(acc), n, K::template Neutral<Acc<T>>());
  if (part) std::fill_n(static_cast<T*>(part), n, K::template Neutral<T>());
}

template <class K, typename T>
void Flush(void* part, void* acc, int64_t n) {
  T* p = static_cast<T*>(part);
  Acc<T>* a = static_cast<Acc<T>*>(acc);
  for (int64_t j = 0; j < n; ++j) a[j] = K::template Merge<Acc<T>>(a[j], p[j]);
  std::fill_n(p, n, K::template Neutral<T>());
}

template <class K, typename A>
void MergedParts(const void* parts, int64_t n, void* acc) {
  *static_cast<A*>(acc) = Row<Merged<K>, A, A>(static_cast<const A*>(parts), n, *static_cast<A*>(acc));
}

template <class K, typename In, typename T>
constexpr reduce::Loops Make() {
  return {Rows<K, In, T>, Columns<K, In, T>, Flush<K, T>, MergedParts<K, Acc<T>>, Start<K, T>};
}
#define MXNET_FOLD_ENTRY(K, ...) \
  {Make<K, float, float>(), Make<K, double, double>(), Make<K, int64_t, int64_t>(), Make<K, float, double>()},
constexpr reduce::Loops kLoops[reduce::kNumKinds][4] = {MXNET_REDUCTION_FOLDS(MXNET_FOLD_ENTRY)};

// As many bytes as are looked at before it is asked whether the rest matters; sums of so many fit
// into 32 bits.
constexpr int64_t kByteChunk = 4096;

template <typename T>
T Extreme(const T* x, int64_t n, bool smallest, T stop) {
  T m = *x;
  for (int64_t i = 0; i < n; i += kByteChunk) {
    const int64_t end = std::min(n, i + kByteChunk);
    if (smallest) {
      for (int64_t j = i; j < end; ++j) m = x[j] < m ? x[j] : m;
      if (m <= stop) break;
    } else {
      for (int64_t j = i; j < end; ++j) m = x[j] > m ? x[j] : m;
      if (m >= stop) break;
    }
  }
  return m;
}

template <typename T>
int64_t Total(const T* x, int64_t n) {
  int64_t total = 0;
  for (int64_t i = 0; i < n; i += kByteChunk) {
    const int64_t end = std::min(n, i + kByteChunk);
    int32_t sum = 0;
    for (int64_t j = i; j < end; ++j) sum += x[j];
    total += sum;
  }
  return total;
}

template <typename T>
int64_t Fold(int kind, const T* x, int64_t n) {
  constexpr T lowest = std::numeric_limits<T>::lowest(), highest = std::numeric_limits<T>::max();
  switch (kind) {
    case reduce::kSum: return Total(x, n);
    case reduce::kMax: return Extreme<T>(x, n, false, highest);
    case reduce::kMin: return Extreme<T>(x, n, true, lowest);
    default: return 0;
  }
}

// Zero where some of the bytes are (kAll), or where all are.
template <bool kAll>
void ByteColumns(const uint8_t* x, int64_t rows, int64_t stride, int64_t n, uint8_t* __restrict folded) {
  auto merge = [](uint8_t a, uint8_t b) { return kAll ? (a < b ? a : b) : static_cast<uint8_t>(a | b); };
  std::memcpy(folded, x, static_cast<size_t>(n));
  int64_t r = 1;
  for (; r + 4 <= rows; r += 4) {
    const uint8_t *x0 = x + r * stride, *x1 = x0 + stride, *x2 = x1 + stride, *x3 = x2 + stride;
    for (int64_t j = 0; j < n; ++j) folded[j] = merge(folded[j], merge(merge(x0[j], x1[j]), merge(x2[j], x3[j])));
  }
  for (; r < rows; ++r)
    for (int64_t j = 0; j < n; ++j) folded[j] = merge(folded[j], x[r * stride + j]);
  for (int64_t j = 0; j < n; ++j) folded[j] = folded[j] != 0;
}

}  // namespace

void FoldByteColumns(int kind, const void* data, int64_t rows, int64_t stride, int64_t n, uint8_t* folded) {
  (kind == reduce::kAll ? ByteColumns<true> : ByteColumns<false>)(static_cast<const uint8_t*>(data), rows, stride, n, folded);
}

int64_t FoldBytes(int kind, bool is_signed, const void* data, int64_t n) {
  const uint8_t* bytes = static_cast<const uint8_t*>(data);
  if (kind == reduce::kAny) return Extreme<uint8_t>(bytes, n, false, 1);
  if (kind == reduce::kAll) return Extreme<uint8_t>(bytes, n, true, 0);
  return is_signed ? Fold(kind, static_cast<const int8_t*>(data), n) : Fold(kind, bytes, n);
}

const reduce::Loops* ReduceLoops(int kind, int compute) { return &kLoops[kind][compute]; }

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
