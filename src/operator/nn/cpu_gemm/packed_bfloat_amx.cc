// Products of bfloat16 by matrix tiles (amx_products.h), and what becomes of their sums.
#include <immintrin.h>

#include <algorithm>

#include "operator/nn/cpu_gemm/amx_products.h"
#include "operator/nn/cpu_gemm/packed_bfloat_kernels.h"
#include "operator/nn/cpu_gemm/packed_kernels.h"

namespace mxnet {
namespace nn {
namespace {

constexpr int64_t kLanes = kBfloatLanes, kWidest = 3 * kLanes;

inline __attribute__((always_inline)) __m512 Widen(__m256i v) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(v), 16));
}
inline __attribute__((always_inline)) __mmask16 Mask(int64_t n) { return static_cast<__mmask16>((1u << std::min(n, kLanes)) - 1); }

/* What becomes of the first `filters` sums of each row. */
struct Results {
  const float* sums;
  int64_t pitch, rows, filters;
  const bfloat16* addend;  // null: none
  int64_t ld;
  __m512 low, high;

  __attribute__((always_inline)) __m512 At(int64_t row, int64_t at, __mmask16 mask) const {
    __m512 sum = _mm512_maskz_loadu_ps(mask, sums + row * pitch + at);
    if (addend) sum = _mm512_add_ps(sum, Widen(_mm256_maskz_loadu_epi16(mask, addend + row * ld + at)));
    return _mm512_min_ps(high, _mm512_max_ps(low, sum));  // of a NaN and a number it is the second
  }
};

void Store(const Results& r, bfloat16* y) {
  for (int64_t i = 0; i < r.rows; ++i, y += r.ld) {
    int64_t at = 0;
    for (; at + 2 * kLanes <= r.filters; at += 2 * kLanes)
      _mm512_storeu_si512(y + at, (__m512i)_mm512_cvtne2ps_pbh(r.At(i, at + kLanes, 0xffff), r.At(i, at, 0xffff)));  // NOLINT: vector types
    for (; at < r.filters; at += kLanes) {
      const __m256i v = (__m256i)_mm512_cvtneps_pbh(r.At(i, at, Mask(r.filters - at)));  // NOLINT
      if (r.filters - at >= kLanes)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(y + at), v);
      else
        _mm256_mask_storeu_epi16(y + at, Mask(r.filters - at), v);
    }
  }
}

void StoreWide(const Results& r, float* wide, int64_t wide_ld) {
  for (int64_t i = 0; i < r.rows; ++i, wide += wide_ld)
    for (int64_t at = 0; at < r.filters; at += kLanes) {
      const __mmask16 mask = Mask(r.filters - at);
      _mm512_mask_storeu_ps(wide + at, mask, r.At(i, at, mask));
    }
}

}  // namespace

void BfloatFinish(const float* sums, int64_t pitch, int64_t rows, int64_t filters, const BfloatEpilogue& e, bfloat16* y, int64_t ld) {
  Store({sums, pitch, rows, filters, e.addend, ld, _mm512_set1_ps(e.low), _mm512_set1_ps(e.high)}, y);
}

void BfloatFinishWide(const float* sums, int64_t pitch, int64_t rows, int64_t filters, const BfloatEpilogue& e, int64_t ld, float* wide) {
  StoreWide({sums, pitch, rows, filters, e.addend, ld, _mm512_set1_ps(e.low), _mm512_set1_ps(e.high)}, wide, filters);
}

void BfloatAmxGemms(const BfloatBlock& block, const bfloat16* packed, int64_t begin, int64_t end, const BfloatEpilogue& e, bfloat16* y,
                    float* wide, int64_t wide_ld) {
  const int64_t pairs = block.segments * ((block.depth + 1) / 2), vectors = PackedVectors(block.filters, kLanes),
                panels = PackedPanels(block.filters, kLanes);
  alignas(64) float sums[kAmxGroup * kWidest];
  const AmxScope scope(block.count, pairs);
  for (int64_t p = begin; p < end; ++p) {
    const int64_t width = p + 1 < panels ? 2 : vectors - 2 * p, filter = p * 2 * kLanes;
    const bfloat16* const panel = packed + p * pairs * 4 * kLanes;
    const int64_t n = std::min(width * kLanes, block.filters - filter);
    AmxOperands o;
    o.pitch = block.pitch * static_cast<int64_t>(sizeof(bfloat16)), o.depth = pairs, o.b_pitch = width * 4 * kLanes;
    o.sums_pitch = kWidest;
    for (int64_t i = 0; i < block.count; i += kAmxGroup) {
      const AmxRows group(block.count, i);
      o.a = block.flat + group.from * block.pitch;
      for (int64_t v = 0; v < width; v += 2) {
        o.b = panel + v * 2 * kLanes, o.sums = sums + v * kLanes;
        o.start = e.bias ? e.bias + filter + v * kLanes : nullptr;
        AmxProducts(AmxKind::kBfloat, o, group.rows, std::min<int64_t>(2, width - v) * kLanes);
      }
      const int64_t old = group.fresh - group.from, at = group.fresh * block.ld + filter;
      const Results r{
          sums + old * kWidest,  kWidest, group.rows - old, n, e.addend ? e.addend + at : nullptr, block.ld, _mm512_set1_ps(e.low),
          _mm512_set1_ps(e.high)};
      if (wide)
        StoreWide(r, wide + group.fresh * wide_ld + (p - begin) * 2 * kLanes, wide_ld);
      else
        Store(r, y + at);
    }
  }
}

}  // namespace nn
}  // namespace mxnet
