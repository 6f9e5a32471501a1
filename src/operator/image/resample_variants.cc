// Loops of bilinear and bicubic resampling. No product and sum become one rounding
// (resample_cpu.cc).
#pragma GCC optimize("fp-contract=off")

#include <algorithm>
#include <cmath>
#include <cstdint>

#if defined(__SSSE3__)
#include <immintrin.h>
#endif

#include "base/cpu_dispatch.h"

namespace mxnet {
namespace {

#if defined(__SSSE3__)
// Of 8 bytes, two pixels of three channels: pairs of 16-bit numbers, one of each pixel.
inline __m128i PairMask() { return _mm_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1); }
#endif

#if defined(__AVX2__)
inline __m128i Load16(const uint8_t* from) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); }

inline __m256i Two(__m128i low, __m128i high) { return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1); }

// Pixels of one byte, eight at a time: how many were made.
int64_t CubicPixels1(const uint8_t* from, const int32_t* offsets, const int32_t* outer, const int32_t* inner, int64_t n, float* to) {
  const __m256i first = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13, -1));
  const __m256i second = _mm256_broadcastsi128_si256(_mm_setr_epi8(2, -1, 3, -1, 6, -1, 7, -1, 10, -1, 11, -1, 14, -1, 15, -1));
  auto load = [](const int32_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); };
  int64_t d = 0;
  for (; d + 8 <= n; d += 8) {
    const __m256i four = _mm256_i32gather_epi32(reinterpret_cast<const int*>(from), load(offsets + d), 1);
    const __m256i sum = _mm256_add_epi32(_mm256_madd_epi16(_mm256_shuffle_epi8(four, first), load(outer + d)),
                                         _mm256_madd_epi16(_mm256_shuffle_epi8(four, second), load(inner + d)));
    _mm256_storeu_ps(to + d, _mm256_cvtepi32_ps(sum));
  }
  return d;
}

// Pixels of three or four bytes, two at a time: how many were made.
template <int kChannels>
int64_t CubicPixelsWide(const uint8_t* from, const int32_t* offsets, const int32_t* outer, const int32_t* inner, int64_t n, float* to) {
  constexpr int8_t k = kChannels, last = kChannels == 4 ? 3 : -1, next = kChannels == 4 ? 7 : -1;
  const __m128i pairs = _mm_setr_epi8(0, -1, k, -1, 1, -1, k + 1, -1, 2, -1, k + 2, -1, last, -1, next, -1);
  const __m256i first = _mm256_broadcastsi128_si256(pairs);
  const __m256i second = _mm256_add_epi8(first, _mm256_and_si256(_mm256_cmpgt_epi8(first, _mm256_set1_epi8(-1)), _mm256_set1_epi8(2 * k)));
  int64_t d = 0;
  for (; d + 2 <= n; d += 2) {
    const __m256i four = Two(Load16(from + offsets[d]), Load16(from + offsets[d + 1]));
    const __m256i a = Two(_mm_set1_epi32(outer[d]), _mm_set1_epi32(outer[d + 1]));
    const __m256i b = Two(_mm_set1_epi32(inner[d]), _mm_set1_epi32(inner[d + 1]));
    const __m256i sum =
        _mm256_add_epi32(_mm256_madd_epi16(_mm256_shuffle_epi8(four, first), a), _mm256_madd_epi16(_mm256_shuffle_epi8(four, second), b));
    const __m256 sums = _mm256_cvtepi32_ps(sum);
    _mm_storeu_ps(to + d * k, _mm256_castps256_ps128(sums));
    _mm_storeu_ps(to + (d + 1) * k, _mm256_extractf128_ps(sums, 1));
  }
  return d;
}
#endif

template <int kTaps>
void MixFloats(const float* const* rows, const float* weight, int64_t n, float* to) {
  const float* row[kTaps];
  float w[kTaps];
  for (int k = 0; k < kTaps; ++k) row[k] = rows[k], w[k] = weight[k];
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    float sum = row[0][i] * w[0];
    for (int k = 1; k < kTaps; ++k) sum += row[k][i] * w[k];
    to[i] = sum;
  }
}

