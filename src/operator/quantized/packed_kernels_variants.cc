// Products of 8-bit integers, widened to 16 bits as they are read: pairs of products added in 32
// bits are one instruction on each level, and exact. Those of bytes saturate.
#include <algorithm>
#include <cstring>
#include <type_traits>
#if defined(__SSE4_1__)
#include <immintrin.h>
#endif

#include "operator/quantized/four_bytes.h"
#include "operator/quantized/packed_kernels.h"
#include "operator/quantized/packed_winograd.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

using quantized::kWideColumns;

#if defined(__SSE4_1__)

#if defined(__AVX512BW__)
using Vector = __m512i;
constexpr int kMostRows = 8, kHalfRows = 0;
inline Vector Zero() { return _mm512_setzero_si512(); }
inline Vector Weights(const int8_t* w) { return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(w))); }
inline Vector Weights(const int16_t* w) { return _mm512_loadu_si512(w); }
inline Vector Both(const int16_t* p) { return _mm512_set1_epi32(FourBytes(p)); }
inline Vector Add(Vector sum, Vector x, Vector w) { return _mm512_add_epi32(sum, _mm512_madd_epi16(x, w)); }
inline void Store(int32_t* to, Vector v) { _mm512_storeu_si512(to, v); }
#elif defined(__AVX2__)
using Vector = __m256i;
constexpr int kMostRows = 6, kHalfRows = 8;
inline Vector Zero() { return _mm256_setzero_si256(); }
inline Vector Weights(const int8_t* w) { return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w))); }
inline Vector Weights(const int16_t* w) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w)); }
inline Vector Both(const int16_t* p) { return _mm256_set1_epi32(FourBytes(p)); }
inline Vector Add(Vector sum, Vector x, Vector w) { return _mm256_add_epi32(sum, _mm256_madd_epi16(x, w)); }
inline void Store(int32_t* to, Vector v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), v); }
#else
using Vector = __m128i;
constexpr int kMostRows = 2, kHalfRows = 4;
inline Vector Zero() { return _mm_setzero_si128(); }
inline Vector Weights(const int8_t* w) { return _mm_cvtepi8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(w))); }
inline Vector Weights(const int16_t* w) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(w)); }
inline Vector Both(const int16_t* p) { return _mm_set1_epi32(FourBytes(p)); }
inline Vector Add(Vector sum, Vector x, Vector w) { return _mm_add_epi32(sum, _mm_madd_epi16(x, w)); }
inline void Store(int32_t* to, Vector v) { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), v); }
#endif

constexpr int64_t kLeastRows = 8 * kMostRows, kMostWidened = 512;  // pairs of a panel: 32 KiB

constexpr int kLanes = sizeof(Vector) / sizeof(int32_t), kVectors = kWideColumns / kLanes;

/* Sums of rows, each a variable of its own: compilers keep arrays of so many in memory. */
template <int N>
struct SumsOf {
  Vector first = Zero();
  SumsOf<N - 1> rest;
  __attribute__((always_inline)) void Multiply(Vector x, const Vector* weights) {
    first = Add(first, x, *weights);
    rest.Multiply(x, weights + 1);
  }
  __attribute__((always_inline)) void StoreTo(int32_t* to) const {
    Store(to, first);
    rest.StoreTo(to + kLanes);
  }
};
template <>
struct SumsOf<0> {
  void Multiply(Vector, const Vector*) {}
  void StoreTo(int32_t*) const {}
};

template <int ROWS, int VECTORS>
struct TileSums {
  SumsOf<VECTORS> first;
  TileSums<ROWS - 1, VECTORS> rest;
  __attribute__((always_inline)) void Multiply(const int16_t* a, int64_t a_pitch, const Vector* weights) {
    first.Multiply(Both(a), weights);
    rest.Multiply(a + a_pitch, a_pitch, weights);
  }
  __attribute__((always_inline)) void StoreTo(int32_t* sums, int64_t pitch) const {
    first.StoreTo(sums);
    rest.StoreTo(sums + pitch, pitch);
  }
};
template <int VECTORS>
struct TileSums<0, VECTORS> {
  void Multiply(const int16_t*, int64_t, const Vector*) {}
  void StoreTo(int32_t*, int64_t) const {}
};

/* What is fetched beside a tile: `ahead` bytes for each pair. */
struct Fetched {
  const char* next;
  int64_t ahead;
  __attribute__((always_inline)) void Fetch(int64_t pair) const { __builtin_prefetch(next + pair * ahead, 0, 2); }
};
struct NothingFetched {
  void Fetch(int64_t) const {}
};

/* Of weights of 8 or 16 bits: the first vectors of a panel. */
template <int ROWS, int VECTORS, typename W, typename Beside>
void Tile(const int16_t* a, int64_t a_pitch, int64_t pairs, const W* w, int32_t* sums, int64_t pitch, Beside beside) {
  TileSums<ROWS, VECTORS> tile;
  for (int64_t i = 0; i < pairs; ++i, w += 2 * kWideColumns) {
    beside.Fetch(i);
    Vector weights[VECTORS];
    for (int v = 0; v < VECTORS; ++v) weights[v] = Weights(w + v * 2 * kLanes);
    tile.Multiply(a + 2 * i, a_pitch, weights);
  }
  tile.StoreTo(sums, pitch);
}

