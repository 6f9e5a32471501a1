// Loops of resampling to means of whole blocks of pixels.
#pragma GCC optimize("fp-contract=off")

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__SSE4_1__)
#include <immintrin.h>
#endif

#include "base/cpu_dispatch.h"

namespace mxnet {
namespace {

uint8_t Quarter(int a, int b, int c, int d) { return static_cast<uint8_t>((a + b + c + d + 2) >> 2); }

#if defined(__AVX2__)
// 16 sums of 16 bits: of neighbours in `a` and those below in `b`, by four and rounded.
inline __m256i Quarters(__m256i a, __m256i b) {
  const __m256i ones = _mm256_set1_epi8(1);
  const __m256i sums = _mm256_add_epi16(_mm256_maddubs_epi16(a, ones), _mm256_maddubs_epi16(b, ones));
  return _mm256_srli_epi16(_mm256_add_epi16(sums, _mm256_set1_epi16(2)), 2);
}

inline __m256i Load(const uint8_t* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }

// One or four channels: how many elements of the result were made.
template <int kChannels>
int64_t HalveElements(const uint8_t* upper, const uint8_t* lower, int64_t n, uint8_t* to) {
  const __m256i pairs = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15));
  auto side_by_side = [&](const uint8_t* from) { return kChannels == 1 ? Load(from) : _mm256_shuffle_epi8(Load(from), pairs); };
  int64_t i = 0;
#if defined(__AVX512BW__)
  if constexpr (kChannels == 1) {
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), ones = _mm512_set1_epi8(1);
    auto quarters = [&](int64_t k) {
      const __m512i a = _mm512_maddubs_epi16(_mm512_loadu_si512(upper + k), ones);
      const __m512i sums = _mm512_add_epi16(a, _mm512_maddubs_epi16(_mm512_loadu_si512(lower + k), ones));
      return _mm512_srli_epi16(_mm512_add_epi16(sums, _mm512_set1_epi16(2)), 2);
    };
    for (; i + 64 <= n; i += 64)
      _mm512_storeu_si512(to + i, _mm512_permutexvar_epi64(order, _mm512_packus_epi16(quarters(2 * i), quarters(2 * i + 64))));
  }
#endif
  for (; i + 32 <= n; i += 32) {
    const __m256i low = Quarters(side_by_side(upper + 2 * i), side_by_side(lower + 2 * i));
    const __m256i high = Quarters(side_by_side(upper + 2 * i + 32), side_by_side(lower + 2 * i + 32));
    const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packus_epi16(low, high), 0xd8);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), bytes);
  }
  return i;
}

// Three channels: how many of the n pixels of the result were made. Each group of eight reads four
// bytes and writes four bytes too many.
int64_t HalvePixels3(const uint8_t* upper, const uint8_t* lower, int64_t n, uint8_t* to) {
  const __m256i pairs = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11, -1, -1, -1, -1));
  const __m256i close = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, -1, -1, -1, -1));
  auto two = [&](const uint8_t* from) {  // two pixels of the result, and the two that come four later
    const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    const __m128i later = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 24));
    return _mm256_shuffle_epi8(_mm256_inserti128_si256(_mm256_castsi128_si256(first), later, 1), pairs);
  };
  int64_t d = 0;
  for (; d + 10 <= n; d += 8) {
    const uint8_t *a = upper + 6 * d, *b = lower + 6 * d;
    const __m256i bytes = _mm256_shuffle_epi8(_mm256_packus_epi16(Quarters(two(a), two(b)), Quarters(two(a + 12), two(b + 12))), close);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 3 * d), _mm256_castsi256_si128(bytes));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 3 * d + 12), _mm256_extracti128_si256(bytes, 1));
  }
  return d;
}
#endif

template <int kChannels>
void Halve(const uint8_t* upper, const uint8_t* lower, int64_t n, uint8_t* to) {
  int64_t i = 0;
#if defined(__AVX2__)
  i = kChannels == 3 ? 3 * HalvePixels3(upper, lower, n, to) : HalveElements<kChannels>(upper, lower, n * kChannels, to);
#endif
  for (int64_t d = i / kChannels; d < n; ++d)
    for (int64_t c = 0; c < kChannels; ++c) {
      const int64_t at = 2 * d * kChannels + c;
      to[d * kChannels + c] = Quarter(upper[at], upper[at + kChannels], lower[at], lower[at + kChannels]);
    }
}

// Means of `across` neighbours in a row of sums.
template <int kChannels>
void MeansOfSums(const uint16_t* sums, int64_t across, int64_t n, float scale, uint8_t* to) {
  int64_t d = 0;
#if defined(__SSE4_1__)
  if (kChannels > 1) {
    const int64_t wide = kChannels == 3 ? n - 1 : n;  // four elements are read and written
    const __m128 by = _mm_set1_ps(scale);
    for (; d < wide; ++d) {
      __m128i sum = _mm_setzero_si128();
      for (int64_t k = 0; k < across; ++k, sums += kChannels)
        sum = _mm_add_epi32(sum, _mm_cvtepu16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(sums))));
      const __m128i mean = _mm_cvtps_epi32(_mm_mul_ps(_mm_cvtepi32_ps(sum), by)), words = _mm_packs_epi32(mean, mean);
      const int32_t bytes = _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
      std::memcpy(to + d * kChannels, &bytes, sizeof(bytes));
    }
  }
