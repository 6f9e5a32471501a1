// Loops of Activation and LeakyReLU.
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "mxnet/base.h"
#include "operator/pointwise/functions/vector_libm.h"
#include "operator/shared/activation_kernels.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {
#include "operator/pointwise/functions/functions.h"
#define MXNET_LAMBDA __attribute__((always_inline))

constexpr double kSeluAlpha = 1.6732632423543772848170429916717, kSeluLambda = 1.0507009873554804934193349852946;

// v where it is positive, else factor * (exp(v) - 1). The call that a vector of doubles makes must
// not stand in a branch: its argument is masked by the sign, and one part of the sum is nothing
// (-0, which leaves -0 as it is).
MXNET_FN float EluOf(float v, float factor) { return v > 0.0f ? v : factor * expm1(v); }
MXNET_FN double EluOf(double v, double factor) {
  const int64_t bits = BitCast<int64_t>(v);
  return factor * expm1(BitCast<double>(bits & (bits >> 63))) + (v <= 0.0 ? -0.0 : v);
}

// The normal distribution function. In float 1/2 + x P(x^2) / Q(x^2), a least-maximum fit made for
// this file; off by at most 2e-7.
MXNET_FN double NormalCdf(double x) { return 0.5 * (1.0 + erf(x * 0.70710678118654752)); }
constexpr float kCdfP[] = {2.2749185854e-8f, 6.3518808055e-6f, 1.6881405816e-4f, 4.6771892262e-3f, 3.3851692917e-2f, 3.9894223472e-1f};
constexpr float kCdfQ[] = {1.1974809692e-6f, 7.3642967637e-5f, 1.8843806676e-3f, 2.8645292280e-2f, 2.5151953034e-1f, 1.0f};
MXNET_FN float NormalCdf(float x) {
  const float c = x > 5.5f ? 5.5f : x < -5.5f ? -5.5f : x;
  const float z = c * c;
  float p = kCdfP[0], q = kCdfQ[0];
  for (int k = 1; k < 6; ++k) p = p * z + kCdfP[k], q = q * z + kCdfQ[k];
  const float r = 0.5f + c * p / q;
  return x < -5.5f ? 0.0f : x > 5.5f ? 1.0f : r < 0.0f ? 0.0f : r;  // far out nothing is left that a large x could make large
}

#ifdef __AVX512F__
// x NormalCdf(x), sixteen at a time: the quotient by an estimate and one step of Newton's, a third
// of what dividing takes.
void Gelu(const float* x, float* y, int64_t n) {
  const __m512 far = _mm512_set1_ps(5.5f), one = _mm512_set1_ps(1.0f);
  auto set = [](float v) MXNET_LAMBDA { return _mm512_set1_ps(v); };
  for (int64_t i = 0; i < n; i += 16) {
    const __mmask16 some = n - i >= 16 ? 0xffff : static_cast<__mmask16>((1u << (n - i)) - 1);
    const __m512 v = _mm512_maskz_loadu_ps(some, x + i);
    const __m512 c = _mm512_min_ps(_mm512_max_ps(v, _mm512_sub_ps(_mm512_setzero_ps(), far)), far), z = _mm512_mul_ps(c, c);
    __m512 p = set(kCdfP[0]), q = set(kCdfQ[0]);
    for (int k = 1; k < 6; ++k) p = _mm512_fmadd_ps(p, z, set(kCdfP[k])), q = _mm512_fmadd_ps(q, z, set(kCdfQ[k]));
    __m512 d = _mm512_rcp14_ps(q);
    d = _mm512_mul_ps(d, _mm512_fnmadd_ps(q, d, _mm512_set1_ps(2.0f)));
    __m512 r = _mm512_max_ps(_mm512_fmadd_ps(_mm512_mul_ps(c, p), d, _mm512_set1_ps(0.5f)), _mm512_setzero_ps());
    r = _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(v, c, _CMP_NLT_UQ), r);  // below the range
    r = _mm512_mask_mov_ps(r, _mm512_cmp_ps_mask(v, far, _CMP_GT_OQ), one);
    _mm512_mask_storeu_ps(y + i, some, _mm512_mul_ps(v, r));
  }
}
#endif

template <typename T, typename F>
inline void Each(const void* x, void* y, int64_t n, F&& f) {
  const T* in = static_cast<const T*>(x);
  T* out = static_cast<T*>(y);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = f(in[i]);
}

template <typename T, typename F>
inline void Each2(const void* og, const void* v, void* dx, int64_t n, F&& f) {
  const T *g = static_cast<const T*>(og), *in = static_cast<const T*>(v);
  T* out = static_cast<T*>(dx);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = g[i] * f(in[i]);
}

