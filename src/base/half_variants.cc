#include "base/half.h"

#if defined(__F16C__) || defined(__AVX2__)
#include <immintrin.h>
#endif

namespace mxnet {
namespace MXNET_CPU_VARIANT {

void HalfToFloat(const float16* in, float* out, int64_t n) {
  int64_t i = 0;
#ifdef __AVX512F__
  for (; i + 16 <= n; i += 16) _mm512_storeu_ps(out + i, _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i))));
#endif
#ifdef __F16C__
#pragma GCC unroll 4
  for (; i + 8 <= n; i += 8) _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
#endif
  for (; i < n; ++i) out[i] = detail::HalfBitsToFloat(in[i].bits);
}

void FloatToHalf(const float* in, float16* out, int64_t n) {
  int64_t i = 0;
#ifdef __AVX512F__
  for (; i + 16 <= n; i += 16)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i),
                        _mm512_cvtps_ph(_mm512_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#endif
#ifdef __F16C__
#pragma GCC unroll 4
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#endif
  for (; i < n; ++i) out[i].bits = detail::FloatToHalfBits(in[i]);
}

void BfloatToFloat(const bfloat16* __restrict in, float* __restrict out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = detail::BfloatBitsToFloat(in[i].bits);
}

void FloatToBfloat(const float* __restrict in, bfloat16* __restrict out, int64_t n) {
  int64_t i = 0;
#if defined(__AVX2__) && !defined(__AVX512F__)  // FloatToBfloatBits; NaN is rare, and looked at for two vectors at once
  const __m256i half = _mm256_set1_epi32(0x7fff), one = _mm256_set1_epi32(1), quiet = _mm256_set1_epi32(0x40);
  for (; i + 16 <= n; i += 16) {
    const __m256 a = _mm256_loadu_ps(in + i), b = _mm256_loadu_ps(in + i + 8);
    const __m256i x = _mm256_castps_si256(a), y = _mm256_castps_si256(b);
    const __m256i xs = _mm256_srli_epi32(x, 16), ys = _mm256_srli_epi32(y, 16);
    __m256i xr = _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(x, half), _mm256_and_si256(xs, one)), 16);
    __m256i yr = _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(y, half), _mm256_and_si256(ys, one)), 16);
    if (__builtin_expect(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_UNORD_Q)) != 0, 0)) {
      xr = _mm256_blendv_epi8(xr, _mm256_or_si256(xs, quiet), _mm256_castps_si256(_mm256_cmp_ps(a, a, _CMP_UNORD_Q)));
      yr = _mm256_blendv_epi8(yr, _mm256_or_si256(ys, quiet), _mm256_castps_si256(_mm256_cmp_ps(b, b, _CMP_UNORD_Q)));
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_permute4x64_epi64(_mm256_packus_epi32(xr, yr), 0xd8));
  }
#endif
  for (; i < n; ++i) out[i].bits = detail::FloatToBfloatBits(in[i]);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
