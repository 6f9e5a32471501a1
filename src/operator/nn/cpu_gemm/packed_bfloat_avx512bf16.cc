// Products of bfloat16 by vdpbf16ps. Only processors that have it get here.
#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "operator/nn/cpu_gemm/packed_bfloat_kernels.h"
#include "operator/nn/cpu_gemm/packed_kernels.h"

namespace mxnet {
namespace nn {
namespace {

constexpr int kLanes = kBfloatLanes, kRows = kBfloatRows;
constexpr int kSums = 2 * kRows;  // vectors: they fill the registers, less those for a pair of rows of the panel and an element of the data

inline __attribute__((always_inline)) __m512 Dot(__m512 sum, __m512i a, __m512i b) {
  return _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)b);
}  // NOLINT: vector types
inline __attribute__((always_inline)) __m512 Widen(__m256i v) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(v), 16));
}
inline __attribute__((always_inline)) __m256i Round(__m512 v) { return (__m256i)_mm512_cvtneps_pbh(v); }  // NOLINT
inline __attribute__((always_inline)) __m512i Pair(const bfloat16* p) {
  int32_t bits;
  std::memcpy(&bits, p, sizeof bits);
  return _mm512_set1_epi32(bits);
}

// The first n elements of a vector: masked stores take tens of cycles (Zen 5).
inline void StorePart(bfloat16* to, __m256i v, int64_t n) {
  if (n == 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(v));
    return;
  }
  bfloat16 part[kLanes];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(part), v);
  std::memcpy(to, part, static_cast<size_t>(n) * sizeof(bfloat16));
}

