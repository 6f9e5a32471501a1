// Loops over 8-bit integers with zero points. Each is one that compilers make vector code of.
// Values are the same on each level, so products and sums are not contracted.
#pragma GCC optimize("fp-contract=off")  // for all that follows

#include "operator/quantized_fused/integer_loops.h"

#ifdef __AVX512BW__
#include <immintrin.h>
#endif

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

constexpr float kWhole = 12582912;  // 1.5 * 2^23: what is added to it loses its fraction

/* Rounded, plus `zero`, within limits that are `zero` less. */
inline int8_t Cut(float v, float low, float high, int32_t zero) {
  v = v > high ? high : v;
  v = v < low ? low : v;
  return static_cast<int8_t>(static_cast<int32_t>((v + kWhole) - kWhole) + zero);
}

template <typename F>
inline void OfTypes(const BytePair& p, F&& f) {
  const auto with = [&](const auto* a) { p.b_unsigned ? f(a, static_cast<const uint8_t*>(p.b)) : f(a, static_cast<const int8_t*>(p.b)); };
  p.a_unsigned ? with(static_cast<const uint8_t*>(p.a)) : with(static_cast<const int8_t*>(p.a));
}

}  // namespace

void DivideToBytes(const float* x, float scale, float zero, ByteLimits limits, int64_t n, void* out) {
  int8_t* to = static_cast<int8_t*>(out);
  const float low = limits.low - zero, high = limits.high - zero;
  const auto whole = static_cast<int32_t>(zero);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    float v = x[i] / scale;
    v = v > high ? high : v;
    v = v > low ? v : low;  // of NaN, too
    to[i] = static_cast<int8_t>(static_cast<int32_t>((v + kWhole) - kWhole) + whole);
  }
}

void AddPairs(const BytePair& p, ByteLimits limits, int64_t n, void* out) {
  int8_t* to = static_cast<int8_t*>(out);
  const float as = p.a_scale, bs = p.b_scale, az = p.a_zero, bz = p.b_zero, shift = p.shift, zero = static_cast<float>(p.zero);
  const int32_t whole = p.zero;
  const float low = limits.low - zero, high = limits.high - zero;
  OfTypes(p, [&](const auto* a, const auto* b) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i)
      to[i] = Cut((static_cast<float>(a[i]) - az) * as + (static_cast<float>(b[i]) - bz) * bs + shift, low, high, whole);
  });
}

void MultiplyPairs(const BytePair& p, float scale, ByteLimits limits, int64_t n, void* out) {
  int8_t* to = static_cast<int8_t*>(out);
  const float az = p.a_zero, bz = p.b_zero, shift = p.shift, zero = static_cast<float>(p.zero);
  const int32_t whole = p.zero;
  const float low = limits.low - zero, high = limits.high - zero;
  OfTypes(p, [&](const auto* a, const auto* b) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i)
      to[i] = Cut((static_cast<float>(a[i]) - az) * (static_cast<float>(b[i]) - bz) * scale + shift, low, high, whole);
  });
}

void LookUp(const uint8_t* x, const uint8_t* table, int64_t n, uint8_t* out) {
  int64_t i = 0;
#ifdef __AVX512BW__
  // The table is 128 words in four registers. 7 bits of a byte choose a word, the lowest its half.
  const __m512i a = _mm512_loadu_si512(table), b = _mm512_loadu_si512(table + 64), c = _mm512_loadu_si512(table + 128),
                d = _mm512_loadu_si512(table + 192), one = _mm512_set1_epi16(1);
  for (; i + 32 <= n; i += 32) {
    const __m512i index = _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i)));
    const __m512i word = _mm512_srli_epi16(index, 1), half = _mm512_slli_epi16(_mm512_and_si512(index, one), 3);
    const __m512i low = _mm512_permutex2var_epi16(a, word, b), high = _mm512_permutex2var_epi16(c, word, d);
    const __m512i both = _mm512_mask_blend_epi16(_mm512_test_epi16_mask(index, _mm512_set1_epi16(128)), low, high);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm512_cvtepi16_epi8(_mm512_srlv_epi16(both, half)));
  }
#endif
  for (; i < n; ++i) out[i] = table[x[i]];
}

void AddColumns(const void* x, bool is_unsigned, int64_t rows, int64_t n, int32_t* sums) {
  const auto add = [&](const auto* from) {
    for (int64_t i = 0; i < rows; ++i, from += n) {
#pragma GCC ivdep
      for (int64_t j = 0; j < n; ++j) sums[j] += from[j];
    }
  };
  is_unsigned ? add(static_cast<const uint8_t*>(x)) : add(static_cast<const int8_t*>(x));
}

int32_t SumBytes(const void* x, bool is_unsigned, int64_t n) {
  int32_t sum = 0;
  const auto add = [&](const auto* from) {
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; ++i) sum += from[i];
  };
  is_unsigned ? add(static_cast<const uint8_t*>(x)) : add(static_cast<const int8_t*>(x));
  return sum;
}

void RoundToSteps(const float* x, const IntegerSteps& steps, int64_t n, float* out) {
  const float scale = steps.scale, low = steps.low, high = steps.high;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    float v = __builtin_rintf(x[i] / scale);
    v = v > high ? high : v;
    v = v > low ? v : low;  // of NaN, too
    out[i] = v * scale;
  }
}

void PassInSteps(const float* grad, const float* x, const IntegerSteps& steps, int64_t n, float* out) {
  const float scale = steps.scale, low = steps.low, high = steps.high;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const float v = __builtin_rintf(x[i] / scale);
    out[i] = v >= low && v <= high ? grad[i] : 0.0f;
  }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
