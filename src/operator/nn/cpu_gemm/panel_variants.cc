// Panels of operands and tiles of their products, in GCC's vector types: one source for SSE, AVX2
// and AVX-512.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/round_up.h"
#include "operator/nn/cpu_gemm/panel_kernels.h"
#include "operator/nn/cpu_gemm/vector_lanes.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

// What is fetched beside the sums of a tile: `step` floats in each turn.
struct Next {
  const float* at;
  int64_t step;
  Next(const PanelAhead& ahead, int64_t depth, const float* else_at)
      : at(ahead.end > ahead.begin ? ahead.Begin() : else_at), step((ahead.end - ahead.begin + depth - 1) / depth) {}
};

// R rows times one panel. Results come from far away: they are fetched while the products are
// summed, and added to in the end.
template <int R, bool kAdd, bool kStrip, typename Out>
inline __attribute__((always_inline)) void Tile(const float* a, int64_t a_stride, const float* b, int64_t depth, Next next, Out out) {
  Vec low[R], high[R];
  const float* row[R];
#pragma GCC unroll 14
  for (int r = 0; r < R; ++r) {
    low[r] = high[r] = Vec{};
    row[r] = a + r * a_stride;
    __builtin_prefetch(out(r), 1);
    if (kLanes == 16) __builtin_prefetch(out(r) + kLanes, 1);
  }
  for (int64_t i = 0; i < depth; ++i, b += kPanel, a += kRows, next.at += next.step) {
    __builtin_prefetch(next.at, 0, 2);
    const Vec b0 = Load(b), b1 = Load(b + kLanes);
#pragma GCC unroll 14
    for (int r = 0; r < R; ++r) {
      const float v = kStrip ? a[r] : row[r][i];
      low[r] += v * b0;
      high[r] += v * b1;
    }
  }
#pragma GCC unroll 14
  for (int r = 0; r < R; ++r) {
    float* to = out(r);
    Store(to, kAdd ? Load(to) + low[r] : low[r]);
    Store(to + kLanes, kAdd ? Load(to + kLanes) + high[r] : high[r]);
  }
}

template <int R, bool kAdd>
void StripTile(const float* a, const float* b, int64_t depth, Next next, float* out, int64_t out_stride) {
  Tile<R, kAdd, true>(a, 0, b, depth, next, [=](int r) { return out + r * out_stride; });
}
template <int R, bool kAdd>
void RowTile(const float* a, int64_t a_stride, const float* b, int64_t depth, Next next, float* const* out, int64_t column) {
  Tile<R, kAdd, false>(a, a_stride, b, depth, next, [=](int r) { return out[r] + column; });
}
// What does not fill a panel goes through a buffer.
template <int R, bool kAdd>
void PartTile(const float* a, int64_t a_stride, const float* b, int64_t depth, Next next, float* const* out, int64_t column, int64_t n) {
  float buffer[R * kPanel];
  Tile<R, false, false>(a, a_stride, b, depth, next, [&](int r) { return buffer + r * kPanel; });
  for (int r = 0; r < R; ++r)
    for (int64_t j = 0; j < n; ++j) out[r][column + j] = buffer[r * kPanel + j] + (kAdd ? out[r][column + j] : 0.f);
}

using StripFn = void (*)(const float*, const float*, int64_t, Next, float*, int64_t);
using RowFn = void (*)(const float*, int64_t, const float*, int64_t, Next, float* const*, int64_t);
using PartFn = void (*)(const float*, int64_t, const float*, int64_t, Next, float* const*, int64_t, int64_t);
template <bool kAdd, int... R>
struct Tiles {
  static constexpr StripFn strip[] = {StripTile<R + 1, kAdd>...};
  static constexpr RowFn row[] = {RowTile<R + 1, kAdd>...};
  static constexpr PartFn part[] = {PartTile<R + 1, kAdd>...};
};
template <bool kAdd, int... R>
constexpr Tiles<kAdd, R...> MakeTiles(std::integer_sequence<int, R...>) {
  return {};
}
using WriteTiles = decltype(MakeTiles<false>(std::make_integer_sequence<int, kRows>()));
using AddTiles = decltype(MakeTiles<true>(std::make_integer_sequence<int, kRows>()));

}  // namespace

PanelGeometry PanelShape() { return {kRows, kPanel}; }