template <typename T>
void Forward(int type, const void* x, void* y, int64_t n, T slope) {
#ifdef __AVX512F__
  if constexpr (std::is_same<T, float>::value)
    if (type == nn::kActGelu) return Gelu(static_cast<const float*>(x), static_cast<float*>(y), n);
#endif
  switch (type) {
    case nn::kActRelu: return Each<T>(x, y, n, [](T v) MXNET_LAMBDA { return v <= T(0) ? T(0) : v; });
    case nn::kActSigmoid: return Each<T>(x, y, n, [](T v) MXNET_LAMBDA { return sigmoid(v); });
    case nn::kActTanh: return Each<T>(x, y, n, [](T v) MXNET_LAMBDA { return tanh(v); });
    case nn::kActSoftRelu: return Each<T>(x, y, n, [](T v) MXNET_LAMBDA { return softrelu(v); });
    case nn::kActSoftSign: return Each<T>(x, y, n, [](T v) MXNET_LAMBDA { return v / (T(1) + abs(v)); });
    case nn::kActLogSigmoid: return Each<T>(x, y, n, [](T v) MXNET_LAMBDA { return -softrelu(-v); });
    case nn::kActMish: return Each<T>(x, y, n, [](T v) MXNET_LAMBDA { return v * tanh(softrelu(v)); });
    case nn::kActLeaky: return Each<T>(x, y, n, [slope](T v) MXNET_LAMBDA { return v > T(0) ? v : v * slope; });
    case nn::kActElu: return Each<T>(x, y, n, [slope](T v) MXNET_LAMBDA { return EluOf(v, slope); });
    case nn::kActSelu: return Each<T>(x, y, n, [](T v) MXNET_LAMBDA { return T(kSeluLambda) * EluOf(v, T(kSeluAlpha)); });
    default: return Each<T>(x, y, n, [](T v) MXNET_LAMBDA { return v * NormalCdf(v); });
  }
}

template <typename T>
void Backward(int type, const void* og, const void* value, void* dx, int64_t n, T slope) {
  switch (type) {
    case nn::kActRelu: return Each2<T>(og, value, dx, n, [](T y) MXNET_LAMBDA { return y > T(0) ? T(1) : y * T(0); });
    case nn::kActSigmoid: return Each2<T>(og, value, dx, n, [](T y) MXNET_LAMBDA { return y * (T(1) - y); });
    case nn::kActTanh: return Each2<T>(og, value, dx, n, [](T y) MXNET_LAMBDA { return T(1) - y * y; });
    case nn::kActSoftRelu: return Each2<T>(og, value, dx, n, [](T y) MXNET_LAMBDA { return -FloatExpm1(-y); });
    case nn::kActSoftSign:
      return Each2<T>(og, value, dx, n, [](T v) MXNET_LAMBDA {
        const T d = T(1) + abs(v);
        return T(1) / (d * d);
      });
    case nn::kActLogSigmoid: return Each2<T>(og, value, dx, n, [](T y) MXNET_LAMBDA { return -FloatExpm1(y); });
    case nn::kActMish:
      return Each2<T>(og, value, dx, n, [](T v) MXNET_LAMBDA {
        const T t = tanh(softrelu(v));
        return t + v * sigmoid(v) * (T(1) - t * t);
      });
    case nn::kActLeaky: return Each2<T>(og, value, dx, n, [slope](T v) MXNET_LAMBDA { return v > T(0) ? T(1) : slope; });
    case nn::kActElu: return Each2<T>(og, value, dx, n, [slope](T v) MXNET_LAMBDA { return v > T(0) ? T(1) : slope * exp(v); });
    case nn::kActSelu:
      return Each2<T>(og, value, dx, n, [](T v) MXNET_LAMBDA { return T(kSeluLambda) * (v > T(0) ? T(1) : T(kSeluAlpha) * exp(v)); });
    default:
      return Each2<T>(og, value, dx, n, [](T v) MXNET_LAMBDA { return NormalCdf(v) + v * T(0.39894228040143268) * exp(T(-0.5) * v * v); });
  }
}

template <typename T>
void Prelu(const void* xv, const void* slopes, void* yv, int64_t n) {
  const T *x = static_cast<const T*>(xv), *slope = static_cast<const T*>(slopes);
  T* y = static_cast<T*>(yv);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] > T(0) ? x[i] : x[i] * slope[i];
}

template <typename T>
void PreluBackward(const void* ogv, const void* xv, const void* slopes, void* dxv, double* sums, int64_t n) {
  const T *og = static_cast<const T*>(ogv), *x = static_cast<const T*>(xv), *slope = static_cast<const T*>(slopes);
  T* dx = static_cast<T*>(dxv);
  if (sums) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) sums[i] += x[i] > T(0) ? 0.0 : static_cast<double>(og[i]) * static_cast<double>(x[i]);
  }
  if (dx) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) dx[i] = og[i] * (x[i] > T(0) ? T(1) : slope[i]);
  }
}

}  // namespace

void ActivationForward(int type, int dtype, const void* x, void* y, int64_t n, double slope) {
  if (dtype == kFloat64)
    Forward<double>(type, x, y, n, slope);
  else
    Forward<float>(type, x, y, n, static_cast<float>(slope));
}

void ActivationBackward(int type, int dtype, const void* og, const void* value, void* dx, int64_t n, double slope) {
  if (dtype == kFloat64)
    Backward<double>(type, og, value, dx, n, slope);
  else
    Backward<float>(type, og, value, dx, n, static_cast<float>(slope));
}

void PreluRow(int dtype, const void* x, const void* slopes, void* y, int64_t n) {
  if (dtype == kFloat64)
    Prelu<double>(x, slopes, y, n);
  else
    Prelu<float>(x, slopes, y, n);
}

void PreluRowBackward(int dtype, const void* og, const void* x, const void* slopes, void* dx, double* sums, int64_t n) {
  if (dtype == kFloat64)
    PreluBackward<double>(og, x, slopes, dx, sums, n);
  else
    PreluBackward<float>(og, x, slopes, dx, sums, n);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