#else

constexpr int kMostRows = 1, kHalfRows = 0, kVectors = 1;
constexpr int64_t kLeastRows = int64_t{1} << 62, kMostWidened = 1;

struct Fetched {
  const char* next;
  int64_t ahead;
};
struct NothingFetched {};

template <int ROWS, int, typename W, typename Beside>
void Tile(const int16_t* a, int64_t a_pitch, int64_t pairs, const W* w, int32_t* sums, int64_t pitch, Beside) {
  for (int r = 0; r < ROWS; ++r) {
    const int16_t* row = a + r * a_pitch;
    int32_t sum[kWideColumns] = {};
    for (int64_t i = 0; i < pairs; ++i)
      for (int64_t j = 0; j < kWideColumns; ++j)
        sum[j] += row[2 * i] * w[(i * kWideColumns + j) * 2] + row[2 * i + 1] * w[(i * kWideColumns + j) * 2 + 1];
    std::copy_n(sum, kWideColumns, sums + r * pitch);
  }
}

#endif

template <int ROWS, int VECTORS = kVectors, typename... Args>
void TileOf(int64_t rows, Args... args) {
  if (rows == ROWS) return Tile<ROWS, VECTORS>(args...);
  if constexpr (ROWS > 1) TileOf<ROWS - 1, VECTORS>(rows, args...);
}

/* Rows of A times VECTORS vectors of a panel, in tiles of nearly as many rows each. */
template <int ROWS, int VECTORS, typename W>
void PanelProducts(const int16_t* a, int64_t rows, int64_t a_pitch, int64_t pairs, const W* w, int32_t* sums, int64_t pitch) {
  const int64_t tiles = (rows + ROWS - 1) / ROWS;
  for (int64_t t = 0; t < tiles; ++t) {
    const int64_t from = rows * t / tiles, to = rows * (t + 1) / tiles;
    TileOf<ROWS, VECTORS>(to - from, a + from * a_pitch, a_pitch, pairs, w, sums + from * pitch, pitch, NothingFetched{});
  }
}

/* sums[j] += of kWideColumns channels */
template <bool kUnsigned>
void DepthwisePanel(const void* const* taps, int64_t c, int64_t pairs, const int16_t* w, const int32_t* start, int32_t* sums) {
#if defined(__AVX2__)
  const auto wide = [](__m128i v) { return kUnsigned ? _mm256_cvtepu8_epi16(v) : _mm256_cvtepi8_epi16(v); };
  const auto weights = [](const int16_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); };
  __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(start)),
          high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(start + 8));
  for (int64_t i = 0; i < pairs; ++i, w += 2 * kWideColumns) {
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(static_cast<const char*>(taps[2 * i]) + c)),
                  y = _mm_loadu_si128(reinterpret_cast<const __m128i*>(static_cast<const char*>(taps[2 * i + 1]) + c));
    low = _mm256_add_epi32(low, _mm256_madd_epi16(wide(_mm_unpacklo_epi8(x, y)), weights(w)));
    high = _mm256_add_epi32(high, _mm256_madd_epi16(wide(_mm_unpackhi_epi8(x, y)), weights(w + kWideColumns)));
  }
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums), low);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + 8), high);
#else
  using T = std::conditional_t<kUnsigned, uint8_t, int8_t>;
  int32_t sum[kWideColumns];
  std::copy_n(start, kWideColumns, sum);
  for (int64_t i = 0; i < pairs; ++i, w += 2 * kWideColumns) {
    const T *x = static_cast<const T*>(taps[2 * i]) + c, *y = static_cast<const T*>(taps[2 * i + 1]) + c;
    for (int64_t j = 0; j < kWideColumns; ++j) sum[j] += x[j] * w[2 * j] + y[j] * w[2 * j + 1];
  }
  std::copy_n(sum, kWideColumns, sums);
#endif
}

template <bool kUnsigned>
void Depthwise(const void* const* taps, int64_t pairs, const int16_t* packed, const int32_t* start, int64_t channels, int32_t* sums) {
  constexpr int64_t kTogether = 32;  // pairs of taps of a panel that is not whole
  int64_t c = 0;
  for (; c + kWideColumns <= channels; c += kWideColumns)
    DepthwisePanel<kUnsigned>(taps, c, pairs, packed + c * 2 * pairs, start + c, sums + c);
  if (c == channels) return;
  std::copy_n(start + c, kWideColumns, sums + c);
  for (int64_t i = 0; i < pairs; i += kTogether) {
    const int64_t some = std::min(kTogether, pairs - i);
    uint8_t copied[2 * kTogether][kWideColumns] = {};
    const void* rows[2 * kTogether];
    for (int64_t t = 0; t < 2 * some; ++t) {
      std::memcpy(copied[t], static_cast<const char*>(taps[2 * i + t]) + c, static_cast<size_t>(channels - c));
      rows[t] = copied[t];
    }
    DepthwisePanel<kUnsigned>(rows, 0, some, packed + c * 2 * pairs + i * 2 * kWideColumns, sums + c, sums + c);
  }
}

}  // namespace