void PanelColumns(const float* x, int64_t size, const PanelRow* rows, int64_t depth, int64_t first, int64_t width, float* panels,
                  int64_t panel_stride) {
  float* const begin = panels + first / kPanel * panel_stride;
  const int64_t lane = first % kPanel, vectors = RoundUp(width, kLanes);
  for (int64_t i = 0; i < depth; ++i) {
    const PanelRow& row = rows[i];
    const float* from = x + row.at;
    float* to = begin + i * kPanel;
    if (lane % kLanes == 0 && row.lo == 0 && row.hi == width && row.at + vectors <= size) {
      int64_t c = 0;
      if (lane) {
        Store(to + kLanes, Load(from));
        to += panel_stride;
        c = kLanes;
      }
      for (; c + kPanel <= vectors; c += kPanel, to += panel_stride) {
        Store(to, Load(from + c));
        Store(to + kLanes, Load(from + c + kLanes));
      }
      if (c < vectors) Store(to, Load(from + c));
      continue;
    }
    int64_t at = lane;
    for (int64_t c = 0; c < width; to += panel_stride, at = 0) {
      const int64_t n = std::min<int64_t>(kPanel - at, width - c);
      const int64_t lo = std::min<int64_t>(std::max<int64_t>(row.lo - c, 0), n), hi = std::max(lo, std::min<int64_t>(row.hi - c, n));
      float* p = to + at;
      for (int64_t j = 0; j < lo; ++j) p[j] = 0.f;
      if (hi > lo) std::memcpy(p + lo, from + c + lo, (hi - lo) * sizeof(float));
      for (int64_t j = hi; j < n; ++j) p[j] = 0.f;
      c += n;
    }
  }
}

void PanelZero(int64_t depth, int64_t first, float* panels, int64_t panel_stride) {
  const int64_t lane = first % kPanel;
  if (lane == 0) return;
  float* panel = panels + first / kPanel * panel_stride;
  for (int64_t i = 0; i < depth; ++i) std::fill(panel + i * kPanel + lane, panel + (i + 1) * kPanel, 0.f);
}

void PanelStrips(const float* y, int64_t stride, int64_t depth, int64_t width, float* strips, int64_t strip_stride) {
  constexpr int kVectors = (kRows + kLanes - 1) / kLanes;
  for (int64_t i = 0; i < depth; ++i) {
    const float* from = y + i * stride;
    float* to = strips + i * kRows;
    int64_t f = 0;
    for (; f + kVectors * kLanes <= width;
         f += kRows, to += strip_stride)  // whole vectors: what is too much is written over by the next row
      for (int v = 0; v < kVectors; ++v) Store(to + v * kLanes, Load(from + f + v * kLanes));
    for (; f < width; f += kRows, to += strip_stride) std::memcpy(to, from + f, std::min<int64_t>(kRows, width - f) * sizeof(float));
  }
}

void PanelSums(const float* strips, int64_t strip_stride, int64_t width, const float* panels, int64_t panel_stride, int64_t columns,
               int64_t depth, bool add, float* out, int64_t out_stride, const PanelAhead& ahead) {
  const StripFn* kernels = add ? AddTiles::strip : WriteTiles::strip;
  const int64_t tiles = ((columns + kPanel - 1) / kPanel) * ((width + kRows - 1) / kRows);
  int64_t tile = 0;
  for (int64_t c = 0; c < columns; c += kPanel, panels += panel_stride) {
    const float* strip = strips;
    for (int64_t f = 0; f < width; f += kRows, strip += strip_stride, ++tile)
      kernels[std::min<int64_t>(kRows, width - f) - 1](strip, panels, depth, Next(ahead.Share(tile, tile + 1, tiles), depth, panels),
                                                       out + f * out_stride + c, out_stride);
  }
}

void PanelGemms(const float* a, int64_t a_stride, int64_t rows, const float* panels, int64_t panel_stride, int64_t columns, int64_t depth,
                bool add, float* const* out, const PanelAhead& ahead) {
  const int64_t groups = (rows + kRows - 1) / kRows;  // of nearly equal size
  const int64_t tiles = (columns + kPanel - 1) / kPanel * groups;
  int64_t tile = 0;
  for (int64_t c = 0; c < columns; c += kPanel, panels += panel_stride)
    for (int64_t g = 0; g < groups; ++g, ++tile) {
      const int64_t r = rows * g / groups, n = rows * (g + 1) / groups - r;
      const Next next(ahead.Share(tile, tile + 1, tiles), depth, panels);
      if (columns - c >= kPanel) {
        (add ? AddTiles::row : WriteTiles::row)[n - 1](a + r * a_stride, a_stride, panels, depth, next, out + r, c);
      } else {
        (add ? AddTiles::part : WriteTiles::part)[n - 1](a + r * a_stride, a_stride, panels, depth, next, out + r, c, columns - c);
      }
    }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
