// Loops of bilinear resampling of bytes.
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

}  // namespace

namespace MXNET_CPU_VARIANT {

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