// kHeight pixels times a panel of kWidth vectors, summed in registers; beside every pair of rows of
// weights comes a part of the next panel (packed_variants.cc).
template <int kHeight, int kWidth>
void Tile(const BfloatBlock& block, int64_t pixel, const bfloat16* packed, const bfloat16* next, int64_t step, const BfloatEpilogue& e,
          int64_t filter, bfloat16* y, float* wide, int64_t wide_ld) {
  __m512 sum[kHeight][kWidth];
#pragma GCC unroll 3
  for (int v = 0; v < kWidth; ++v) {
    const __m512 bias = e.bias ? _mm512_loadu_ps(e.bias + filter + v * kLanes) : _mm512_setzero_ps();
#pragma GCC unroll 28
    for (int r = 0; r < kHeight; ++r) sum[r][v] = bias;
  }
  const int64_t ld = block.ld, first = pixel * ld + filter;
  if (!wide) {  // the result's lines, and with them an addend that it takes the place of, come while sums are computed
#pragma GCC unroll 28
    for (int r = 0; r < kHeight; ++r) __builtin_prefetch(y + first + r * ld, 1, 3);
  }
  const bfloat16* const* at = block.rows + pixel;
  const int64_t depth = block.depth, stride = block.stride;
  for (int64_t g = block.segments; g > 0; --g, at += stride) {
    const bfloat16* row[kHeight];
#pragma GCC unroll 28
    for (int r = 0; r < kHeight; ++r) row[r] = at[r];
    int64_t i = 0;
    for (; i + 1 < depth; i += 2, packed += 2 * kWidth * kLanes, next += step) {
      __builtin_prefetch(next, 0, 2);
      __m512i weight[kWidth];
#pragma GCC unroll 3
      for (int v = 0; v < kWidth; ++v) weight[v] = _mm512_loadu_si512(packed + 2 * v * kLanes);
#pragma GCC unroll 28
      for (int r = 0; r < kHeight; ++r) {
        const __m512i x = Pair(row[r] + i);
#pragma GCC unroll 3
        for (int v = 0; v < kWidth; ++v) sum[r][v] = Dot(sum[r][v], x, weight[v]);
      }
    }
    if (i < depth) {  // what lies behind the last element is not read: times zero it might be NaN
      __m512i weight[kWidth];
#pragma GCC unroll 3
      for (int v = 0; v < kWidth; ++v) weight[v] = _mm512_loadu_si512(packed + 2 * v * kLanes);
#pragma GCC unroll 28
      for (int r = 0; r < kHeight; ++r) {
        const __m512i x = _mm512_set1_epi32(row[r][i].bits);
#pragma GCC unroll 3
        for (int v = 0; v < kWidth; ++v) sum[r][v] = Dot(sum[r][v], x, weight[v]);
      }
      packed += 2 * kWidth * kLanes;
    }
  }
  const __mmask16 last = static_cast<__mmask16>((1u << std::min<int64_t>(kLanes, block.filters - filter - (kWidth - 1) * kLanes)) -
                                                1);  // filters of the last vector
  if (e.addend) {
#pragma GCC unroll 28
    for (int r = 0; r < kHeight; ++r)
#pragma GCC unroll 3
      for (int v = 0; v < kWidth; ++v)
        sum[r][v] = _mm512_add_ps(sum[r][v],
                                  Widen(_mm256_maskz_loadu_epi16(v + 1 < kWidth ? 0xffff : last, e.addend + first + r * ld + v * kLanes)));
  }
  if (e.low > -std::numeric_limits<float>::infinity()) {
    const __m512 low = _mm512_set1_ps(e.low);
#pragma GCC unroll 28
    for (int r = 0; r < kHeight; ++r)
#pragma GCC unroll 3
      for (int v = 0; v < kWidth; ++v) sum[r][v] = _mm512_max_ps(low, sum[r][v]);  // of a NaN and a number it is the second
  }
  if (e.high < std::numeric_limits<float>::infinity()) {
    const __m512 high = _mm512_set1_ps(e.high);
#pragma GCC unroll 28
    for (int r = 0; r < kHeight; ++r)
#pragma GCC unroll 3
      for (int v = 0; v < kWidth; ++v) sum[r][v] = _mm512_min_ps(high, sum[r][v]);
  }
  if (wide) {
#pragma GCC unroll 28
    for (int r = 0; r < kHeight; ++r)
#pragma GCC unroll 3
      for (int v = 0; v < kWidth; ++v)
        _mm512_mask_storeu_ps(wide + (pixel + r) * wide_ld + v * kLanes, v + 1 < kWidth ? 0xffff : last, sum[r][v]);
  } else if (last == 0xffff) {
#pragma GCC unroll 28
    for (int r = 0; r < kHeight; ++r) {
      bfloat16* to = y + first + r * ld;
      if (kWidth > 1) _mm512_storeu_si512(to, (__m512i)_mm512_cvtne2ps_pbh(sum[r][kWidth > 1], sum[r][0]));  // NOLINT
      if (kWidth != 2) _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + (kWidth - 1) * kLanes), Round(sum[r][kWidth - 1]));
    }
  } else {
#pragma GCC unroll 28
    for (int r = 0; r < kHeight; ++r)
#pragma GCC unroll 3
      for (int v = 0; v < kWidth; ++v) {
        bfloat16* to = y + first + r * ld + v * kLanes;
        if (v + 1 < kWidth)
          _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), Round(sum[r][v]));
        else
          StorePart(to, Round(sum[r][v]), block.filters - filter - v * kLanes);
      }
  }
}

using TileFn = void (*)(const BfloatBlock&, int64_t, const bfloat16*, const bfloat16*, int64_t, const BfloatEpilogue&, int64_t, bfloat16*,
                        float*, int64_t);
template <int kWidth, int... kHeight>
struct Tiles {
  static constexpr TileFn by_rows[] = {Tile<kHeight + 1, kWidth>...};
};
template <int kWidth, int... kHeight>
constexpr Tiles<kWidth, kHeight...> MakeTiles(std::integer_sequence<int, kHeight...>) {
  return {};
}

// Groups of nearly equal size. The next panel's `ahead` elements come behind this one's.
template <int kWidth>
void Panel(const BfloatBlock& block, const bfloat16* packed, int64_t pairs, int64_t ahead, const BfloatEpilogue& e, int64_t filter,
           bfloat16* y, float* wide, int64_t wide_ld) {
  constexpr int kHeight = kWidth == 1 ? 12 : kSums / kWidth;
  using All = decltype(MakeTiles<kWidth>(std::make_integer_sequence<int, kHeight>()));
  const int64_t groups = (block.count + kHeight - 1) / kHeight, least = block.count / groups, more = block.count % groups,
                step = ahead / (groups * pairs);
  const bfloat16* next = packed + pairs * 2 * kWidth * kLanes;
  int64_t pixel = 0;
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t rows = least + (g < more);
    All::by_rows[rows - 1](block, pixel, packed, next, step, e, filter, y, wide, wide_ld);
    next += pairs * step;
    pixel += rows;
  }
}