template <int kChannels>
void CubicPixelsFrom(int64_t d, const uint8_t* from, const int32_t* offsets, const int32_t* outer, const int32_t* inner, int64_t n,
                     float* to) {
  for (; d < n; ++d)
    for (int c = 0; c < kChannels; ++c) {
      const uint8_t* p = from + offsets[d] + c;
      const int32_t a = p[0] * static_cast<int16_t>(outer[d]) + p[kChannels] * (outer[d] >> 16);
      const int32_t b = p[2 * kChannels] * static_cast<int16_t>(inner[d]) + p[3 * kChannels] * (inner[d] >> 16);
      to[d * kChannels + c] = static_cast<float>(a + b);
    }
}

}  // namespace

namespace MXNET_CPU_VARIANT {

/*
 * Sums of four neighbouring pixels of 1, 3 or 4 bytes, which float holds exactly: pixel d of the
 * result from those at offsets[d] and behind. outer[d] has the first two 16-bit weights, inner[d]
 * the others. Reads 4 bytes (1 channel) or 16 for each pixel; writes one element behind the last.
 */
void CubicPixels(const uint8_t* from, const int32_t* offsets, const int32_t* outer, const int32_t* inner, int64_t n, int64_t channels,
                 float* to) {
  int64_t d = 0;
#if defined(__AVX2__)
  if (channels == 1) d = CubicPixels1(from, offsets, outer, inner, n, to);
  if (channels == 3) d = CubicPixelsWide<3>(from, offsets, outer, inner, n, to);
  if (channels == 4) d = CubicPixelsWide<4>(from, offsets, outer, inner, n, to);
#endif
  if (channels == 1) return CubicPixelsFrom<1>(d, from, offsets, outer, inner, n, to);
  if (channels == 3) return CubicPixelsFrom<3>(d, from, offsets, outer, inner, n, to);
  CubicPixelsFrom<4>(d, from, offsets, outer, inner, n, to);
}

/* Mixes 2, 4 or 8 rows of floats. */
void MixFloatRows(const float* const* rows, const float* weight, int taps, int64_t n, float* to) {
  if (taps == 2) return MixFloats<2>(rows, weight, n, to);
  if (taps == 4) return MixFloats<4>(rows, weight, n, to);
  MixFloats<8>(rows, weight, n, to);
}

/* Mixes four rows of such sums to bytes. n is a multiple of 8. */
void MixCubicRows(const float* const* rows, const float* weight, int64_t n, uint8_t* to) {
  const float *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
  int64_t i = 0;
#if defined(__AVX2__)
  const __m256 wa = _mm256_set1_ps(weight[0]), wb = _mm256_set1_ps(weight[1]), wc = _mm256_set1_ps(weight[2]),
               wd = _mm256_set1_ps(weight[3]);
  auto eight = [&](int64_t k) {
    __m256 sum = _mm256_mul_ps(_mm256_loadu_ps(a + k), wa);
    sum = _mm256_add_ps(sum, _mm256_mul_ps(_mm256_loadu_ps(b + k), wb));
    sum = _mm256_add_ps(sum, _mm256_mul_ps(_mm256_loadu_ps(c + k), wc));
    return _mm256_cvtps_epi32(_mm256_add_ps(sum, _mm256_mul_ps(_mm256_loadu_ps(d + k), wd)));
  };
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  for (; i + 32 <= n; i += 32) {
    const __m256i low = _mm256_packs_epi32(eight(i), eight(i + 8)), high = _mm256_packs_epi32(eight(i + 16), eight(i + 24));
    const __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), order);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), bytes);
  }
#endif
  for (; i < n; ++i) {
    float sum = a[i] * weight[0];
    sum += b[i] * weight[1];
    sum += c[i] * weight[2];
    sum += d[i] * weight[3];
    to[i] = static_cast<uint8_t>(std::min(std::max(std::nearbyint(sum), 0.0f), 255.0f));
  }
}

