// Products with packed weights in GCC's vector types: one source for SSE, AVX2 and AVX-512.
#include <algorithm>
#include <cstring>
#include <utility>

#include "operator/nn/cpu_gemm/packed_kernels.h"
#include "operator/nn/cpu_gemm/vector_lanes.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {

MXNET_PACKED_KERNELS

namespace {

using nn::PackedBlock;
using nn::PackedEpilogue;

constexpr int kSums = 2 * kRows;                     // vectors
constexpr int64_t kWholeDepth = 4608, kPart = 1024;  // deeper sums are taken in parts of at most so many elements

// The epilogue of one line of a panel that the filters do not fill.
__attribute__((noinline)) void StorePart(const float* line, int64_t n, const PackedEpilogue& e, int64_t filter, const float* addend,
                                         float* to) {
  for (int64_t i = 0; i < n; ++i) {
    float v = line[i];
    if (e.bias) v += e.bias[filter + i];
    if (addend) v += addend[i];
    v = e.low > v ? e.low : v;
    to[i] = e.high < v ? e.high : v;
  }
}

// kHeight pixels times a panel of kWidth vectors, summed in registers.
//
// Beside every row of weights comes a part of the next panel, from `next` on `step` floats a row:
// weights of a large network come from memory, and more lines at a time than the core can wait for
// would hold up the sums. Where a row brings a row (kBoth), that is two lines; the processor waits
// for every second one otherwise. Less than four rows of data are over too soon for that.
template <int kHeight, int kWidth, bool kBoth>
void Tile(const PackedBlock& block, int64_t pixel, const float* packed, const float* next, int64_t step, const PackedEpilogue& e,
          int64_t filter, float* y) {
  Vec sum[kHeight][kWidth];
#pragma GCC unroll 28
  for (int r = 0; r < kHeight; ++r)
#pragma GCC unroll 3
    for (int v = 0; v < kWidth; ++v) sum[r][v] = Vec{};
  if (block.begun) {
    const float* from = y + pixel * block.ld + filter;
#pragma GCC unroll 28
    for (int r = 0; r < kHeight; ++r)
#pragma GCC unroll 3
      for (int v = 0; v < kWidth; ++v) sum[r][v] = Load(from + r * block.ld + v * kLanes);
  }
  // The addend is far away as a rule: its lines come while the products are summed, few at a time
  // as well.
  const float* far = e.addend ? e.addend + pixel * block.ld + filter : nullptr;
  const int64_t each = far ? std::max<int64_t>(1, block.segments * block.depth / (kHeight + 1)) : std::numeric_limits<int64_t>::max();
  int64_t until = far ? 1 : each;
  const float* const* at = block.rows + pixel;
  const int64_t depth = block.depth, stride = block.stride, shift = block.shift;
  for (int64_t g = block.segments; g > 0; --g, at += stride) {
    const float* row[kHeight];
#pragma GCC unroll 28
    for (int r = 0; r < kHeight; ++r) row[r] = at[r] + shift;
    for (int64_t i = 0; i < depth; ++i, packed += kWidth * kLanes, next += step) {
      __builtin_prefetch(next, 0, 2);
      if (kBoth && kHeight >= 4) __builtin_prefetch(next + kLanes, 0, 2);
      if (--until == 0) {
#pragma GCC unroll 3
        for (int v = 0; v < kWidth; ++v) __builtin_prefetch(far + v * kLanes);
        far += block.ld, until = each;
      }
      Vec weight[kWidth];
#pragma GCC unroll 3
      for (int v = 0; v < kWidth; ++v) weight[v] = Load(packed + v * kLanes);
#pragma GCC unroll 28
      for (int r = 0; r < kHeight; ++r)
#pragma GCC unroll 3
        for (int v = 0; v < kWidth; ++v) sum[r][v] += row[r][i] * weight[v];
    }
  }
  const int64_t ld = block.ld;
  if (filter + kWidth * kLanes > block.filters) {  // the last vector is not whole
    const int64_t n = block.filters - filter;
    float* to = y + pixel * ld + filter;
#pragma GCC unroll 28
    for (int r = 0; r < kHeight; ++r) {
      float line[kWidth * kLanes];
#pragma GCC unroll 3
      for (int v = 0; v < kWidth; ++v) Store(line + v * kLanes, sum[r][v]);  // not from the array's memory: the sums would live there
      StorePart(line, n, e, filter, e.addend ? e.addend + (pixel + r) * ld + filter : nullptr, to + r * ld);
    }
    return;
  }
  if (e.bias) {
#pragma GCC unroll 3
    for (int v = 0; v < kWidth; ++v) {
      const Vec bias = Load(e.bias + filter + v * kLanes);
#pragma GCC unroll 28
      for (int r = 0; r < kHeight; ++r) sum[r][v] += bias;
    }
  }
  if (e.addend) {
    const float* from = e.addend + pixel * ld + filter;
#pragma GCC unroll 28
    for (int r = 0; r < kHeight; ++r)
#pragma GCC unroll 3
      for (int v = 0; v < kWidth; ++v) sum[r][v] += Load(from + r * ld + v * kLanes);
  }
  if (e.low > -std::numeric_limits<float>::infinity()) {  // comparisons take the place of multiplications
    const Vec low = Vec{} + e.low;
#pragma GCC unroll 28
    for (int r = 0; r < kHeight; ++r)
#pragma GCC unroll 3
      for (int v = 0; v < kWidth; ++v) sum[r][v] = low > sum[r][v] ? low : sum[r][v];
  }
  if (e.high < std::numeric_limits<float>::infinity()) {
    const Vec high = Vec{} + e.high;
#pragma GCC unroll 28
    for (int r = 0; r < kHeight; ++r)
#pragma GCC unroll 3
      for (int v = 0; v < kWidth; ++v) sum[r][v] = high < sum[r][v] ? high : sum[r][v];
  }
  if (block.outs) {
    const int64_t apart = block.apart, first = filter / kLanes * apart;
#pragma GCC unroll 28
    for (int r = 0; r < kHeight; ++r) {
      float* to = block.outs[pixel + r] + first;
#pragma GCC unroll 3
      for (int v = 0; v < kWidth; ++v) Store(to + v * apart, sum[r][v]);
    }
    return;
  }
  float* to = y + pixel * ld + filter;
#pragma GCC unroll 28
  for (int r = 0; r < kHeight; ++r)
#pragma GCC unroll 3
    for (int v = 0; v < kWidth; ++v) Store(to + r * ld + v * kLanes, sum[r][v]);
}

using TileFn = void (*)(const PackedBlock&, int64_t, const float*, const float*, int64_t, const PackedEpilogue&, int64_t, float*);
template <int kWidth, bool kBoth, int... kHeight>
struct Tiles {
  static constexpr TileFn by_rows[] = {Tile<kHeight + 1, kWidth, kBoth>...};
};
template <int kWidth, bool kBoth, int... kHeight>
constexpr Tiles<kWidth, kBoth, kHeight...> MakeTiles(std::integer_sequence<int, kHeight...>) {
  return {};
}

// Groups of nearly equal size: a tile of one or two rows costs as much as one of four. `ahead`
// floats from `next` on are read next.
template <int kWidth>
void Panel(const PackedBlock& block, const float* packed, const float* next, int64_t ahead, const PackedEpilogue& e, int64_t filter,
           float* y) {
  constexpr int kHeight = kWidth == 1 ? 12 : kSums / kWidth;
  using Heights = std::make_integer_sequence<int, kHeight>;
  using All = decltype(MakeTiles<kWidth, false>(Heights()));
  using Both = decltype(MakeTiles<kWidth, kWidth == 2>(Heights()));
  const int64_t groups = (block.count + kHeight - 1) / kHeight, least = block.count / groups, more = block.count % groups;
  const int64_t rows_of_weights = block.segments * block.depth;
  const int64_t step = ahead / (groups * rows_of_weights);
  const TileFn* const by_rows = step > kLanes ? Both::by_rows : All::by_rows;
  int64_t pixel = 0;
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t rows = least + (g < more);
    by_rows[rows - 1](block, pixel, packed, next, step, e, filter, y);
    next += rows_of_weights * step;
    pixel += rows;
  }
}