#endif
  for (; d < n; ++d, sums += across * kChannels)
    for (int c = 0; c < kChannels; ++c) {
      int32_t sum = 0;
      for (int64_t k = 0; k < across; ++k) sum += sums[k * kChannels + c];
      to[d * kChannels + c] = static_cast<uint8_t>(std::min(std::nearbyint(static_cast<float>(sum) * scale), 255.0f));
    }
}

template <int kChannels>
void Quarters(const float* upper, const float* lower, int64_t n, float* to) {
  for (int64_t d = 0; d < n / kChannels; ++d)
    for (int64_t c = 0; c < kChannels; ++c) {
      const int64_t at = 2 * d * kChannels + c;
      to[d * kChannels + c] = ((upper[at] + upper[at + kChannels]) + (lower[at] + lower[at + kChannels])) * 0.25f;
    }
}

#if defined(__SSE4_1__)
// Pixels of one float, four at a time. The terms that are added up in fours lie side by side.
int64_t MeanGray(const float* from, const int64_t* offsets, int64_t area, int64_t step, int64_t n, float scale, float* to) {
  int64_t d = 0;
  for (; d + 4 <= n; d += 4, from += 4 * step) {
    __m128 sum = _mm_setzero_ps();
    for (int64_t k = 0; k < area; k += 4) {
      const float* at = from + offsets[k];
      __m128 a = _mm_loadu_ps(at), b = _mm_loadu_ps(at + step), c = _mm_loadu_ps(at + 2 * step), e = _mm_loadu_ps(at + 3 * step);
      _MM_TRANSPOSE4_PS(a, b, c, e);
      sum = _mm_add_ps(sum, _mm_add_ps(_mm_add_ps(_mm_add_ps(a, b), c), e));
    }
    _mm_storeu_ps(to + d, _mm_mul_ps(sum, _mm_set1_ps(scale)));
  }
  return d;
}

// Pixels of three or four floats. The last of three is not made: it would be read as four.
template <int kChannels>
int64_t MeanPixels(const float* from, const int64_t* offsets, int64_t area, int64_t step, int64_t n, float scale, float* to) {
  const int64_t wide = kChannels == 3 ? n - 1 : n;
  for (int64_t d = 0; d < wide; ++d, from += step) {
    auto element = [&](int64_t k) { return _mm_loadu_ps(from + offsets[k]); };
    __m128 sum = _mm_setzero_ps();
    int64_t k = 0;
    for (; k + 4 <= area; k += 4)
      sum = _mm_add_ps(sum, _mm_add_ps(_mm_add_ps(_mm_add_ps(element(k), element(k + 1)), element(k + 2)), element(k + 3)));
    for (; k < area; ++k) sum = _mm_add_ps(sum, element(k));
    _mm_storeu_ps(to + d * kChannels, _mm_mul_ps(sum, _mm_set1_ps(scale)));
  }
  return std::max<int64_t>(wide, 0);
}
#endif

}  // namespace

namespace MXNET_CPU_VARIANT {

/* n pixels, each the mean of two pixels of `upper` and the two of `lower` below them. 1, 3 or 4
 * channels. */
void HalveBytes(const uint8_t* upper, const uint8_t* lower, int64_t n, int64_t channels, uint8_t* to) {
  if (channels == 3) return Halve<3>(upper, lower, n, to);
  if (channels == 1) return Halve<1>(upper, lower, n, to);
  Halve<4>(upper, lower, n, to);
}

/*
 * n pixels, each the mean of `across` times `down` pixels. 1, 3 or 4 channels; at most 257 rows, so
 * that a column's sum has 16 bits. `sums` has room for all elements of a row.
 */
void MeanBytes(const uint8_t* from, int64_t pitch, int64_t across, int64_t down, int64_t n, int64_t channels, float scale, uint16_t* sums,
               uint8_t* to) {
  const int64_t row = n * across * channels;
  for (int64_t i = 0; i < row; ++i) sums[i] = from[i];
  for (int64_t j = 1; j < down; ++j) {
    from += pitch;
    for (int64_t i = 0; i < row; ++i) sums[i] = static_cast<uint16_t>(sums[i] + from[i]);
  }
  if (channels == 3) return MeansOfSums<3>(sums, across, n, scale, to);
  if (channels == 1) return MeansOfSums<1>(sums, across, n, scale, to);
  MeansOfSums<4>(sums, across, n, scale, to);
}

/* n floats of pixels of 1 or 4, each the mean of two pixels of `upper` and the two of `lower` below
 * them. */
void HalveFloats(const float* upper, const float* lower, int64_t n, int64_t channels, float* to) {
  if (channels == 1) return Quarters<1>(upper, lower, n, to);
  Quarters<4>(upper, lower, n, to);
}

/*
 * How many of n pixels of 1, 3 or 4 floats were made: pixel d is the mean of the `area` pixels at
 * from + d * step + offsets[k], added up in fours. `step` is one row of a block.
 */
int64_t MeanFloats(const float* from, const int64_t* offsets, int64_t area, int64_t step, int64_t n, int64_t channels, float scale,
                   float* to) {
#if defined(__SSE4_1__)
  if (channels == 3) return MeanPixels<3>(from, offsets, area, step, n, scale, to);
  if (channels == 1 && step % 4 == 0) return MeanGray(from, offsets, area, step, n, scale, to);
  if (channels == 4) return MeanPixels<4>(from, offsets, area, step, n, scale, to);
#endif
  return 0;
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