// kRowsOf rows of data with kWeights rows of weights, read side by side.
template <int kRowsOf, int kWeights>
void RowsBlock(int64_t n, int64_t k, const bfloat16* x, const bfloat16* w, float* sums) {
  __m512 acc[kRowsOf][kWeights];
#pragma GCC unroll 8
  for (int m = 0; m < kRowsOf; ++m)
#pragma GCC unroll 8
    for (int r = 0; r < kWeights; ++r) acc[m][r] = _mm512_setzero_ps();
  for (int64_t i = 0; i < k; i += 32) {
    const __mmask32 mask = k - i >= 32 ? 0xffffffffu : (1u << (k - i)) - 1;
    __m512i v[kWeights];
#pragma GCC unroll 8
    for (int r = 0; r < kWeights; ++r) v[r] = _mm512_maskz_loadu_epi16(mask, w + r * k + i);
#pragma GCC unroll 8
    for (int m = 0; m < kRowsOf; ++m) {
      const __m512i data = _mm512_maskz_loadu_epi16(mask, x + m * k + i);
#pragma GCC unroll 8
      for (int r = 0; r < kWeights; ++r) acc[m][r] = Dot(acc[m][r], v[r], data);
    }
  }
  for (int m = 0; m < kRowsOf; ++m)
    for (int r = 0; r < kWeights; ++r) sums[m * n + r] = _mm512_reduce_add_ps(acc[m][r]);
}

template <int kRowsOf, int kWeights>
void Columns(int64_t m, int64_t n, int64_t k, const bfloat16* x, const bfloat16* w, float* sums, int64_t begin, int64_t end) {
  const auto rows = [&](auto width, int64_t j) {
    constexpr int kWidth = decltype(width)::value;
    int64_t at = 0;
    for (; at + kRowsOf <= m; at += kRowsOf) RowsBlock<kRowsOf, kWidth>(n, k, x + at * k, w + j * k, sums + at * n + j);
    for (; at < m; ++at) RowsBlock<1, kWidth>(n, k, x + at * k, w + j * k, sums + at * n + j);
  };
  int64_t j = begin;
  for (; j + kWeights <= end; j += kWeights) rows(std::integral_constant<int, kWeights>(), j);
  for (; j < end; ++j) rows(std::integral_constant<int, 1>(), j);
}

// The normal distribution function less 1/2, by thirds from 0 to 5: coefficients of 1, f, f^2 and
// f^3 for f from 0 to 1, which interpolate it at Chebyshev's points. Off by at most 3e-6, and by
// less where it nears 1/2. Behind 5 it is 1/2.
alignas(64) constexpr float kCdf[4][16] = {
    {-6.27687996e-07f, 0.130556807f, 0.247505277f, 0.341343105f, 0.408788085f, 0.452209771f, 0.477250397f, 0.490185261f, 0.496170044f,
     0.498650342f, 0.499571055f, 0.499877185f, 0.49996835f, 0.499992669f, 0.49999848f, 0.5f},
    {0.133000538f, 0.125853613f, 0.106552683f, 0.0807094052f, 0.0546920709f, 0.0331549533f, 0.0179797336f, 0.00872205291f, 0.00378483743f,
     0.00146914076f, 0.00051010988f, 0.000158433206f, 4.40159492e-05f, 1.09384491e-05f, 2.4315575e-06f, 0.0f},
    {-9.05289708e-05f, -0.0072797318f, -0.0121819777f, -0.0137097472f, -0.012264356f, -0.00919394754f, -0.00591394724f, -0.00330585148f,
     -0.00161818939f, -0.000697050185f, -0.000265133363f, -8.92671233e-05f, -2.6652322e-05f, -7.06641686e-06f, -1.66555003e-06f, 0.0f},
    {-0.00235164515f, -0.00162522402f, -0.000533367915f, 0.000444553094f, 0.000993340276f, 0.00107932964f, 0.000869049458f, 0.000568725867f,
     0.000313797646f, 0.00014871631f, 6.11987707e-05f, 2.20200145e-05f, 6.9605212e-06f, 1.93949904e-06f, 4.77591698e-07f, 0.0f}};

