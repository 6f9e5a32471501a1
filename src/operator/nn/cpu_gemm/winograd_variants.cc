// Transforms and products of Winograd convolutions, in GCC's vector types: one source for SSE, AVX2
// and AVX-512.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/round_up.h"
#include "operator/nn/cpu_gemm/vector_lanes.h"
#include "operator/nn/cpu_gemm/winograd_kernels.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {

MXNET_WINOGRAD_KERNELS

namespace {

using nn::WinogradDims;
using nn::WinogradEpilogue;
using nn::WinogradFilter;
using nn::WinogradFilterGradient;
using nn::WinogradPart;
using nn::WinogradTile;

constexpr int64_t kDepth = 256;  // channels summed in registers at a time: a panel of them stays in the first-level cache

typedef double Wide __attribute__((vector_size(kLanes * 8)));

inline Vec LoadPart(const float* p, int64_t n) {
  Vec v = {};
  std::memcpy(&v, p, n * sizeof(float));
  return v;
}

#include "operator/nn/cpu_gemm/winograd_points.h"

template <typename H, typename W>
void Weights(const WinogradDims& d, const WinogradFilter& f, int64_t begin, int64_t end, int64_t c_begin, int64_t c_end, float* u) {
  constexpr int kPoints = H::kPoints * W::kPoints;
  for (int64_t p = begin; p < end; ++p) {
    float* panel = u + p * kPoints * d.c * kPanel;
    for (int64_t c = c_begin; c < c_end; ++c) {
      float points[kPoints * kPanel];  // whole lines are stored: those of one channel fall into the same sets of the cache
      for (int half = 0; half < 2; ++half) {
        const int64_t k = p * kPanel + half * kLanes, n = std::min<int64_t>(kLanes, d.k - k);
        Wide g[H::kWindow][W::kWindow] = {}, rows[H::kPoints][W::kWindow], column[H::kWindow], down[H::kPoints], across[W::kPoints];
        for (int r = 0; r < H::kWindow; ++r)
          for (int s = 0; s < W::kWindow; ++s) {
            const float* from =
                f.ptr + k * f.k + c * f.c + (f.rotated ? H::kWindow - 1 - r : r) * f.r + (f.rotated ? W::kWindow - 1 - s : s) * f.s;
            for (int64_t i = 0; i < n; ++i) g[r][s][i] = from[i * f.k];
          }
        for (int s = 0; s < W::kWindow; ++s) {
          for (int r = 0; r < H::kWindow; ++r) column[r] = g[r][s];
          H::Filter(column, down);
          for (int i = 0; i < H::kPoints; ++i) rows[i][s] = down[i];
        }
        for (int i = 0; i < H::kPoints; ++i) {
          W::Filter(rows[i], across);
          for (int j = 0; j < W::kPoints; ++j)
            Store(points + (i * W::kPoints + j) * kPanel + half * kLanes, __builtin_convertvector(across[j], Vec));
        }
      }
      for (int i = 0; i < kPoints; ++i) std::memcpy(panel + (i * d.c + c) * kPanel, points + i * kPanel, kPanel * sizeof(float));
    }
  }
}

// One tile of some channels: rows [r0, r1) and columns [c0, c1) of it lie inside the data.
template <typename H, typename W, bool kInside, typename LoadFn>
inline __attribute__((always_inline)) void InputTile(const float* x, int64_t row, int64_t column, int r0, int r1, int c0, int c1,
                                                     LoadFn load, float* v, int64_t point) {
  Vec t[H::kPoints][W::kPoints];
  for (int j = 0; j < W::kPoints; ++j) {
    Vec d[H::kPoints], r[H::kPoints];
    if (kInside) {
      for (int i = 0; i < H::kPoints; ++i) d[i] = load(x + i * row + j * column);
    } else {
      for (int i = 0; i < H::kPoints; ++i) d[i] = i >= r0 && i < r1 && j >= c0 && j < c1 ? load(x + i * row + j * column) : Vec{};
    }
    H::In(d, r);
    for (int i = 0; i < H::kPoints; ++i) t[i][j] = r[i];
  }
  for (int i = 0; i < H::kPoints; ++i) {
    Vec r[W::kPoints];
    W::In(t[i], r);
    for (int j = 0; j < W::kPoints; ++j) Store(v + (i * W::kPoints + j) * point, r[j]);
  }
}

template <typename H, typename W>
void Input(const WinogradDims& d, const float* x, int64_t begin, int64_t end, const WinogradPart& v) {
  const int64_t column = d.apart_w * d.c, row = d.apart_h * d.w * column, whole = d.c - d.c % kLanes;
  for (int64_t t = begin; t < end; ++t) {
    const WinogradTile at(d, t);
    const int64_t iy = at.y - d.pad_h, ix = at.x - d.pad_w;
    const auto clip = [](int64_t points, int64_t n) { return static_cast<int>(std::max<int64_t>(0, std::min(points, n))); };
    const int r0 = clip(H::kPoints, -iy), r1 = clip(H::kPoints, d.h - iy), c0 = clip(W::kPoints, -ix), c1 = clip(W::kPoints, d.w - ix);
    const int64_t origin = at.Image(d, d.h, d.w) * d.c + iy * row + ix * column;
    float* to = v.ptr + (t - begin) * v.tile_stride;
    const auto all = [](const float* p) { return Load(p); };
    if (r0 == 0 && c0 == 0 && r1 == H::kPoints && c1 == W::kPoints) {
      for (int64_t c = 0; c < whole; c += kLanes)
        InputTile<H, W, true>(x + origin + c, row, column, r0, r1, c0, c1, all, to + c, v.point_stride);
    } else {
      for (int64_t c = 0; c < whole; c += kLanes)
        InputTile<H, W, false>(x + origin + c, row, column, r0, r1, c0, c1, all, to + c, v.point_stride);
    }
    if (whole == d.c) continue;
    const int64_t n = d.c - whole;
    InputTile<H, W, false>(
        x + origin + whole, row, column, r0, r1, c0, c1, [n](const float* p) { return LoadPart(p, n); }, to + whole, v.point_stride);
  }
}

// R rows of A times one panel; the sum replaces or is added to what C holds. What lies at `next`,
// `ahead` floats for each row, is fetched beside it: weights of a large network come from memory.
template <int R, bool kAdd>
void Tile(const float* a, int64_t lda, const float* b, int64_t depth, float* c, int64_t ldc, const float* next, int64_t ahead) {
  Vec low[R], high[R];
  const float* row[R];
#pragma GCC unroll 14
  for (int r = 0; r < R; ++r) {
    low[r] = kAdd ? Load(c + r * ldc) : Vec{};
    high[r] = kAdd ? Load(c + r * ldc + kLanes) : Vec{};
    row[r] = a + r * lda;
  }
  for (int64_t i = 0; i < depth; ++i, b += kPanel, next += ahead) {
    __builtin_prefetch(next, 0, 2);
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

using TileFn = void (*)(const float*, int64_t, const float*, int64_t, float*, int64_t, const float*, int64_t);
template <int... R>
struct Tiles {
  static constexpr TileFn write[] = {Tile<R + 1, false>...}, add[] = {Tile<R + 1, true>...};
};
template <int... R>
constexpr Tiles<R...> MakeTiles(std::integer_sequence<int, R...>) {
  return {};
}
using AllTiles = decltype(MakeTiles(std::make_integer_sequence<int, kRows>()));

constexpr int kCompactRows = kRows < 12 ? kRows : 12;  // the conversion wants registers too

// The same with weights of 3 or 2 bytes, for a number of channels that is rounded up to pairs; sums
// are added to C where `add`. `ahead`: for each pair.
template <int R, int kBytes, bool kFixed>
void CompactTile(const float* a, int64_t lda, const float* b, const float* scale, int64_t depth, float* c, int64_t ldc, bool add,
                 const float* next, int64_t ahead) {
  Vec low[R], high[R];
  const float* row[R];
#pragma GCC unroll 14
  for (int r = 0; r < R; ++r) {
    low[r] = high[r] = Vec{};
    row[r] = a + r * lda;
  }
  const auto number = [](Words w) { return kFixed ? __builtin_convertvector(reinterpret_cast<Ints>(w), Vec) : reinterpret_cast<Vec>(w); };
  const int64_t third = ahead / 3;
  for (int64_t i = 0; i < depth; i += 2, b += kBytes * kLanes, next += ahead) {
    __builtin_prefetch(next, 0, 2);
    __builtin_prefetch(next + third, 0, 2);
    __builtin_prefetch(next + 2 * third, 0, 2);
    {
      const Vec b0 = number(LoadWords(b)), b1 = number(LoadWords(b + kLanes));
#pragma GCC unroll 14
      for (int r = 0; r < R; ++r) {
        low[r] += row[r][i] * b0;
        high[r] += row[r][i] * b1;
      }
    }
    asm volatile("" ::: "memory");  // the second channel's weights wait: sums leave no registers for them
    {
      const Words w0 = LoadWords(b), w1 = LoadWords(b + kLanes), w2 = kBytes == 3 ? LoadWords(b + (kBytes - 1) * kLanes) : w0 << 16;
      const Words w3 = kBytes == 3 ? w2 << 24 | (w1 << 16 & 0xff0000) | (w0 << 8 & 0xff00) : w1 << 16;
      const Vec b2 = number(w2), b3 = number(w3);
#pragma GCC unroll 14
      for (int r = 0; r < R; ++r) {
        low[r] += row[r][i + 1] * b2;
        high[r] += row[r][i + 1] * b3;
      }
    }
  }
  const Vec low_scale = kFixed ? Load(scale) : Vec{} + 1.f, high_scale = kFixed ? Load(scale + kLanes) : Vec{} + 1.f;
#pragma GCC unroll 14
  for (int r = 0; r < R; ++r) {
    low[r] *= low_scale;
    high[r] *= high_scale;
    Store(c + r * ldc, add ? Load(c + r * ldc) + low[r] : low[r]);
    Store(c + r * ldc + kLanes, add ? Load(c + r * ldc + kLanes) + high[r] : high[r]);
  }
}

using CompactTileFn = void (*)(const float*, int64_t, const float*, const float*, int64_t, float*, int64_t, bool, const float*, int64_t);
template <int... R>
struct CompactTiles {
  static constexpr CompactTileFn of[2][2][sizeof...(R)] = {{{CompactTile<R + 1, 2, false>...}, {CompactTile<R + 1, 2, true>...}},
                                                           {{CompactTile<R + 1, 3, false>...}, {CompactTile<R + 1, 3, true>...}}};
};
template <int... R>
constexpr CompactTiles<R...> MakeCompactTiles(std::integer_sequence<int, R...>) {
  return {};
}
using AllCompactTiles = decltype(MakeCompactTiles(std::make_integer_sequence<int, kCompactRows>()));

// The transpose of the output's transform: tiles of the result's gradient, as many channels as the
// result has.
template <typename H, typename W>
void Gradient(const WinogradDims& d, const float* y, int64_t begin, int64_t end, const WinogradPart& w) {
  const int64_t filled = RoundUp(d.k, kPanel);
  for (int64_t t = begin; t < end; ++t) {
    const WinogradTile at(d, t);
    const int rows = static_cast<int>(std::min<int64_t>(H::kTile, d.oh - at.y)),
              columns = static_cast<int>(std::min<int64_t>(W::kTile, d.ow - at.x));
    const float* from = y + ((at.n * d.oh + at.y) * d.ow + at.x) * d.k;
    for (int64_t k = 0; k < filled; k += kLanes) {
      const int64_t n = std::min<int64_t>(kLanes, d.k - k);  // <= 0: zeros up to the end of the panel
      float* to = w.ptr + (t - begin) * w.tile_stride + k;
      Vec s[H::kPoints][W::kTile];
      for (int j = 0; j < W::kTile; ++j) {
        Vec g[H::kTile], q[H::kPoints];
        for (int i = 0; i < H::kTile; ++i) {
          const float* p = from + (i * d.ow + j) * d.k + k;
          g[i] = i >= rows || j >= columns || n <= 0 ? Vec{} : n == kLanes ? Load(p) : LoadPart(p, n);
        }
        H::OutTransposed(g, q);
        for (int i = 0; i < H::kPoints; ++i) s[i][j] = q[i];
      }
      for (int i = 0; i < H::kPoints; ++i) {
        Vec q[W::kPoints];
        W::OutTransposed(s[i], q);
        for (int j = 0; j < W::kPoints; ++j) Store(to + (i * W::kPoints + j) * w.point_stride, q[j]);
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
constexpr SumTiles<R...> MakeSumTiles(std::integer_sequence<int, R...>) {
  return {};
}
using AllSumTiles = decltype(MakeSumTiles(std::make_integer_sequence<int, kRows>()));

template <typename H, typename W>
void WeightGradient(const WinogradDims& d, const float* u, int64_t c_begin, int64_t c_end, const WinogradFilterGradient& f) {
  const int64_t ldu = RoundUp(d.k, kPanel);
  for (int64_t c = c_begin; c < c_end; ++c)
    for (int64_t k = 0; k < d.k; k += kLanes) {
      const int64_t n = std::min<int64_t>(kLanes, d.k - k);
      Wide column[H::kPoints], rows[H::kWindow][W::kPoints], down[H::kWindow], across[W::kWindow];
      for (int j = 0; j < W::kPoints; ++j) {
        for (int i = 0; i < H::kPoints; ++i)
          column[i] = __builtin_convertvector(Load(u + ((i * W::kPoints + j) * d.c + c) * ldu + k), Wide);
        H::FilterTransposed(column, down);
        for (int r = 0; r < H::kWindow; ++r) rows[r][j] = down[r];
      }
      for (int r = 0; r < H::kWindow; ++r) {
        W::FilterTransposed(rows[r], across);
        for (int s = 0; s < W::kWindow; ++s) {
          float* to = f.ptr + k * f.k + c * f.c + r * f.r + s * f.s;
          for (int64_t i = 0; i < n; ++i) to[i * f.k] = static_cast<float>(across[s][i]);
        }
      }
    }
}

template <typename H, typename W>
void Output(const WinogradDims& d, const WinogradPart& m, int64_t begin, int64_t end, int64_t k_begin, int64_t k_end,
            const WinogradEpilogue& e, float* y) {
  for (int64_t t = begin; t < end; ++t) {
    const WinogradTile at(d, t);
    const int rows = static_cast<int>(std::min<int64_t>(H::kTile, d.oh - at.y)),
              columns = static_cast<int>(std::min<int64_t>(W::kTile, d.ow - at.x));
    const int64_t column = d.apart_w * d.k, row = d.apart_h * d.ow * column;
    const int64_t origin = at.Image(d, d.oh, d.ow) * d.k + at.y * row + at.x * column;
    for (int64_t k = k_begin; k < k_end; k += kLanes) {
      const int64_t n = std::min<int64_t>(kLanes, k_end - k);
      const float* from = m.ptr + (t - begin) * m.tile_stride + (k - k_begin);
      Vec s[H::kTile][W::kPoints];
      for (int j = 0; j < W::kPoints; ++j) {
        Vec q[H::kPoints], r[H::kTile];
        for (int i = 0; i < H::kPoints; ++i) q[i] = Load(from + (i * W::kPoints + j) * m.point_stride);
        H::Out(q, r);
        for (int i = 0; i < H::kTile; ++i) s[i][j] = r[i];
      }
      const Vec bias = !e.bias ? Vec{} : n == kLanes ? Load(e.bias + k) : LoadPart(e.bias + k, n);
      for (int i = 0; i < rows; ++i) {
        Vec r[W::kTile];
        W::Out(s[i], r);
        const int64_t line = origin + i * row + k;
        for (int j = 0; j < columns; ++j) {
          Vec v = r[j] + bias;
          const int64_t p = line + j * column;
          if (n == kLanes) {
            if (e.addend) v += Load(e.addend + p);
            if (e.relu) v = v < 0.f ? Vec{} : v;  // keeps NaN
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

// The transforms of `d`: those that WinogradDimsOf hands out.
#define MXNET_WINOGRAD_CALL(Function, ...)                            \
  switch (d.points * 100 + d.window_h * 10 + d.window_w) {            \
    case 433: return Function<Along<4, 3>, Along<4, 3>>(__VA_ARGS__); \
    case 633: return Function<Along<6, 3>, Along<6, 3>>(__VA_ARGS__); \
    case 833: return Function<Along<8, 3>, Along<8, 3>>(__VA_ARGS__); \
    case 655: return Function<Along<6, 5>, Along<6, 5>>(__VA_ARGS__); \
    case 855: return Function<Along<8, 5>, Along<8, 5>>(__VA_ARGS__); \
    case 613: return Function<NotAlong, Along<6, 3>>(__VA_ARGS__);    \
    case 631: return Function<Along<6, 3>, NotAlong>(__VA_ARGS__);    \
    case 817: return Function<NotAlong, Along<8, 7>>(__VA_ARGS__);    \
    case 871: return Function<Along<8, 7>, NotAlong>(__VA_ARGS__);    \
    case 1017: return Function<NotAlong, Along<10, 7>>(__VA_ARGS__);  \
    case 1071: return Function<Along<10, 7>, NotAlong>(__VA_ARGS__);  \
  }

nn::WinogradGeometry WinogradShape() { return {kLanes, kRows, kPanel}; }

void WinogradWeights(const WinogradDims& d, const WinogradFilter& f, int64_t begin, int64_t end, int64_t c_begin, int64_t c_end, float* u) {
  MXNET_WINOGRAD_CALL(Weights, d, f, begin, end, c_begin, c_end, u);
}

void WinogradInput(const WinogradDims& d, const float* x, int64_t begin, int64_t end, const WinogradPart& v) {
  MXNET_WINOGRAD_CALL(Input, d, x, begin, end, v);
}

void WinogradGemms(const WinogradDims& d, const WinogradPart& v, int64_t tiles, const float* u, int64_t begin, int64_t end,
                   const WinogradPart& m) {
  const int points = d.Points();
  const bool compact = d.weight_bytes != 4;
  const int64_t most = compact ? kCompactRows : kRows;
  const int64_t groups =
      (tiles + most - 1) / most;  // of nearly equal size: a register tile of one or two rows costs as much as one of four
  const int64_t pair = compact ? d.weight_bytes * kLanes : 2 * kPanel, scales = compact ? kPanel : 0, size = WinogradChunk(d);
  // the next panel comes evenly beside all of them: what is asked for faster than memory gives it
  // holds up other reads
  const int64_t ahead = ((compact ? pair : kPanel) + groups - 1) / groups;
  const auto chunk = [&](int64_t p, int point, int64_t c) { return u + (p * points + point) * size + (c > 0 ? scales + c * pair / 2 : 0); };
  for (int point = 0; point < points; ++point) {
    const float* a = v.ptr + point * v.point_stride;
    float* out = m.ptr + point * m.point_stride;
    for (int64_t c = 0; c < d.c; c += kDepth) {
      const int64_t depth = std::min(kDepth, d.c - c);
      const TileFn* kernels = c > 0 ? AllTiles::add : AllTiles::write;
      for (int64_t p = begin; p < end; ++p) {
        const float *panel = chunk(p, point, c), *next = panel;
        float* column = out + (p - begin) * kPanel;
        if (p + 1 < end)
          next = chunk(p + 1, point, c);
        else if (c + kDepth < d.c)
          next = chunk(begin, point, c + kDepth);
        else if (point + 1 < points)
          next = chunk(begin, point + 1, 0);
        else if (end * kPanel < d.k)
          next = chunk(end, 0, 0);
        for (int64_t g = 0; g < groups; ++g, next += depth * pair / 2 / groups) {
          const int64_t t = tiles * g / groups, rows = tiles * (g + 1) / groups - t;
          if (compact) {
            const float* scale = chunk(p, point, 0);
            AllCompactTiles::of[d.weight_bytes - 2][*scale != 0][rows - 1](a + t * v.tile_stride + c, v.tile_stride,
                                                                           panel + (c > 0 ? 0 : scales), scale, depth,
                                                                           column + t * m.tile_stride, m.tile_stride, c > 0, next, ahead);
            continue;
          }
          kernels[rows - 1](a + t * v.tile_stride + c, v.tile_stride, panel, depth, column + t * m.tile_stride, m.tile_stride, next, ahead);
        }
      }
    }
  }
}

void WinogradOutput(const WinogradDims& d, const WinogradPart& m, int64_t begin, int64_t end, int64_t k_begin, int64_t k_end,
                    const WinogradEpilogue& e, float* y) {
  MXNET_WINOGRAD_CALL(Output, d, m, begin, end, k_begin, k_end, e, y);
}

void WinogradGradient(const WinogradDims& d, const float* y, int64_t begin, int64_t end, const WinogradPart& w) {
  MXNET_WINOGRAD_CALL(Gradient, d, y, begin, end, w);
}

void WinogradSums(const WinogradDims& d, const WinogradPart& v, const WinogradPart& w, int64_t tiles, int64_t begin, int64_t end, bool add,
                  float* u) {
  const int64_t ldu = RoundUp(d.k, kPanel), groups = (d.c + kRows - 1) / kRows;
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
  MXNET_WINOGRAD_CALL(WeightGradient, d, u, c_begin, c_end, f);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
