// Arithmetic of float16 and bfloat16 without buffers of float32 between the steps.
#include "base/half.h"
#include "mxnet/base.h"
#include "operator/pointwise/loops/half_loops.h"

#if defined(__AVX2__) && defined(__F16C__)
#include <immintrin.h>
#endif

namespace mxnet {
namespace MXNET_CPU_VARIANT {

#if defined(__AVX2__) && defined(__F16C__)
namespace {

using pointwise::Loop;

struct Half {
  using Stored = float16;
  using Vector = __m256;
  static constexpr int64_t kLanes = 8;
  static Vector Load(const float16* from) { return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))); }
  static Vector All(float v) { return _mm256_set1_ps(v); }
  template <class E>
  static Vector Apply(Vector a, Vector b) {
    return E::f(a, b);
  }
  static void Store(float16* to, Vector v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  static float One(float16 v) { return detail::HalfBitsToFloat(v.bits); }
  static uint16_t Rounded(float v) { return detail::FloatToHalfBits(v); }
};

// Neighbours are apart: those of even places fill the upper half of a float by a shift, the others
// lie there already.
struct Brain {
  using Stored = bfloat16;
  struct Vector {
    __m256 even, odd;
  };
  static constexpr int64_t kLanes = 16;
  static Vector Load(const bfloat16* from) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return {_mm256_castsi256_ps(_mm256_slli_epi32(v, 16)), _mm256_castsi256_ps(_mm256_and_si256(v, _mm256_set1_epi32(-0x10000)))};
  }
  static Vector All(float v) { return {_mm256_set1_ps(v), _mm256_set1_ps(v)}; }
  template <class E>
  static Vector Apply(Vector a, Vector b) {
    return {E::f(a.even, b.even), E::f(a.odd, b.odd)};
  }
  // FloatToBfloatBits, in the upper halves; the lower ones are anything.
  static __m256i Rounded(__m256 v, __m256 nan) {
    const __m256i x = _mm256_castps_si256(v), last = _mm256_and_si256(_mm256_srli_epi32(x, 16), _mm256_set1_epi32(1));
    const __m256i r = _mm256_add_epi32(_mm256_add_epi32(x, _mm256_set1_epi32(0x7fff)), last);
    return _mm256_blendv_epi8(r, _mm256_or_si256(x, _mm256_set1_epi32(0x400000)), _mm256_castps_si256(nan));
  }
  static void Store(bfloat16* to, Vector v) {
    const __m256i even = Rounded(v.even, _mm256_cmp_ps(v.even, v.even, _CMP_UNORD_Q)),
                  odd = Rounded(v.odd, _mm256_cmp_ps(v.odd, v.odd, _CMP_UNORD_Q));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_blend_epi16(_mm256_srli_epi32(even, 16), odd, 0xaa));
  }
  static float One(bfloat16 v) { return detail::BfloatBitsToFloat(v.bits); }
  static uint16_t Rounded(float v) { return detail::FloatToBfloatBits(v); }
};

struct Add {
  template <typename T>
  static T f(T a, T b) {
    return a + b;
  }
};
struct Sub {
  template <typename T>
  static T f(T a, T b) {
    return a - b;
  }
};
struct Mul {
  template <typename T>
  static T f(T a, T b) {
    return a * b;
  }
};
struct Div {
  template <typename T>
  static T f(T a, T b) {
    return a / b;
  }
};

template <class E, class Type, bool kFirstSingle, bool kSecondSingle>
void Compute(const void* first, const void* second, void* out, int64_t n) {
  using T = typename Type::Stored;
  const T *a = static_cast<const T*>(first), *b = static_cast<const T*>(second);
  T* y = static_cast<T*>(out);
  const float p = kFirstSingle ? *static_cast<const float*>(first) : 0, q = kSecondSingle ? *static_cast<const float*>(second) : 0;
  const typename Type::Vector ps = Type::All(p), qs = Type::All(q);
  int64_t i = 0;
#pragma GCC unroll 4
  for (; i + Type::kLanes <= n; i += Type::kLanes)
    Type::Store(y + i, Type::template Apply<E>(kFirstSingle ? ps : Type::Load(a + i), kSecondSingle ? qs : Type::Load(b + i)));
  for (; i < n; ++i) y[i].bits = Type::Rounded(E::f(kFirstSingle ? p : Type::One(a[i]), kSecondSingle ? q : Type::One(b[i])));
}

template <class E, class Type>
void Pairs(const void* const* in, void* out, int64_t n, unsigned singles) {
  if (singles == 0) return Compute<E, Type, false, false>(in[0], in[1], out, n);
  if (singles == 2) return Compute<E, Type, false, true>(in[0], in[1], out, n);
  Compute<E, Type, true, false>(in[0], in[1], out, n);
}

template <class E>
Loop OfType(int dtype) {
  return dtype == kFloat16 ? Pairs<E, Half> : dtype == kBfloat16 ? Pairs<E, Brain> : nullptr;
}

}  // namespace

Loop HalfLoop(int row, int dtype) {
  switch (row) {
    case pointwise::k_add: return OfType<Add>(dtype);
    case pointwise::k_sub: return OfType<Sub>(dtype);
    case pointwise::k_mul: return OfType<Mul>(dtype);
    case pointwise::k_div: return OfType<Div>(dtype);
    default: return nullptr;
  }
}
#else
pointwise::Loop HalfLoop(int, int) { return nullptr; }
#endif

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