using PanelFn = void (*)(const PackedBlock&, const float*, const float*, int64_t, const PackedEpilogue&, int64_t, float*);
PanelFn PanelOf(int64_t width) { return width == 2 ? Panel<2> : width == 3 ? Panel<3> : Panel<1>; }

/*
 * Deep sums are taken in parts: where a panel and a tile's rows do not stay in the second-level
 * cache, every tile would read the panel from beyond it, and every panel the rows. Sums wait in the
 * result meanwhile, so they are taken in the same order as whole ones.
 */
bool IsParted(const PackedBlock& block, const PackedEpilogue& e, const float* y) {
  return block.segments == 1 && block.depth > kWholeDepth && block.count > kRows && !block.outs && e.addend != y;
}

void PartedGemms(const PackedBlock& block, const float* packed, int64_t begin, int64_t end, const PackedEpilogue& e, float* y) {
  const int64_t k = block.depth, vectors = nn::PackedVectors(block.filters, kLanes), panels = nn::PackedPanels(block.filters, kLanes),
                parts = (k + kPart - 1) / kPart;
  PackedBlock some = block;
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t first = k * part / parts;
    some.shift = block.shift + first, some.depth = k * (part + 1) / parts - first, some.begun = part > 0;
    const bool last = part + 1 == parts;
    for (int64_t p = begin; p < end; ++p) {
      const int64_t width = p + 1 < panels ? 2 : vectors - 2 * p;
      const float* panel = packed + (p * 2 * k + first * width) * kLanes;
      const bool whole = p * 2 + width <= block.filters / kLanes;
      if (!whole) {  // its sums have no place to wait
        if (last) PanelOf(width)(block, packed + p * 2 * k * kLanes, nullptr, 0, e, p * 2 * kLanes, y);
        continue;
      }
      const bool onward = p + 2 < (block.onward || p + 1 < end ? panels : 0);
      PanelOf(width)(some, panel, onward ? panel + k * 2 * kLanes : panel, onward ? some.depth * 2 * kLanes : 0,
                     last ? e : PackedEpilogue(), p * 2 * kLanes, y);
    }
  }
}