/*
 * Sums of two neighbouring pixels of three bytes, 15 bits of each: pixel d of the result from those
 * at offsets[d] and behind. The two 16-bit weights of d are in weights[d]. Reads 8 bytes for each
 * pixel and writes one element behind the last.
 */
void BilinearPixels3(const uint8_t* from, const int32_t* offsets, const int32_t* weights, int64_t n, int16_t* to) {
  int64_t d = 0;
#if defined(__AVX2__)
  const __m256i mask2 = _mm256_broadcastsi128_si256(PairMask());
  for (; d + 4 <= n; d += 4) {
    auto two = [&](int64_t i) {
      const __m128i first = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from + offsets[i]));
      const __m128i second = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from + offsets[i + 1]));
      const __m256i both = _mm256_shuffle_epi8(_mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1), mask2);
      const __m256i w = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_set1_epi32(weights[i])), _mm_set1_epi32(weights[i + 1]), 1);
      return _mm256_srai_epi32(_mm256_madd_epi16(both, w), 4);
    };
    const __m256i sums = _mm256_packs_epi32(two(d), two(d + 2));  // pixels 0, 2 | 1, 3 with an unused element each
    const __m128i low = _mm256_castsi256_si128(sums), high = _mm256_extracti128_si256(sums, 1);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to + 3 * d), low);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to + 3 * d + 3), high);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to + 3 * d + 6), _mm_unpackhi_epi64(low, low));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to + 3 * d + 9), _mm_unpackhi_epi64(high, high));
  }
#endif
#if defined(__SSSE3__)
  const __m128i mask = PairMask();
  for (; d < n; ++d) {
    const __m128i both = _mm_shuffle_epi8(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from + offsets[d])), mask);
    const __m128i sums = _mm_srai_epi32(_mm_madd_epi16(both, _mm_set1_epi32(weights[d])), 4);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to + 3 * d), _mm_packs_epi32(sums, sums));
  }
#endif
  for (; d < n; ++d)
    for (int c = 0; c < 3; ++c) {
      const uint8_t* p = from + offsets[d] + c;
      to[3 * d + c] = static_cast<int16_t>((p[0] * static_cast<int16_t>(weights[d]) + p[3] * (weights[d] >> 16)) >> 4);
    }
}

/* Mixes two rows of such sums to bytes. */
void MixBilinearRows(const int16_t* upper, const int16_t* lower, int16_t a, int16_t b, int64_t n, uint8_t* to) {
  int64_t i = 0;
#if defined(__AVX2__)
  const __m256i wa = _mm256_set1_epi16(a), wb = _mm256_set1_epi16(b), two = _mm256_set1_epi16(2);
  auto mixed = [&](int64_t k) {
    const __m256i x = _mm256_mulhi_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(upper + k)), wa);
    const __m256i y = _mm256_mulhi_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(lower + k)), wb);
    return _mm256_srai_epi16(_mm256_add_epi16(_mm256_add_epi16(x, y), two), 2);
  };
  for (; i + 32 <= n; i += 32) {
    const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packus_epi16(mixed(i), mixed(i + 16)), 0xd8);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), bytes);
  }
#elif defined(__SSSE3__)
  const __m128i wa = _mm_set1_epi16(a), wb = _mm_set1_epi16(b), two = _mm_set1_epi16(2);
  auto mixed = [&](int64_t k) {
    const __m128i x = _mm_mulhi_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(upper + k)), wa);
    const __m128i y = _mm_mulhi_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(lower + k)), wb);
    return _mm_srai_epi16(_mm_add_epi16(_mm_add_epi16(x, y), two), 2);
  };
  for (; i + 16 <= n; i += 16) _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), _mm_packus_epi16(mixed(i), mixed(i + 8)));
#endif
  for (; i < n; ++i) {
    const int16_t sum = static_cast<int16_t>(static_cast<int16_t>((a * upper[i]) >> 16) + static_cast<int16_t>((b * lower[i]) >> 16));
    to[i] = static_cast<uint8_t>(static_cast<int16_t>(sum + 2) >> 2);
  }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
