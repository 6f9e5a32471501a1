// Products with panels of 8-bit integers.
#include <algorithm>
#include <type_traits>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "base/cpu_limit.h"
#include "operator/quantized/four_bytes.h"
#include "operator/quantized_fused/byte_panels.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

using quantized::kPanelColumns;
using quantized::kPanelRows;
using quantized::kPanelsTogether;

#if defined(__AVX512BW__)

/* One instruction multiplies and sums four neighbours of each column. */
template <int ROWS, int PANELS>
__attribute__((target("avx512vnni"))) void Fast(int64_t depth, const uint8_t* a, int64_t a_pitch, const int8_t* b, int32_t* sums,
                                                int64_t pitch) {
  __m512i sum[ROWS][PANELS];
  for (auto& row : sum)
    for (__m512i& s : row) s = _mm512_setzero_si512();
  for (int64_t k = 0; k < depth; k += kPanelRows) {
    __m512i panel[PANELS];
    for (int p = 0; p < PANELS; ++p) panel[p] = _mm512_loadu_si512(b + kPanelColumns * (p * depth + k));
    for (int r = 0; r < ROWS; ++r) {
      const __m512i x = _mm512_set1_epi32(FourBytes(a + r * a_pitch + k));
      for (int p = 0; p < PANELS; ++p) sum[r][p] = _mm512_dpbusd_epi32(sum[r][p], x, panel[p]);
    }
  }
  for (int r = 0; r < ROWS; ++r)
    for (int p = 0; p < PANELS; ++p) _mm512_storeu_si512(sums + r * pitch + p * kPanelColumns, sum[r][p]);
}

bool IsFast() {
  static const bool fast = HasVnni();
  return fast;
}

#endif

#if defined(__AVX2__)

/* Pairs of neighbours of each column as 16-bit integers, whose products' sums are exact. */
template <int ROWS>
void Exact(int64_t depth, const uint8_t* a, int64_t a_pitch, const int8_t* b, int32_t* sums, int64_t pitch) {
  constexpr int kParts = kPanelColumns / 4;  // of four columns
  __m256i sum[ROWS][kParts];
  for (auto& row : sum)
    for (__m256i& s : row) s = _mm256_setzero_si256();
  for (int64_t k = 0; k < depth; k += kPanelRows) {
    __m256i x[ROWS];
    for (int r = 0; r < ROWS; ++r) x[r] = _mm256_broadcastq_epi64(_mm_cvtepu8_epi16(_mm_cvtsi32_si128(FourBytes(a + r * a_pitch + k))));
    for (int p = 0; p < kParts; ++p) {
      const __m256i w = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b + kPanelColumns * k) + p));
      for (int r = 0; r < ROWS; ++r) sum[r][p] = _mm256_add_epi32(sum[r][p], _mm256_madd_epi16(w, x[r]));
    }
  }
  for (int r = 0; r < ROWS; ++r)
    for (int p = 0; p < kParts; ++p) {
      const __m128i both = _mm_hadd_epi32(_mm256_castsi256_si128(sum[r][p]), _mm256_extracti128_si256(sum[r][p], 1));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(sums + r * pitch + 4 * p), both);
    }
}

#else

template <int ROWS>
void Exact(int64_t depth, const uint8_t* a, int64_t a_pitch, const int8_t* b, int32_t* sums, int64_t pitch) {
  for (int r = 0; r < ROWS; ++r) {
    int32_t sum[kPanelColumns] = {};
    for (int64_t k = 0; k < depth; k += kPanelRows)
      for (int64_t j = 0; j < kPanelColumns; ++j)
        for (int64_t i = 0; i < kPanelRows; ++i)
          sum[j] += static_cast<int32_t>(a[r * a_pitch + k + i]) * b[kPanelColumns * k + j * kPanelRows + i];
    std::copy_n(sum, kPanelColumns, sums + r * pitch);
  }
}

#endif

/* f(rows, first row): four rows at a time, then one by one. */
template <typename F>
void InRows(int64_t m, F&& f) {
  int64_t i = 0;
  for (; i + 4 <= m; i += 4) f(std::integral_constant<int, 4>(), i);
  for (; i < m; ++i) f(std::integral_constant<int, 1>(), i);
}

}  // namespace

void BytePanels(int64_t m, int64_t panels, int64_t k, const uint8_t* a, int64_t a_pitch, const int8_t* packed, int32_t* sums,
                int64_t pitch) {
  const int64_t depth = quantized::PanelDepth(k), each = depth * kPanelColumns;
  int64_t p = 0;
#if defined(__AVX512BW__)
  if (IsFast()) {
    for (; p + kPanelsTogether <= panels; p += kPanelsTogether)
      InRows(m, [&](auto rows, int64_t i) {
        Fast<decltype(rows)::value, kPanelsTogether>(depth, a + i * a_pitch, a_pitch, packed + p * each,
                                                     sums + i * pitch + p * kPanelColumns, pitch);
      });
    for (; p < panels; ++p)
      InRows(m, [&](auto rows, int64_t i) {
        Fast<decltype(rows)::value, 1>(depth, a + i * a_pitch, a_pitch, packed + p * each, sums + i * pitch + p * kPanelColumns, pitch);
      });
  }
#endif
  for (; p < panels; ++p) {
    int64_t i = 0;
    for (; i + 2 <= m; i += 2) Exact<2>(depth, a + i * a_pitch, a_pitch, packed + p * each, sums + i * pitch + p * kPanelColumns, pitch);
    if (i < m) Exact<1>(depth, a + i * a_pitch, a_pitch, packed + p * each, sums + i * pitch + p * kPanelColumns, pitch);
  }
}

void AddByteSums(int64_t n, const int32_t* sums, int32_t a_zero, int32_t row, float scale, const int32_t* columns, const int32_t* zeros,
                 const float* scales, float* to) {
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) to[j] += static_cast<float>(sums[j] - a_zero * columns[j] - row * zeros[j]) * (scale * scales[j]);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
