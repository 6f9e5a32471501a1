#include "base/half.h"

#ifdef __F16C__
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
  for (int64_t i = 0; i < n; ++i) out[i].bits = detail::FloatToBfloatBits(in[i]);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