void WidenLess(const void* x, bool is_unsigned, int zero, int64_t n, int16_t* out) {
  const auto less = static_cast<int16_t>(zero);
  const auto widen = [&](const auto* from) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<int16_t>(from[i] - less);
  };
  is_unsigned ? widen(static_cast<const uint8_t*>(x)) : widen(static_cast<const int8_t*>(x));
}

void WideProducts(const int16_t* a, int64_t rows, int64_t a_pitch, int64_t pairs, const int8_t* packed, int64_t columns, int32_t* sums,
                  int64_t pitch) {
  const int64_t panel = pairs * 2 * kWideColumns;
  // To widen weights takes a twelfth of the time of a tile: for several tiles it is done once.
  const bool once = rows >= kLeastRows && pairs <= kMostWidened;
  alignas(64) int16_t wide[2 * kWideColumns * kMostWidened];
  for (; columns > 0; columns -= kWideColumns, packed += panel, sums += kWideColumns) {
    if (once) WidenLess(packed, false, 0, panel, wide);
    if constexpr (kVectors > 1) {
      if (columns <= kWideColumns / 2) {
        if (once) return PanelProducts<kHalfRows, kVectors / 2>(a, rows, a_pitch, pairs, wide, sums, pitch);
        return PanelProducts<kHalfRows, kVectors / 2>(a, rows, a_pitch, pairs, packed, sums, pitch);
      }
    }
    if (once)
      PanelProducts<kMostRows, kVectors>(a, rows, a_pitch, pairs, wide, sums, pitch);
    else
      PanelProducts<kMostRows, kVectors>(a, rows, a_pitch, pairs, packed, sums, pitch);
  }
}

int64_t WideRows() { return kMostRows; }

void MultiplyWidePoints(const nn::WinogradDims& d, const BytePart& v, int64_t tiles, const int16_t* u, int64_t begin, int64_t end,
                        const ProductPart& m) {
  const int64_t pairs = quantized::WidePairs(d.c), chunk = pairs * 2 * kWideColumns, points = d.Points();
  const int64_t groups = (tiles + kMostRows - 1) / kMostRows;
  // The next panel comes evenly beside all groups of rows.
  const int64_t ahead = (2 * kWideColumns * static_cast<int64_t>(sizeof *u) + groups - 1) / groups;
  for (int64_t point = 0; point < points; ++point)
    for (int64_t p = begin; p < end; ++p) {
      const int16_t* panel = u + (p * points + point) * chunk;
      const int16_t* after = p + 1 < end ? panel + points * chunk : point + 1 < points ? u + (begin * points + point + 1) * chunk : panel;
      const char* next = reinterpret_cast<const char*>(after);
      for (int64_t g = 0; g < groups; ++g, next += pairs * ahead) {
        const int64_t from = tiles * g / groups, to = tiles * (g + 1) / groups;
        TileOf<kMostRows>(to - from, v.v + from * v.tile + point * v.point, v.tile, pairs, panel,
                          m.m + from * m.tile + point * m.point + (p - begin) * kWideColumns, m.tile, Fetched{next, ahead});
      }
    }
}

int32_t SumWide(const int16_t* x, int64_t n) {
  int32_t sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += x[i];
  return sum;
}

void DepthwiseBytes(const void* const* taps, int64_t pairs, bool is_unsigned, const int16_t* packed, const int32_t* start, int64_t channels,
                    int32_t* sums) {
  is_unsigned ? Depthwise<true>(taps, pairs, packed, start, channels, sums) : Depthwise<false>(taps, pairs, packed, start, channels, sums);
}

void PackPairs(const int8_t* b, int64_t k, int64_t n, int8_t* packed) {
  for (int64_t j = 0; j < n; j += kWideColumns)
    for (int64_t i = 0; i < k; i += 2, packed += 2 * kWideColumns) {
      const int64_t some = std::min(kWideColumns, n - j);
      int8_t rows[2][kWideColumns] = {};
      if (some == kWideColumns && i + 1 < k) {  // of a size that is known
        std::memcpy(rows[0], b + i * n + j, kWideColumns);
        std::memcpy(rows[1], b + (i + 1) * n + j, kWideColumns);
      } else {
        std::memcpy(rows[0], b + i * n + j, static_cast<size_t>(some));
        if (i + 1 < k) std::memcpy(rows[1], b + (i + 1) * n + j, static_cast<size_t>(some));
      }
      for (int64_t c = 0; c < kWideColumns; ++c) packed[2 * c] = rows[0][c], packed[2 * c + 1] = rows[1][c];
    }
}

void TakeZeros(int64_t rows, const int32_t* row_sums, const int32_t* zeros, int64_t n, int32_t* sums, int64_t pitch) {
  for (int64_t i = 0; i < rows; ++i, sums += pitch) {
    const int32_t row = row_sums[i];
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) sums[j] -= row * zeros[j];
  }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
