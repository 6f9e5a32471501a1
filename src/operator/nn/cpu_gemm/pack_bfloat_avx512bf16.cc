// Packing of matrices that are multiplied only a few times, such as the keys of attention: as fast
// as they can be read. Only processors with the BF16 instructions get here.
#include <immintrin.h>

#include <algorithm>

#include "operator/nn/cpu_gemm/packed_bfloat_kernels.h"
#include "operator/nn/cpu_gemm/packed_kernels.h"

namespace mxnet {
namespace nn {
namespace {

constexpr int kLanes = kBfloatLanes;

/* Rows of 16 elements of 32 bits become columns. */
inline __attribute__((always_inline)) void Transpose(__m512i r[16]) {
  __m512i t[16];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    t[2 * i] = _mm512_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm512_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    r[4 * i] = _mm512_unpacklo_epi64(t[4 * i], t[4 * i + 2]);
    r[4 * i + 1] = _mm512_unpackhi_epi64(t[4 * i], t[4 * i + 2]);
    r[4 * i + 2] = _mm512_unpacklo_epi64(t[4 * i + 1], t[4 * i + 3]);
    r[4 * i + 3] = _mm512_unpackhi_epi64(t[4 * i + 1], t[4 * i + 3]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {  // r[4 * q + i], lane l: column 4 * l + i of rows 4 * q to 4 * q + 3
    const __m512i low = _mm512_shuffle_i32x4(r[i], r[4 + i], 0x88), low2 = _mm512_shuffle_i32x4(r[8 + i], r[12 + i], 0x88);
    const __m512i high = _mm512_shuffle_i32x4(r[i], r[4 + i], 0xdd), high2 = _mm512_shuffle_i32x4(r[8 + i], r[12 + i], 0xdd);
    t[i] = _mm512_shuffle_i32x4(low, low2, 0x88);
    t[8 + i] = _mm512_shuffle_i32x4(low, low2, 0xdd);
    t[4 + i] = _mm512_shuffle_i32x4(high, high2, 0x88);
    t[12 + i] = _mm512_shuffle_i32x4(high, high2, 0xdd);
  }
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) r[i] = t[i];
}

/* f(first filter, where its vector's first pair goes, distance between pairs) for every vector of
 * filters. */
template <typename F>
void ForVectors(int64_t filters, int64_t depth, bfloat16* packed, F&& f) {
  const int64_t pairs = (depth + 1) / 2, vectors = PackedVectors(filters, kLanes), panels = PackedPanels(filters, kLanes);
  for (int64_t v = 0; v < vectors; ++v) {
    const int64_t p = std::min(v / 2, panels - 1), width = p + 1 < panels ? 2 : vectors - 2 * p;
    f(v * kLanes, packed + (p * 2 * pairs + (v - 2 * p)) * 2 * kLanes, width * 2 * kLanes);
  }
}

}  // namespace

void BfloatPackRows(int64_t filters, int64_t depth, const bfloat16* from, int64_t ld, bfloat16* packed) {
  const int64_t pairs = (depth + 1) / 2;
  ForVectors(filters, depth, packed, [&](int64_t filter, bfloat16* to, int64_t step) {
    const int64_t some = std::min<int64_t>(kLanes, filters - filter);
    for (int64_t i = 0; i < pairs; i += kLanes) {
      const int64_t left = depth - 2 * i, count = std::min<int64_t>(kLanes, pairs - i);
      const __mmask32 mask = left >= 2 * kLanes ? 0xffffffffu : (1u << left) - 1;
      __m512i r[kLanes];
#pragma GCC unroll 16
      for (int j = 0; j < kLanes; ++j)
        r[j] = j < some ? _mm512_maskz_loadu_epi16(mask, from + (filter + j) * ld + 2 * i) : _mm512_setzero_si512();
      Transpose(r);
#pragma GCC unroll 16
      for (int j = 0; j < kLanes; ++j)
        if (j < count) _mm512_storeu_si512(to + (i + j) * step, r[j]);
    }
  });
}

void BfloatPackColumns(int64_t filters, int64_t depth, const bfloat16* from, int64_t ld, bfloat16* packed) {
  ForVectors(filters, depth, packed, [&](int64_t filter, bfloat16* to, int64_t step) {
    const __mmask16 mask = static_cast<__mmask16>((1u << std::min<int64_t>(kLanes, filters - filter)) - 1);
    for (int64_t i = 0; i < depth; i += 2, to += step) {
      const __m256i a = _mm256_maskz_loadu_epi16(mask, from + i * ld + filter);
      const __m256i b = i + 1 < depth ? _mm256_maskz_loadu_epi16(mask, from + (i + 1) * ld + filter) : _mm256_setzero_si256();
      _mm512_storeu_si512(to, _mm512_or_si512(_mm512_cvtepu16_epi32(a), _mm512_slli_epi32(_mm512_cvtepu16_epi32(b), 16)));
    }
  });
}

}  // namespace nn
}  // namespace mxnet
