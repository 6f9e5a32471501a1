// Transforms and products of Winograd convolutions, in GCC's vector types: one source for SSE, AVX2 and AVX-512.
#include <algorithm>
#include <cstring>
#include <utility>

#include "operator/nn/winograd_kernels.h"
#include "operator/nn/vector_lanes.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {

MXNET_WINOGRAD_KERNELS

namespace {

using nn::WinogradDims;
using nn::WinogradEpilogue;
using nn::WinogradFilter;
using nn::WinogradFilterGradient;
using nn::WinogradPart;

constexpr int64_t kDepth = 256;   // channels summed in registers at a time: a panel of them stays in the first-level cache

typedef double Wide __attribute__((vector_size(kLanes * 8)));

inline Vec LoadPart(const float* p, int64_t n) {
  Vec v = {};
  std::memcpy(&v, p, n * sizeof(float));
  return v;
}

/*
 * Toom-Cook with points 0, +-a, +-b (, +-c), infinity. With m(x) the product over the points, row p of Bt holds the coefficients of
 * m(x) / (x - p), row p of G (1, p, p^2) / m'(p), and At the powers of p; rows of +p and -p share their even and odd parts.
 * The points are those of least error among short binary fractions (docs/winograd.md).
 */
template <int M> struct Points;
template <> struct Points<2> {
  static constexpr int kAlpha = 4;
  template <typename V> static inline __attribute__((always_inline)) void In(const V* d, V* r) {
    r[0] = d[2] - d[0];
    r[1] = d[2] + d[1];
    r[2] = d[2] - d[1];
    r[3] = d[3] - d[1];
  }
  template <typename V> static inline __attribute__((always_inline)) void Out(const V* q, V* y) {
    y[0] = q[0] + q[1] + q[2];
    y[1] = q[1] - q[2] + q[3];
  }
  template <typename V> static inline __attribute__((always_inline)) void OutTransposed(const V* y, V* q) {
    q[0] = y[0];
    q[1] = y[0] + y[1];
    q[2] = y[0] - y[1];
    q[3] = y[1];
  }
  template <typename V> static inline void Filter(const V* g, V* r) {
    r[0] = -g[0];
    r[1] = 0.5 * (g[0] + g[2] + g[1]);
    r[2] = 0.5 * (g[0] + g[2] - g[1]);
    r[3] = g[2];
  }
  template <typename V> static inline void FilterTransposed(const V* u, V* g) {
    g[0] = 0.5 * (u[1] + u[2]) - u[0];
    g[1] = 0.5 * (u[1] - u[2]);
    g[2] = 0.5 * (u[1] + u[2]) + u[3];
  }
};

template <> struct Points<4> {
  static constexpr int kAlpha = 6;
  static constexpr float a = 0.75f, b = 1.5f, a2 = a * a, b2 = b * b;
  template <typename V> static inline __attribute__((always_inline)) void In(const V* d, V* r) {
    const V even_a = d[4] - b2 * d[2], odd_a = a * d[3] - (a * b2) * d[1];
    const V even_b = d[4] - a2 * d[2], odd_b = b * d[3] - (b * a2) * d[1];
    r[0] = (a2 * b2) * d[0] - (a2 + b2) * d[2] + d[4];
    r[1] = even_a + odd_a;
    r[2] = even_a - odd_a;
    r[3] = even_b + odd_b;
    r[4] = even_b - odd_b;
    r[5] = (a2 * b2) * d[1] - (a2 + b2) * d[3] + d[5];
  }
  template <typename V> static inline __attribute__((always_inline)) void Out(const V* q, V* y) {
    const V sa = q[1] + q[2], da = q[1] - q[2], sb = q[3] + q[4], db = q[3] - q[4];
    y[0] = q[0] + sa + sb;
    y[1] = a * da + b * db;
    y[2] = a2 * sa + b2 * sb;
    y[3] = (a * a2) * da + (b * b2) * db + q[5];
  }
  template <typename V> static inline __attribute__((always_inline)) void OutTransposed(const V* y, V* q) {
    const V even_a = y[0] + a2 * y[2], odd_a = a * y[1] + (a * a2) * y[3], even_b = y[0] + b2 * y[2], odd_b = b * y[1] + (b * b2) * y[3];
    q[0] = y[0];
    q[1] = even_a + odd_a;
    q[2] = even_a - odd_a;
    q[3] = even_b + odd_b;
    q[4] = even_b - odd_b;
    q[5] = y[3];
  }
  static constexpr double na = 1.0 / (2 * a2 * (a2 - b2)), nb = 1.0 / (2 * b2 * (b2 - a2));
  template <typename V> static inline void FilterTransposed(const V* u, V* g) {
    g[0] = (1.0 / (a2 * b2)) * u[0] + na * (u[1] + u[2]) + nb * (u[3] + u[4]);
    g[1] = (na * a) * (u[1] - u[2]) + (nb * b) * (u[3] - u[4]);
    g[2] = (na * a2) * (u[1] + u[2]) + (nb * b2) * (u[3] + u[4]) + u[5];
  }
  template <typename V> static inline void Filter(const V* g, V* r) {
    r[0] = (1.0 / (a2 * b2)) * g[0];
    r[1] = na * (g[0] + double(a2) * g[2] + double(a) * g[1]);
    r[2] = na * (g[0] + double(a2) * g[2] - double(a) * g[1]);
    r[3] = nb * (g[0] + double(b2) * g[2] + double(b) * g[1]);
    r[4] = nb * (g[0] + double(b2) * g[2] - double(b) * g[1]);
    r[5] = g[2];
  }
};

template <> struct Points<6> {   // +-1, +-2, +-1/2
  static constexpr int kAlpha = 8;
  template <typename V> static inline __attribute__((always_inline)) void In(const V* d, V* r) {
    // with squares 1, 4, 1/4: q_a = x^4 - 4.25 x^2 + 1, q_b = x^4 - 1.25 x^2 + 0.25, q_c = x^4 - 5 x^2 + 4
    r[0] = (d[6] - d[0]) + 5.25f * (d[2] - d[4]);
    const V even1 = d[6] + d[2] - 4.25f * d[4], odd1 = d[5] + d[1] - 4.25f * d[3];
    r[1] = even1 + odd1;
    r[2] = even1 - odd1;
    const V even2 = d[6] - 1.25f * d[4] + 0.25f * d[2], odd2 = 2.f * d[5] - 2.5f * d[3] + 0.5f * d[1];
    r[3] = even2 + odd2;
    r[4] = even2 - odd2;
    const V even3 = d[6] - 5.f * d[4] + 4.f * d[2], odd3 = 0.5f * d[5] - 2.5f * d[3] + 2.f * d[1];
    r[5] = even3 + odd3;
    r[6] = even3 - odd3;
    r[7] = (d[7] - d[1]) + 5.25f * (d[3] - d[5]);
  }
  template <typename V> static inline __attribute__((always_inline)) void Out(const V* q, V* y) {
    const V s1 = q[1] + q[2], d1 = q[1] - q[2], s2 = q[3] + q[4], d2 = q[3] - q[4], s3 = q[5] + q[6], d3 = q[5] - q[6];
    y[0] = q[0] + s1 + s2 + s3;
    y[1] = d1 + 2.f * d2 + 0.5f * d3;
    y[2] = s1 + 4.f * s2 + 0.25f * s3;
    y[3] = d1 + 8.f * d2 + 0.125f * d3;
    y[4] = s1 + 16.f * s2 + 0.0625f * s3;
    y[5] = d1 + 32.f * d2 + 0.03125f * d3 + q[7];
  }
  template <typename V> static inline __attribute__((always_inline)) void OutTransposed(const V* y, V* q) {
    const V even1 = y[0] + y[2] + y[4], odd1 = y[1] + y[3] + y[5];
    const V even2 = y[0] + 4.f * y[2] + 16.f * y[4], odd2 = 2.f * y[1] + 8.f * y[3] + 32.f * y[5];
    const V even3 = y[0] + 0.25f * y[2] + 0.0625f * y[4], odd3 = 0.5f * y[1] + 0.125f * y[3] + 0.03125f * y[5];
    q[0] = y[0];
    q[1] = even1 + odd1;
    q[2] = even1 - odd1;
    q[3] = even2 + odd2;
    q[4] = even2 - odd2;
    q[5] = even3 + odd3;
    q[6] = even3 - odd3;
    q[7] = y[5];
  }
  static constexpr double n1 = 1.0 / (2 * (1 - 4.0) * (1 - 0.25)), n2 = 1.0 / (8 * (4 - 1.0) * (4 - 0.25)), n3 = 1.0 / (0.5 * (0.25 - 1) * (0.25 - 4));
  template <typename V> static inline void FilterTransposed(const V* u, V* g) {
    const V s1 = n1 * (u[1] + u[2]), d1 = n1 * (u[1] - u[2]), s2 = n2 * (u[3] + u[4]), d2 = n2 * (u[3] - u[4]), s3 = n3 * (u[5] + u[6]), d3 = n3 * (u[5] - u[6]);
    g[0] = s1 + s2 + s3 - u[0];
    g[1] = d1 + 2.0 * d2 + 0.5 * d3;
    g[2] = s1 + 4.0 * s2 + 0.25 * s3 + u[7];
  }
  template <typename V> static inline void Filter(const V* g, V* r) {
    r[0] = -g[0];
    r[1] = n1 * (g[0] + g[2] + g[1]);
    r[2] = n1 * (g[0] + g[2] - g[1]);
    r[3] = n2 * (g[0] + 4.0 * g[2] + 2.0 * g[1]);
    r[4] = n2 * (g[0] + 4.0 * g[2] - 2.0 * g[1]);
    r[5] = n3 * (g[0] + 0.25 * g[2] + 0.5 * g[1]);
    r[6] = n3 * (g[0] + 0.25 * g[2] - 0.5 * g[1]);
    r[7] = g[2];
  }
};

template <int M>
void Weights(const WinogradDims& d, const WinogradFilter& f, int64_t begin, int64_t end, int64_t c_begin, int64_t c_end, float* u) {
  constexpr int A = Points<M>::kAlpha;
  for (int64_t p = begin; p < end; ++p) {
    float* panel = u + p * A * A * d.c * kPanel;
    for (int64_t c = c_begin; c < c_end; ++c) {
      float points[A * A * kPanel];   // whole lines are stored: those of one channel fall into the same sets of the cache
      for (int half = 0; half < 2; ++half) {
        const int64_t k = p * kPanel + half * kLanes, n = std::min<int64_t>(kLanes, d.k - k);
        Wide g[3][3] = {}, rows[A][3], column[3], point[A];
        for (int r = 0; r < 3; ++r)
          for (int s = 0; s < 3; ++s) {
            const float* from = f.ptr + k * f.k + c * f.c + (f.rotated ? 2 - r : r) * f.r + (f.rotated ? 2 - s : s) * f.s;
            for (int64_t i = 0; i < n; ++i) g[r][s][i] = from[i * f.k];
          }
        for (int s = 0; s < 3; ++s) {
          for (int r = 0; r < 3; ++r) column[r] = g[r][s];
          Points<M>::Filter(column, point);
          for (int i = 0; i < A; ++i) rows[i][s] = point[i];
        }
        for (int i = 0; i < A; ++i) {
          Points<M>::Filter(rows[i], point);
          for (int j = 0; j < A; ++j) Store(points + (i * A + j) * kPanel + half * kLanes, __builtin_convertvector(point[j], Vec));
        }
      }
      for (int i = 0; i < A * A; ++i) std::memcpy(panel + (i * d.c + c) * kPanel, points + i * kPanel, kPanel * sizeof(float));
    }
  }
}

struct TileAt {
  int64_t n, y, x;   // image, first output row and column
  TileAt(const WinogradDims& d, int64_t tile) {
    const int64_t tw = d.TilesW(), th = d.TilesH();
    x = tile % tw * d.m;
    y = tile / tw % th * d.m;
    n = tile / (tw * th);
  }
};

// One tile of some channels: rows [r0, r1) and columns [c0, c1) of it lie inside the data.
template <int M, bool kInside, typename LoadFn>
inline __attribute__((always_inline)) void InputTile(const float* x, int64_t row, int64_t column, int r0, int r1, int c0, int c1, LoadFn load, float* v, int64_t point) {
  constexpr int A = Points<M>::kAlpha;
  Vec t[A][A];
  for (int j = 0; j < A; ++j) {
    Vec d[A], r[A];
    if (kInside) {
      for (int i = 0; i < A; ++i) d[i] = load(x + i * row + j * column);
    } else {
      for (int i = 0; i < A; ++i) d[i] = i >= r0 && i < r1 && j >= c0 && j < c1 ? load(x + i * row + j * column) : Vec{};
    }
    Points<M>::In(d, r);
    for (int i = 0; i < A; ++i) t[i][j] = r[i];
  }
  for (int i = 0; i < A; ++i) {
    Vec r[A];
    Points<M>::In(t[i], r);
    for (int j = 0; j < A; ++j) Store(v + (i * A + j) * point, r[j]);
  }
}

template <int M>
void Input(const WinogradDims& d, const float* x, int64_t begin, int64_t end, const WinogradPart& v) {
  constexpr int A = Points<M>::kAlpha;
  const int64_t column = d.c, row = d.w * d.c, whole = d.c - d.c % kLanes;
  for (int64_t t = begin; t < end; ++t) {
    const TileAt at(d, t);
    const int64_t iy = at.y - d.pad_h, ix = at.x - d.pad_w;
    const auto clip = [](int64_t lo, int64_t size) { return static_cast<int>(std::max<int64_t>(0, std::min<int64_t>(A, size - lo))); };
    const int r0 = static_cast<int>(std::min<int64_t>(A, std::max<int64_t>(0, -iy))), r1 = clip(iy, d.h);
    const int c0 = static_cast<int>(std::min<int64_t>(A, std::max<int64_t>(0, -ix))), c1 = clip(ix, d.w);
    const int64_t origin = (at.n * d.h + iy) * row + ix * column;
    float* to = v.ptr + (t - begin) * v.tile_stride;
    const auto all = [](const float* p) { return Load(p); };
    if (r0 == 0 && c0 == 0 && r1 == A && c1 == A) {
      for (int64_t c = 0; c < whole; c += kLanes) InputTile<M, true>(x + origin + c, row, column, 0, A, 0, A, all, to + c, v.point_stride);
    } else {
      for (int64_t c = 0; c < whole; c += kLanes) InputTile<M, false>(x + origin + c, row, column, r0, r1, c0, c1, all, to + c, v.point_stride);
    }
    if (whole == d.c) continue;
    const int64_t n = d.c - whole;
    InputTile<M, false>(x + origin + whole, row, column, r0, r1, c0, c1, [n](const float* p) { return LoadPart(p, n); }, to + whole, v.point_stride);
  }
}

// R rows of A times one panel; the sum replaces or is added to what C holds.
template <int R, bool kAdd>
void Tile(const float* a, int64_t lda, const float* b, int64_t depth, float* c, int64_t ldc) {
  Vec low[R], high[R];
  const float* row[R];
#pragma GCC unroll 14
  for (int r = 0; r < R; ++r) {
    low[r] = kAdd ? Load(c + r * ldc) : Vec{};
    high[r] = kAdd ? Load(c + r * ldc + kLanes) : Vec{};
    row[r] = a + r * lda;
  }
  for (int64_t i = 0; i < depth; ++i, b += kPanel) {
    const Vec b0 = Load(b), b1 = Load(b + kLanes);
#pragma GCC unroll 14
    for (int r = 0; r < R; ++r) {
      low[r] += row[r][i] * b0;
      high[r] += row[r][i] * b1;
    }
  }
#pragma GCC unroll 14
  for (int r = 0; r < R; ++r) {
    Store(c + r * ldc, low[r]);
    Store(c + r * ldc + kLanes, high[r]);
  }
}

using TileFn = void (*)(const float*, int64_t, const float*, int64_t, float*, int64_t);
template <int... R>
struct Tiles {
  static constexpr TileFn write[] = {Tile<R + 1, false>...}, add[] = {Tile<R + 1, true>...};
};
template <int... R>
constexpr Tiles<R...> MakeTiles(std::integer_sequence<int, R...>) { return {}; }
using AllTiles = decltype(MakeTiles(std::make_integer_sequence<int, kRows>()));

// The transpose of the output's transform: tiles of the result's gradient, as many channels as the result has.
template <int M>
void Gradient(const WinogradDims& d, const float* y, int64_t begin, int64_t end, const WinogradPart& w) {
  constexpr int A = Points<M>::kAlpha;
  const int64_t filled = (d.k + kPanel - 1) / kPanel * kPanel;
  for (int64_t t = begin; t < end; ++t) {
    const TileAt at(d, t);
    const int rows = static_cast<int>(std::min<int64_t>(M, d.oh - at.y)), columns = static_cast<int>(std::min<int64_t>(M, d.ow - at.x));
    const float* from = y + ((at.n * d.oh + at.y) * d.ow + at.x) * d.k;
    for (int64_t k = 0; k < filled; k += kLanes) {
      const int64_t n = std::min<int64_t>(kLanes, d.k - k);   // <= 0: zeros up to the end of the panel
      float* to = w.ptr + (t - begin) * w.tile_stride + k;
      Vec s[A][M];
      for (int j = 0; j < M; ++j) {
        Vec g[M], q[A];
        for (int i = 0; i < M; ++i) {
          const float* p = from + (i * d.ow + j) * d.k + k;
          g[i] = i >= rows || j >= columns || n <= 0 ? Vec{} : n == kLanes ? Load(p) : LoadPart(p, n);
        }
        Points<M>::OutTransposed(g, q);
        for (int i = 0; i < A; ++i) s[i][j] = q[i];
      }
      for (int i = 0; i < A; ++i) {
        Vec q[A];
        Points<M>::OutTransposed(s[i], q);
        for (int j = 0; j < A; ++j) Store(to + (i * A + j) * w.point_stride, q[j]);
      }
    }
  }
}

// R channels of the data times one panel of the gradient, summed over tiles.
template <int R, bool kAdd>
void SumTile(const float* v, int64_t v_step, const float* w, int64_t w_step, int64_t tiles, float* u, int64_t ldu) {
  Vec low[R], high[R];
#pragma GCC unroll 14
  for (int r = 0; r < R; ++r) {
    low[r] = kAdd ? Load(u + r * ldu) : Vec{};
    high[r] = kAdd ? Load(u + r * ldu + kLanes) : Vec{};
  }
  for (int64_t t = 0; t < tiles; ++t, v += v_step, w += w_step) {
    const Vec w0 = Load(w), w1 = Load(w + kLanes);
#pragma GCC unroll 14
    for (int r = 0; r < R; ++r) {
      low[r] += v[r] * w0;
      high[r] += v[r] * w1;
    }
  }
#pragma GCC unroll 14
  for (int r = 0; r < R; ++r) {
    Store(u + r * ldu, low[r]);
    Store(u + r * ldu + kLanes, high[r]);
  }
}
using SumFn = void (*)(const float*, int64_t, const float*, int64_t, int64_t, float*, int64_t);
template <int... R>
struct SumTiles {
  static constexpr SumFn write[] = {SumTile<R + 1, false>...}, add[] = {SumTile<R + 1, true>...};
};
template <int... R>
constexpr SumTiles<R...> MakeSumTiles(std::integer_sequence<int, R...>) { return {}; }
using AllSumTiles = decltype(MakeSumTiles(std::make_integer_sequence<int, kRows>()));

template <int M>
void WeightGradient(const WinogradDims& d, const float* u, int64_t c_begin, int64_t c_end, const WinogradFilterGradient& f) {
  constexpr int A = Points<M>::kAlpha;
  const int64_t ldu = (d.k + kPanel - 1) / kPanel * kPanel;
  for (int64_t c = c_begin; c < c_end; ++c)
    for (int64_t k = 0; k < d.k; k += kLanes) {
      const int64_t n = std::min<int64_t>(kLanes, d.k - k);
      Wide column[A], rows[3][A], g[3];
      for (int j = 0; j < A; ++j) {
        for (int i = 0; i < A; ++i) column[i] = __builtin_convertvector(Load(u + ((i * A + j) * d.c + c) * ldu + k), Wide);
        Points<M>::FilterTransposed(column, g);
        for (int r = 0; r < 3; ++r) rows[r][j] = g[r];
      }
      for (int r = 0; r < 3; ++r) {
        Points<M>::FilterTransposed(rows[r], g);
        for (int s = 0; s < 3; ++s) {
          float* to = f.ptr + k * f.k + c * f.c + r * f.r + s * f.s;
          for (int64_t i = 0; i < n; ++i) to[i * f.k] = static_cast<float>(g[s][i]);
        }
      }
    }
}

template <int M>
void Output(const WinogradDims& d, const WinogradPart& m, int64_t begin, int64_t end, int64_t k_begin, int64_t k_end, const WinogradEpilogue& e, float* y) {
  constexpr int A = Points<M>::kAlpha;
  for (int64_t t = begin; t < end; ++t) {
    const TileAt at(d, t);
    const int rows = static_cast<int>(std::min<int64_t>(M, d.oh - at.y)), columns = static_cast<int>(std::min<int64_t>(M, d.ow - at.x));
    const int64_t origin = ((at.n * d.oh + at.y) * d.ow + at.x) * d.k;
    for (int64_t k = k_begin; k < k_end; k += kLanes) {
      const int64_t n = std::min<int64_t>(kLanes, k_end - k);
      const float* from = m.ptr + (t - begin) * m.tile_stride + (k - k_begin);
      Vec s[M][A];
      for (int j = 0; j < A; ++j) {
        Vec q[A], r[M];
        for (int i = 0; i < A; ++i) q[i] = Load(from + (i * A + j) * m.point_stride);
        Points<M>::Out(q, r);
        for (int i = 0; i < M; ++i) s[i][j] = r[i];
      }
      const Vec bias = !e.bias ? Vec{} : n == kLanes ? Load(e.bias + k) : LoadPart(e.bias + k, n);
      for (int i = 0; i < rows; ++i) {
        Vec r[M];
        Points<M>::Out(s[i], r);
        const int64_t line = origin + i * d.ow * d.k + k;
        for (int j = 0; j < columns; ++j) {
          Vec v = r[j] + bias;
          const int64_t p = line + j * d.k;
          if (n == kLanes) {
            if (e.addend) v += Load(e.addend + p);
            if (e.relu) v = v < 0.f ? Vec{} : v;   // keeps NaN
            Store(y + p, v);
          } else {
            if (e.addend) v += LoadPart(e.addend + p, n);
            if (e.relu) v = v < 0.f ? Vec{} : v;
            std::memcpy(y + p, &v, n * sizeof(float));
          }
        }
      }
    }
  }
}

}  // namespace