/*
 * The sums of a depthwise tile with square windows: kHeight x kColumns results of one vector of
 * channels. Data at line i, column j of what the tile's windows cover.
 */
template <int kTaps, int kStride, int kHeight, int kColumns>
struct DepthwiseSums {
  Vec sum[kHeight][kColumns];
  inline __attribute__((always_inline)) void Begin(Vec bias) {
#pragma GCC unroll 4
    for (int r = 0; r < kHeight; ++r)
#pragma GCC unroll 8
      for (int s = 0; s < kColumns; ++s) sum[r][s] = bias;
  }
  inline __attribute__((always_inline)) void Add(int i, int j, Vec x, const float* weight) {
#pragma GCC unroll 4
    for (int r = 0; r < kHeight; ++r)
#pragma GCC unroll 8
      for (int s = 0; s < kColumns; ++s) {
        const int kh = i - r * kStride, kw = j - s * kStride;
        if (kh >= 0 && kh < kTaps && kw >= 0 && kw < kTaps) sum[r][s] += x * Load(weight + (kh * kTaps + kw) * kLanes);
      }
  }
  // addend: null, or laid out as y
  inline __attribute__((always_inline)) void End(Vec low, Vec high, const float* addend, float* y, int64_t ld, int64_t line) const {
#pragma GCC unroll 4
    for (int r = 0; r < kHeight; ++r)
#pragma GCC unroll 8
      for (int s = 0; s < kColumns; ++s) {
        Vec v = sum[r][s];
        const int64_t to = r * line + s * ld;
        if (addend) v += Load(addend + to);
        v = low > v ? low : v;
        v = high < v ? high : v;
        Store(y + to, v);
      }
  }
};

/*
 * kHeight x kColumns results of a depthwise convolution and all channels of [begin, end). line[i]:
 * the data below the first result's window's corner; null where outside. Of the columns that the
 * windows cover, the first kFirst and the last kLast lie outside the data; kFirst negative: those
 * outside of [from, to) do.
 */
template <int kTaps, int kStride, int kHeight, int kColumns, int kFirst, int kLast>
void DepthwiseTile(const float* const* line, int from, int to, int64_t ld, const float* weights, int64_t begin, int64_t end,
                   const PackedEpilogue& e, const float* addend, float* y, int64_t ld_y, int64_t line_y) {
  constexpr int kLines = (kHeight - 1) * kStride + kTaps, kWide = (kColumns - 1) * kStride + kTaps;
  const Vec low = Vec{} + e.low, high = Vec{} + e.high;
  for (int64_t at = begin; at < end; at += kLanes) {
    const int64_t c = std::min(at, end - kLanes);  // the last vector may cover some channels again
    const float* weight = weights + at * kTaps * kTaps;
    DepthwiseSums<kTaps, kStride, kHeight, kColumns> sums;
    sums.Begin(e.bias ? Load(e.bias + c) : Vec{});
#pragma GCC unroll 8
    for (int i = 0; i < kLines; ++i) {
      const float* data = line[i];
      if (!data) continue;
      data += c;
#pragma GCC unroll 16
      for (int j = 0; j < kWide; ++j) {
        if (kFirst < 0 ? j < from || j >= to : j < kFirst || j >= kWide - kLast) continue;
        sums.Add(i, j, Load(data + j * ld), weight);
      }
    }
    sums.End(low, high, addend ? addend + c : nullptr, y + c, ld_y, line_y);
  }
}