inline __attribute__((always_inline)) __m512 Gelu(__m512 x) {
  const __m512 u = _mm512_abs_ps(x), t = _mm512_min_ps(_mm512_set1_ps(15.0f), _mm512_mul_ps(u, _mm512_set1_ps(3.0f)));  // NaN stays
  const __m512i third = _mm512_cvttps_epi32(t);
  const __m512 f = _mm512_sub_ps(t, _mm512_cvtepi32_ps(third));
  __m512 cdf = _mm512_permutexvar_ps(third, _mm512_load_ps(kCdf[3]));
#pragma GCC unroll 3
  for (int k = 2; k >= 0; --k) cdf = _mm512_fmadd_ps(cdf, f, _mm512_permutexvar_ps(third, _mm512_load_ps(kCdf[k])));
  return _mm512_fmadd_ps(u, cdf, _mm512_mul_ps(x, _mm512_set1_ps(0.5f)));
}

void Gemms(const BfloatBlock& block, const bfloat16* packed, int64_t begin, int64_t end, const BfloatEpilogue& e, bfloat16* y, float* wide,
           int64_t wide_ld) {
  if (block.flat) return BfloatAmxGemms(block, packed, begin, end, e, y, wide, wide_ld);
  const int64_t pairs = block.segments * ((block.depth + 1) / 2), vectors = PackedVectors(block.filters, kLanes),
                panels = PackedPanels(block.filters, kLanes);
  for (int64_t p = begin; p < end; ++p) {
    const bfloat16* panel = packed + p * pairs * 4 * kLanes;
    const int64_t width = p + 1 < panels ? 2 : vectors - 2 * p, after = p + 1 == (block.onward ? panels : end) ? 0
                                                                        : p + 2 < panels                       ? 2
                                                                                                               : vectors - 2 * p - 2;
    (width == 2   ? Panel<2>
     : width == 3 ? Panel<3>
                  : Panel<1>)(block, panel, pairs, after * 2 * kLanes * pairs, e, p * 2 * kLanes, y,
                              wide ? wide + (p - begin) * 2 * kLanes : nullptr, wide_ld);
  }
}
}  // namespace

void BfloatGemms(const BfloatBlock& block, const bfloat16* packed, int64_t begin, int64_t end, const BfloatEpilogue& e, bfloat16* y) {
  Gemms(block, packed, begin, end, e, y, nullptr, 0);
}

void BfloatGemmsWide(const BfloatBlock& block, const bfloat16* packed, int64_t begin, int64_t end, const BfloatEpilogue& e, float* wide,
                     int64_t wide_ld) {
  Gemms(block, packed, begin, end, e, nullptr, wide, wide_ld);
}

void BfloatRows(int64_t m, int64_t n, int64_t k, const bfloat16* data, const bfloat16* weight, float* sums, int64_t begin, int64_t end) {
  const auto run = m == 1 ? Columns<1, 8> : m == 2 ? Columns<2, 6> : m % 3 == 0 ? Columns<3, 6> : Columns<4, 5>;
  run(m, n, k, data, weight, sums, begin, end);
}

void BfloatGelu(const float* in, bfloat16* out, int64_t n) {
  int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes)
    _mm512_storeu_si512(out + i,
                        (__m512i)_mm512_cvtne2ps_pbh(Gelu(_mm512_loadu_ps(in + i + kLanes)), Gelu(_mm512_loadu_ps(in + i))));  // NOLINT
  for (; i < n; i += kLanes) {
    const __mmask16 mask = static_cast<__mmask16>((1u << std::min<int64_t>(kLanes, n - i)) - 1);
    _mm256_mask_storeu_epi16(out + i, mask, Round(Gelu(_mm512_maskz_loadu_ps(mask, in + i))));
  }
}

void BfloatRound(const float* in, bfloat16* out, int64_t n) {
  int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes)
    _mm512_storeu_si512(out + i, (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(in + i + kLanes), _mm512_loadu_ps(in + i)));  // NOLINT
  for (; i < n; i += kLanes) {
    const __mmask16 mask = static_cast<__mmask16>((1u << std::min<int64_t>(kLanes, n - i)) - 1);
    _mm256_mask_storeu_epi16(out + i, mask, Round(_mm512_maskz_loadu_ps(mask, in + i)));
  }
}

}  // namespace nn
}  // namespace mxnet