nn::WinogradGeometry WinogradShape() { return {kLanes, kRows, kPanel}; }

void WinogradWeights(const WinogradDims& d, const WinogradFilter& f, int64_t begin, int64_t end, int64_t c_begin, int64_t c_end, float* u) {
  (d.m == 2 ? Weights<2> : d.m == 4 ? Weights<4> : Weights<6>)(d, f, begin, end, c_begin, c_end, u);
}

void WinogradInput(const WinogradDims& d, const float* x, int64_t begin, int64_t end, const WinogradPart& v) {
  (d.m == 2 ? Input<2> : d.m == 4 ? Input<4> : Input<6>)(d, x, begin, end, v);
}

void WinogradProducts(const WinogradDims& d, const WinogradPart& v, int64_t tiles, const float* u, int64_t begin, int64_t end, const WinogradPart& m) {
  const int points = d.Points();
  const int64_t groups = (tiles + kRows - 1) / kRows;   // of nearly equal size: a register tile of one or two rows costs as much as one of four
  for (int point = 0; point < points; ++point) {
    const float* a = v.ptr + point * v.point_stride;
    float* out = m.ptr + point * m.point_stride;
    for (int64_t c = 0; c < d.c; c += kDepth) {
      const int64_t depth = std::min(kDepth, d.c - c);
      const TileFn* kernels = c > 0 ? AllTiles::add : AllTiles::write;
      for (int64_t p = begin; p < end; ++p) {
        const float* panel = u + ((p * points + point) * d.c + c) * kPanel;
        float* column = out + (p - begin) * kPanel;
        for (int64_t g = 0; g < groups; ++g) {
          const int64_t t = tiles * g / groups, rows = tiles * (g + 1) / groups - t;
          kernels[rows - 1](a + t * v.tile_stride + c, v.tile_stride, panel, depth, column + t * m.tile_stride, m.tile_stride);
        }
      }
    }
  }
}

