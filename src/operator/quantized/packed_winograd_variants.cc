// Transforms of Winograd convolutions of 8-bit integers, in GCC's vector types, modulo 2^16 and
// 2^32. The points are 0, infinity, 1, -1 and for tiles of four 2 and -1/2: of the points among 0,
// -1/2, 1, 2 and so on these need the smallest numbers, and of each two of them only one difference
// is even, so that few bits of a sum are lost.
#include <algorithm>
#include <cstring>
#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

#include "base/vector_bytes.h"
#include "operator/quantized/packed_winograd.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

using nn::WinogradDims;
using quantized::kWideColumns;

constexpr int kLanes = kVectorBytes / 2;  // of V
constexpr int kWords = kVectorBytes / 4;  // of M
typedef uint16_t Halves __attribute__((vector_size(kVectorBytes)));
typedef uint32_t Words __attribute__((vector_size(kVectorBytes)));
typedef int32_t Ints __attribute__((vector_size(kVectorBytes)));
typedef uint8_t Bytes __attribute__((vector_size(kVectorBytes / 2)));
typedef int8_t SignedBytes __attribute__((vector_size(kVectorBytes / 2)));

template <typename V, typename T>
inline __attribute__((always_inline)) V LoadAs(const T* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

/* One dimension, M outputs of M + 2 inputs. Data times Filter, through Out, is kScale times the
 * sums. */
template <int M>
struct Along;

template <>
struct Along<2> {
  static constexpr int kPoints = 4, kTile = 2;
  static constexpr uint32_t kInverse = 1;  // of kScale * kScale / 4, modulo 2^32
  template <typename V>
  static inline __attribute__((always_inline)) void In(const V* d, V* r) {
    r[0] = d[0] - d[2];
    r[1] = d[3] - d[1];
    r[2] = d[1] + d[2];
    r[3] = d[2] - d[1];
  }
  template <typename V>
  static inline __attribute__((always_inline)) void Filter(const V* g, V* r) {
    r[0] = 2 * g[0];
    r[1] = 2 * g[2];
    r[2] = g[0] + g[1] + g[2];
    r[3] = g[0] - g[1] + g[2];
  }
  template <typename V>
  static inline __attribute__((always_inline)) void Out(const V* q, V* y) {
    y[0] = q[0] + q[2] + q[3];
    y[1] = q[1] + q[2] - q[3];
  }
};

template <>
struct Along<4> {
  static constexpr int kPoints = 6, kTile = 4;
  static constexpr uint32_t kInverse = 2271560481;  // of 30 * 30 / 4
  static_assert(kInverse * 225u == 1u, "modulo 2^32");
  template <typename V>
  static inline __attribute__((always_inline)) void In(const V* d, V* r) {
    const V a = d[1] - d[3], b = d[2] - d[4], twice_a = a + a, twice_b = b + b;
    const V even = d[0] + d[4] - (d[2] + d[2]), odd = d[1] + d[5] - (d[3] + d[3]), sum = d[1] + d[2], less = d[2] - d[3];
    r[0] = even + even + (twice_a + a);
    r[1] = odd + odd + (twice_b + b);
    r[2] = (sum + sum + sum) + (twice_b - a);
    r[3] = (less + less + less) + (twice_a - twice_b);
    r[4] = a + twice_b;
    r[5] = twice_a - b;
  }
  template <typename V>
  static inline __attribute__((always_inline)) void Filter(const V* g, V* r) {
    r[0] = 15 * g[0];
    r[1] = 15 * g[2];
    r[2] = 5 * (g[0] + g[1] + g[2]);
    r[3] = 5 * (g[0] - g[1] + g[2]);
    r[4] = -(g[0] + 2 * g[1] + 4 * g[2]);
    r[5] = 2 * g[1] - 4 * g[0] - g[2];
  }
  template <typename V>
  static inline __attribute__((always_inline)) void Out(const V* q, V* y) {
    const V s = q[2] + q[3], t = q[2] - q[3];
    y[0] = q[0] + s + (q[4] + (q[5] << 3));
    y[1] = t + ((q[4] - (q[5] << 1)) << 1);
    y[2] = s + (((q[4] << 1) + q[5]) << 1);
    y[3] = q[1] + t + ((q[4] << 3) - q[5]);
  }
};

/* The part of a tile that lies in the image. */
struct Inside {
  int r0, r1, c0, c1;
  Inside(const WinogradDims& d, int points, int64_t y, int64_t x) {
    const auto clip = [points](int64_t n) { return static_cast<int>(std::max<int64_t>(0, std::min<int64_t>(points, n))); };
    r0 = clip(-y), r1 = clip(d.h - y), c0 = clip(-x), c1 = clip(d.w - x);
  }
  bool All(int points) const { return r0 == 0 && c0 == 0 && r1 == points && c1 == points; }
  bool Has(int i, int j) const { return i >= r0 && i < r1 && j >= c0 && j < c1; }
};

template <typename A, bool kAll, typename LoadFn>
inline __attribute__((always_inline)) void TileToPoints(const char* x, int64_t row, int64_t column, const Inside& inside, LoadFn load,
                                                        int16_t* v, int64_t point) {
  constexpr int kPoints = A::kPoints;
  Halves t[kPoints][kPoints];
  for (int j = 0; j < kPoints; ++j) {
    Halves d[kPoints], r[kPoints];
    for (int i = 0; i < kPoints; ++i) d[i] = kAll || inside.Has(i, j) ? load(x + i * row + j * column) : Halves{};
    A::In(d, r);
    for (int i = 0; i < kPoints; ++i) t[i][j] = r[i];
  }
  for (int i = 0; i < kPoints; ++i) {
    Halves r[kPoints];
    A::In(t[i], r);
    for (int j = 0; j < kPoints; ++j) std::memcpy(v + (i * kPoints + j) * point, &r[j], sizeof r[j]);
  }
}

template <typename A, bool kUnsigned>
void ToPoints(const WinogradDims& d, const char* x, int zero, int64_t begin, int64_t end, const BytePart& v) {
  const int64_t row = d.w * d.c, whole = d.c - d.c % kLanes, rest = d.c - whole;
  const Halves less = Halves{} + static_cast<uint16_t>(zero);
  const auto wide = [less](const char* p) {
    if constexpr (kUnsigned) return __builtin_convertvector(LoadAs<Bytes>(p), Halves) - less;
    return __builtin_convertvector(LoadAs<SignedBytes>(p), Halves) - less;
  };
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  const auto some = [&wide, mask = static_cast<__mmask32>((uint64_t{1} << rest) - 1)](const char* p) {
    const __m256i bytes = _mm256_maskz_loadu_epi8(mask, p);
    return wide(reinterpret_cast<const char*>(&bytes));
  };
#else
  const auto some = [&wide, rest](const char* p) {
    char copied[kLanes] = {};
    std::memcpy(copied, p, static_cast<size_t>(rest));
    return wide(copied);
  };
#endif
  for (int64_t t = begin; t < end; ++t) {
    const nn::WinogradTile at(d, t);
    const int64_t y = at.y - d.pad_h, left = at.x - d.pad_w;
    const Inside inside(d, A::kPoints, y, left);
    const char* from = x + (at.n * d.h + y) * row + left * d.c;
    int16_t* to = v.v + (t - begin) * v.tile;
    if (inside.All(A::kPoints)) {
      for (int64_t c = 0; c < whole; c += kLanes) TileToPoints<A, true>(from + c, row, d.c, inside, wide, to + c, v.point);
    } else {
      for (int64_t c = 0; c < whole; c += kLanes) TileToPoints<A, false>(from + c, row, d.c, inside, wide, to + c, v.point);
    }
    if (!rest) continue;
    if (inside.All(A::kPoints))
      TileToPoints<A, true>(from + whole, row, d.c, inside, some, to + whole, v.point);
    else
      TileToPoints<A, false>(from + whole, row, d.c, inside, some, to + whole, v.point);
  }
}

/* Two channels of a panel's filters, which lie beside each other. */
template <typename A>
void PairToPoints(const int16_t (&g)[3][3][2 * kWideColumns], int16_t* u, int64_t point) {
  constexpr int kPoints = A::kPoints;
  for (int64_t at = 0; at < 2 * kWideColumns; at += kLanes) {
    Halves down[kPoints][3];
    for (int s = 0; s < 3; ++s) {
      const Halves column[] = {LoadAs<Halves>(g[0][s] + at), LoadAs<Halves>(g[1][s] + at), LoadAs<Halves>(g[2][s] + at)};
      Halves r[kPoints];
      A::Filter(column, r);
      for (int i = 0; i < kPoints; ++i) down[i][s] = r[i];
    }
    for (int i = 0; i < kPoints; ++i) {
      Halves across[kPoints];
      A::Filter(down[i], across);
      for (int j = 0; j < kPoints; ++j) std::memcpy(u + (i * kPoints + j) * point + at, &across[j], sizeof across[j]);
    }
  }
}

/* What there is not is zeros. */
template <typename A>
void Filters(const WinogradDims& d, const int8_t* weights, bool last, int16_t* u) {
  const int64_t pairs = quantized::WidePairs(d.c), point = pairs * 2 * kWideColumns;
  const int64_t some = std::min(kWideColumns, d.k), to_channel = last ? 1 : 9, to_place = last ? d.c : 1;
  for (int64_t pair = 0; pair < pairs; ++pair) {
    int16_t g[3][3][2 * kWideColumns] = {};
    for (int64_t f = 0; f < some; ++f)
      for (int64_t c = 2 * pair; c < std::min(d.c, 2 * pair + 2); ++c)
        for (int k = 0; k < 9; ++k) g[k / 3][k % 3][2 * f + c % 2] = weights[f * 9 * d.c + c * to_channel + k * to_place];
    PairToPoints<A>(g, u + pair * 2 * kWideColumns, point);
  }
}

template <typename A>
void ToSums(const int32_t* m, int64_t point, int64_t n, int32_t* sums, int64_t pitch) {
  constexpr int kPoints = A::kPoints, kTile = A::kTile;
  for (int64_t k = 0; k < n; k += kWords) {
    Words t[kTile][kPoints];
    for (int j = 0; j < kPoints; ++j) {
      Words q[kPoints], y[kTile];
      for (int i = 0; i < kPoints; ++i) q[i] = LoadAs<Words>(m + (i * kPoints + j) * point + k);
      A::Out(q, y);
      for (int i = 0; i < kTile; ++i) t[i][j] = y[i];
    }
    for (int i = 0; i < kTile; ++i) {
      Words y[kTile];
      A::Out(t[i], y);
      for (int j = 0; j < kTile; ++j) {
        const Ints sum = reinterpret_cast<Ints>(y[j] * A::kInverse) >> 2;
        std::memcpy(sums + (i * kTile + j) * pitch + k, &sum, sizeof sum);
      }
    }
  }
}

}  // namespace

int64_t ByteLanes() { return kLanes; }

void BytesToPoints(const WinogradDims& d, const void* x, bool is_unsigned, int zero, int64_t begin, int64_t end, const BytePart& v) {
  const auto run = d.points == 6 ? (is_unsigned ? ToPoints<Along<4>, true> : ToPoints<Along<4>, false>)
                                 : (is_unsigned ? ToPoints<Along<2>, true> : ToPoints<Along<2>, false>);
  run(d, static_cast<const char*>(x), zero, begin, end, v);
}

void FiltersToPoints(const WinogradDims& d, const int8_t* weights, bool weights_last, int16_t* u) {
  (d.points == 6 ? Filters<Along<4>> : Filters<Along<2>>)(d, weights, weights_last, u);
}

void PointsToSums(const WinogradDims& d, const int32_t* m, int64_t point, int64_t n, int32_t* sums, int64_t pitch) {
  (d.points == 6 ? ToSums<Along<4>> : ToSums<Along<2>>)(m, point, n, sums, pitch);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