using DepthwiseFn = void (*)(const float* const*, int, int, int64_t, const float*, int64_t, int64_t, const PackedEpilogue&, const float*,
                             float*, int64_t, int64_t);

template <int kTaps, int kStride, int kHeight, int kFirst, int kLast>
DepthwiseFn Columns(int64_t columns) {
  return columns == 4   ? DepthwiseTile<kTaps, kStride, kHeight, 4, kFirst, kLast>
         : columns == 3 ? DepthwiseTile<kTaps, kStride, kHeight, 3, kFirst, kLast>
         : columns == 2 ? DepthwiseTile<kTaps, kStride, kHeight, 2, kFirst, kLast>
                        : DepthwiseTile<kTaps, kStride, kHeight, 1, kFirst, kLast>;
}

/* Narrow windows, which are the most frequent ones, have tiles of their own for each border. */
template <int kTaps, int kStride, int kHeight>
DepthwiseFn TileOf(int64_t columns, bool first, bool last) {
  if (!first && !last) return Columns<kTaps, kStride, kHeight, 0, 0>(columns);
  if constexpr (kTaps == 3) {
    if (first && last) return Columns<kTaps, kStride, kHeight, 1, 1>(columns);
    return first ? Columns<kTaps, kStride, kHeight, 1, 0>(columns) : Columns<kTaps, kStride, kHeight, 0, 1>(columns);
  } else {
    return Columns<kTaps, kStride, kHeight, -1, -1>(columns);
  }
}

// One or two lines of results.
template <int kTaps, int kStride, int kHeight>
void DepthwiseStripe(const nn::DepthwiseDims& d, const float* const* lines, const float* weight, int64_t c_begin, int64_t c_end,
                     const PackedEpilogue& e, float* y) {
  constexpr int kLines = (kHeight - 1) * kStride + kTaps;
  const int64_t groups = (d.ow + 3) / 4, ld = d.channels;
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t ox = d.ow * g / groups, columns = d.ow * (g + 1) / groups - ox, ix = ox * kStride - d.pad_w;
    const int wide = static_cast<int>(columns - 1) * kStride + kTaps, from = static_cast<int>(std::max<int64_t>(0, -ix)),
              to = static_cast<int>(std::min<int64_t>(wide, d.w - ix));
    const float* line[kLines];
    for (int i = 0; i < kLines; ++i) line[i] = lines[i] ? lines[i] + ix * ld : nullptr;
    const int64_t at = ox * d.channels;
    TileOf<kTaps, kStride, kHeight>(columns, from > 0, to < wide)(
        line, from, to, ld, weight, c_begin, c_end, e, e.addend ? e.addend + at : nullptr, y + at, d.channels, d.ow * d.channels);
  }
}

using StripeFn = void (*)(const nn::DepthwiseDims&, const float* const*, const float*, int64_t, int64_t, const PackedEpilogue&, float*);

template <int kTaps>
StripeFn StripeOf(int stride, int height) {
  if (stride == 2) return height == 2 ? DepthwiseStripe<kTaps, 2, 2> : DepthwiseStripe<kTaps, 2, 1>;
  return height == 2 ? DepthwiseStripe<kTaps, 1, 2> : DepthwiseStripe<kTaps, 1, 1>;
}

// kColumns results of kHeight lines, of one vector of channels whose columns are adjacent and whose
// borders are zeros.
template <int kStride, int kHeight, int kColumns>
inline __attribute__((always_inline)) void VectorTile(const float* const* line, int64_t x, const float* weight, Vec bias, Vec low, Vec high,
                                                      float* y, int64_t ld, int64_t line_y) {
  constexpr int kLines = (kHeight - 1) * kStride + 3, kWide = (kColumns - 1) * kStride + 3;
  DepthwiseSums<3, kStride, kHeight, kColumns> sums;
  sums.Begin(bias);
#pragma GCC unroll 8
  for (int i = 0; i < kLines; ++i) {
    const float* data = line[i] + x;
#pragma GCC unroll 16
    for (int j = 0; j < kWide; ++j) sums.Add(i, j, Load(data + j * kLanes), weight);
  }
  sums.End(low, high, nullptr, y, ld, line_y);
}

