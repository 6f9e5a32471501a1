// Loops of Activation and LeakyReLU.
#include <cmath>
#include <cstdint>
#include <limits>

#include "mxnet/base.h"
#include "operator/nn/activation_kernels.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {
#include "operator/pointwise/functions.h"
#define MXNET_LAMBDA __attribute__((always_inline))

constexpr double kSeluAlpha = 1.6732632423543772848170429916717, kSeluLambda = 1.0507009873554804934193349852946;

// The normal distribution function. In float 1/2 + x P(x^2) / Q(x^2), a least-maximum fit made for this file; off by at most 2e-7.
MXNET_FN double NormalCdf(double x) { return 0.5 * (1.0 + erf(x * 0.70710678118654752)); }
MXNET_FN float NormalCdf(float x) {
  const float c = x > 5.5f ? 5.5f : x < -5.5f ? -5.5f : x;
  const float z = c * c;
  float p = 2.2749185854e-8f;
  p = p * z + 6.3518808055e-6f;
  p = p * z + 1.6881405816e-4f;
  p = p * z + 4.6771892262e-3f;
  p = p * z + 3.3851692917e-2f;
  p = p * z + 3.9894223472e-1f;
  float q = 1.1974809692e-6f;
  q = q * z + 7.3642967637e-5f;
  q = q * z + 1.8843806676e-3f;
  q = q * z + 2.8645292280e-2f;
  q = q * z + 2.5151953034e-1f;
  q = q * z + 1.0f;
  const float r = 0.5f + c * p / q;
  return x < -5.5f ? 0.0f : x > 5.5f ? 1.0f : r < 0.0f ? 0.0f : r;   // far out nothing is left that a large x could make large
}

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
  switch (type) {
    case nn::kActRelu: return Each<T>(x, y, n, [](T v) MXNET_LAMBDA { return v < T(0) ? T(0) : v; });
    case nn::kActSigmoid: return Each<T>(x, y, n, [](T v) MXNET_LAMBDA { return sigmoid(v); });
    case nn::kActTanh: return Each<T>(x, y, n, [](T v) MXNET_LAMBDA { return tanh(v); });
    case nn::kActSoftRelu: return Each<T>(x, y, n, [](T v) MXNET_LAMBDA { return softrelu(v); });
    case nn::kActSoftSign: return Each<T>(x, y, n, [](T v) MXNET_LAMBDA { return v / (T(1) + abs(v)); });
    case nn::kActLeaky: return Each<T>(x, y, n, [slope](T v) MXNET_LAMBDA { return v > T(0) ? v : v * slope; });
    case nn::kActElu: return Each<T>(x, y, n, [slope](T v) MXNET_LAMBDA { return v > T(0) ? v : slope * expm1(v); });
    case nn::kActSelu: return Each<T>(x, y, n, [](T v) MXNET_LAMBDA { return T(kSeluLambda) * (v > T(0) ? v : T(kSeluAlpha) * expm1(v)); });
    default: return Each<T>(x, y, n, [](T v) MXNET_LAMBDA { return v * NormalCdf(v); });
  }
}

template <typename T>
void Backward(int type, const void* og, const void* value, void* dx, int64_t n, T slope) {
  switch (type) {
    case nn::kActRelu: return Each2<T>(og, value, dx, n, [](T y) MXNET_LAMBDA { return y > T(0) ? T(1) : T(0); });
    case nn::kActSigmoid: return Each2<T>(og, value, dx, n, [](T y) MXNET_LAMBDA { return y * (T(1) - y); });
    case nn::kActTanh: return Each2<T>(og, value, dx, n, [](T y) MXNET_LAMBDA { return T(1) - y * y; });
    case nn::kActSoftRelu: return Each2<T>(og, value, dx, n, [](T y) MXNET_LAMBDA { return -expm1(-y); });
    case nn::kActSoftSign: return Each2<T>(og, value, dx, n, [](T v) MXNET_LAMBDA { const T d = T(1) + abs(v); return T(1) / (d * d); });
    case nn::kActLeaky: return Each2<T>(og, value, dx, n, [slope](T v) MXNET_LAMBDA { return v > T(0) ? T(1) : slope; });
    case nn::kActElu: return Each2<T>(og, value, dx, n, [slope](T v) MXNET_LAMBDA { return v > T(0) ? T(1) : slope * exp(v); });
    case nn::kActSelu: return Each2<T>(og, value, dx, n, [](T v) MXNET_LAMBDA { return T(kSeluLambda) * (v > T(0) ? T(1) : T(kSeluAlpha) * exp(v)); });
    default: return Each2<T>(og, value, dx, n, [](T v) MXNET_LAMBDA { return NormalCdf(v) + v * T(0.39894228040143268) * exp(T(-0.5) * v * v); });
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
  if (dtype == kFloat64) Forward<double>(type, x, y, n, slope); else Forward<float>(type, x, y, n, static_cast<float>(slope));
}

void ActivationBackward(int type, int dtype, const void* og, const void* value, void* dx, int64_t n, double slope) {
  if (dtype == kFloat64) Backward<double>(type, og, value, dx, n, slope); else Backward<float>(type, og, value, dx, n, static_cast<float>(slope));
}

void PreluRow(int dtype, const void* x, const void* slopes, void* y, int64_t n) {
  if (dtype == kFloat64) Prelu<double>(x, slopes, y, n); else Prelu<float>(x, slopes, y, n);
}

void PreluRowBackward(int dtype, const void* og, const void* x, const void* slopes, void* dx, double* sums, int64_t n) {
  if (dtype == kFloat64) PreluBackward<double>(og, x, slopes, dx, sums, n); else PreluBackward<float>(og, x, slopes, dx, sums, n);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