void WinogradOutput(const WinogradDims& d, const WinogradPart& m, int64_t begin, int64_t end, int64_t k_begin, int64_t k_end, const WinogradEpilogue& e, float* y) {
  (d.m == 2 ? Output<2> : d.m == 4 ? Output<4> : Output<6>)(d, m, begin, end, k_begin, k_end, e, y);
}

void WinogradGradient(const WinogradDims& d, const float* y, int64_t begin, int64_t end, const WinogradPart& w) {
  (d.m == 2 ? Gradient<2> : d.m == 4 ? Gradient<4> : Gradient<6>)(d, y, begin, end, w);
}

void WinogradSums(const WinogradDims& d, const WinogradPart& v, const WinogradPart& w, int64_t tiles, int64_t begin, int64_t end, bool add, float* u) {
  const int64_t ldu = (d.k + kPanel - 1) / kPanel * kPanel, groups = (d.c + kRows - 1) / kRows;
  const SumFn* kernels = add ? AllSumTiles::add : AllSumTiles::write;
  for (int64_t point = begin; point < end; ++point)
    for (int64_t k = 0; k < d.k; k += kPanel)
      for (int64_t g = 0; g < groups; ++g) {
        const int64_t c = d.c * g / groups, rows = d.c * (g + 1) / groups - c;
        kernels[rows - 1](v.ptr + point * v.point_stride + c, v.tile_stride, w.ptr + point * w.point_stride + k, w.tile_stride, tiles,
                          u + (point * d.c + c) * ldu + k, ldu);
      }
}

void WinogradWeightGradient(const WinogradDims& d, const float* u, int64_t c_begin, int64_t c_end, const WinogradFilterGradient& f) {
  (d.m == 2 ? WeightGradient<2> : d.m == 4 ? WeightGradient<4> : WeightGradient<6>)(d, u, c_begin, c_end, f);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