template <int kStride, int kHeight>
void VectorLines(const nn::DepthwiseDims& d, const float* const* lines, int64_t apart, const float* weight, int64_t c_begin, int64_t c_end,
                 const PackedEpilogue& e, float* y) {
  constexpr int kLines = (kHeight - 1) * kStride + 3, kColumns = 4;
  const int64_t groups = (d.ow + kColumns - 1) / kColumns, short_ones = groups * kColumns - d.ow, ld = d.channels,
                line_y = d.ow * d.channels;
  const Vec low = Vec{} + e.low, high = Vec{} + e.high;
  const float* line[kLines];
  for (int i = 0; i < kLines; ++i) line[i] = lines[i];
  for (int64_t c = c_begin; c < c_end; c += kLanes) {
    const Vec bias = e.bias ? Load(e.bias + c) : Vec{};
    const float* w = weight + c * 9;
    float* to = y + c;
    int64_t x = 0, fours = groups < short_ones ? d.ow / kColumns : groups - short_ones, rest = d.ow - fours * kColumns;
    for (; fours > 0; --fours, x += kColumns * kStride * kLanes, to += kColumns * ld)
      VectorTile<kStride, kHeight, kColumns>(line, x, w, bias, low, high, to, ld, line_y);
    for (; rest >= 3; rest -= 3, x += 3 * kStride * kLanes, to += 3 * ld)
      VectorTile<kStride, kHeight, 3>(line, x, w, bias, low, high, to, ld, line_y);
    if (rest == 2) VectorTile<kStride, kHeight, 2>(line, x, w, bias, low, high, to, ld, line_y);
    if (rest == 1) VectorTile<kStride, kHeight, 1>(line, x, w, bias, low, high, to, ld, line_y);
#pragma GCC unroll 8
    for (int i = 0; i < kLines; ++i) line[i] += apart;
  }
}

}  // namespace

int PackedLanes() { return kLanes; }
int PackedRows() { return kRows; }

void PackedGemms(const PackedBlock& block, const float* packed, int64_t begin, int64_t end, const PackedEpilogue& e, float* y) {
  const int64_t k = block.segments * block.depth, vectors = nn::PackedVectors(block.filters, kLanes),
                panels = nn::PackedPanels(block.filters, kLanes);
  if (IsParted(block, e, y)) return PartedGemms(block, packed, begin, end, e, y);
  for (int64_t p = begin; p < end; ++p) {
    const float* panel = packed + p * k * 2 * kLanes;
    const int64_t width = p + 1 < panels ? 2 : vectors - 2 * p;
    const int64_t after = p + 1 == (block.onward ? panels : end) ? 0 : p + 2 < panels ? 2 : vectors - 2 * p - 2;
    PanelOf(width)(block, panel, panel + k * width * kLanes, after * kLanes * k, e, p * 2 * kLanes, y);
  }
}

void DepthwiseVectors(const nn::DepthwiseDims& d, int height, const float* const* lines, int64_t apart, const float* weight,
                      int64_t c_begin, int64_t c_end, const PackedEpilogue& e, float* y) {
  const auto run =
      d.stride == 2 ? (height == 2 ? VectorLines<2, 2> : VectorLines<2, 1>) : (height == 2 ? VectorLines<1, 2> : VectorLines<1, 1>);
  run(d, lines, apart, weight, c_begin, c_end, e, y);
}

void DepthwiseLines(const nn::DepthwiseDims& d, const float* x, const float* weight, int64_t begin, int64_t end, int64_t c_begin,
                    int64_t c_end, const PackedEpilogue& e, float* y) {
  const int64_t row = d.w * d.channels;
  while (begin < end) {
    const int64_t n = begin / d.oh, oy = begin % d.oh, to = begin * d.ow * d.channels;
    const int height = begin + 1 < end && oy + 1 < d.oh ? 2 : 1;
    const float* lines[nn::kMostDepthwiseTaps + 2];
    for (int i = 0; i < (height - 1) * d.stride + d.taps; ++i) {
      const int64_t iy = oy * d.stride - d.pad_h + i;
      lines[i] = iy >= 0 && iy < d.h ? x + (n * d.h + iy) * row : nullptr;
    }
    PackedEpilogue own = e;
    if (e.addend) own.addend = e.addend + to;
    const StripeFn stripe = d.taps == 3   ? StripeOf<3>(d.stride, height)
                            : d.taps == 5 ? StripeOf<5>(d.stride, height)
                                          : StripeOf<7>(d.stride, height);
    stripe(d, lines, weight, c_begin, c_end, own, y + to);
    begin += height;
  }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
