// Local response normalization: sums that slide over the channels, for many positions at a time.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "mxnet/base.h"
#include "operator/nn/norm/lrn_kernels.h"
#include "operator/pointwise/functions/vector_libm.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {
#include "operator/pointwise/functions/functions.h"

using nn::kLrnPositions;
using nn::LrnCall;

// norm ^ -beta; norms of float data are far from what double holds at most
template <typename T>
inline __attribute__((always_inline)) double Falling(double norm, double beta) {
  if constexpr (std::is_same<T, float>::value)
    return norm == std::numeric_limits<double>::infinity() && beta > 0 ? 0.0 : SeriesExp(-beta * SeriesLog(norm));
  else
    return std::pow(norm, -beta);
}

// The sums of channels `first` to `last` from their values. Infinity and NaN cannot be taken away
// from a sum.
template <typename V>
void Again(int64_t first, int64_t last, int64_t n, V&& value, double* sums) {
  std::fill_n(sums, n, 0.0);
  for (int64_t c = first; c <= last; ++c)
    for (int64_t j = 0; j < n; ++j) sums[j] += value(c, j);
}

// use(c, sums): the sums of value(c, j) over the window around each channel. Each value is added
// and taken away once.
template <typename V, typename U>
inline void Slide(const LrnCall& call, int64_t n, V&& value, U&& use) {
  double sums[kLrnPositions] = {};
  for (int64_t c = 0; c < std::min(call.half, call.channels); ++c)
    for (int64_t j = 0; j < n; ++j) sums[j] += value(c, j);
  for (int64_t c = 0; c < call.channels; ++c) {
    const int64_t in = c + call.half, out = c - call.half - 1;
    if (in < call.channels)
      for (int64_t j = 0; j < n; ++j) sums[j] += value(in, j);
    if (out >= 0) {
      double rest = 0;
      for (int64_t j = 0; j < n; ++j) {
        sums[j] -= value(out, j);
        rest += sums[j] - sums[j];
      }
      if (rest != 0) Again(out + 1, std::min(in, call.channels - 1), n, value, sums);
    }
    use(c, sums);
  }
}

// y = x * norm ^ -3/4, the usual power, by square roots: in float, where the norms of float data
// are far from what float cannot hold. False, and nothing is written, where one is not.
bool ThreeQuarters(const LrnCall& call, const float* x, const double* sums, float* y, int64_t n) {
  float norms[kLrnPositions];
  int far = 0;
#pragma omp simd reduction(| : far)
  for (int64_t j = 0; j < n; ++j) {
    norms[j] = static_cast<float>(call.knorm + call.alpha * (sums[j] > 0.0 ? sums[j] : sums[j] != sums[j] ? sums[j] : 0.0));
    far |= norms[j] > 1e-30f && norms[j] < 1e30f ? 0 : 1;
  }
  if (far) return false;
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    const float root = __builtin_sqrtf(norms[j]);
    y[j] = x[j] / (root * __builtin_sqrtf(root));
  }
  return true;
}

template <typename T>
void Forward(const LrnCall& call, const T* x, T* y, int64_t n) {
  const bool three_quarters = std::is_same<T, float>::value && call.beta == 0.75;
  auto square = [&](int64_t c, int64_t j) __attribute__((always_inline)) {
    const double v = static_cast<double>(x[c * call.step + j]);
    return v * v;
  };
  Slide(call, n, square, [&](int64_t c, const double* sums) {
    const T* from = x + c * call.step;
    T* to = y + c * call.step;
    if constexpr (std::is_same<T, float>::value)
      if (three_quarters && ThreeQuarters(call, from, sums, to, n)) return;
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) {
      const double sum = sums[j] > 0.0 ? sums[j] : sums[j] != sums[j] ? sums[j] : 0.0;
      to[j] = static_cast<T>(static_cast<double>(from[j]) * Falling<T>(call.knorm + call.alpha * sum, call.beta));
    }
  });
}

template <typename T>
void Backward(const LrnCall& call, const T* og, const T* x, T* dx, int64_t n, double* workspace) {
  double *own = workspace, *products = workspace + call.channels * kLrnPositions;  // norm ^ -beta, and what it gives to its neighbours
  auto square = [&](int64_t c, int64_t j) __attribute__((always_inline)) {
    const double v = static_cast<double>(x[c * call.step + j]);
    return v * v;
  };
  Slide(call, n, square, [&](int64_t c, const double* sums) {
    const T *data = x + c * call.step, *up = og + c * call.step;
    double *f = own + c * kLrnPositions, *p = products + c * kLrnPositions;
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) {
      const double sum = sums[j] > 0.0 ? sums[j] : sums[j] != sums[j] ? sums[j] : 0.0;
      const double norm = call.knorm + call.alpha * sum;
      f[j] = Falling<T>(norm, call.beta);
      p[j] = static_cast<double>(up[j]) * static_cast<double>(data[j]) * f[j] / norm;
    }
  });
  const double factor = 2.0 * call.alpha * call.beta;
  auto product = [&](int64_t c, int64_t j) __attribute__((always_inline)) { return products[c * kLrnPositions + j]; };
  Slide(call, n, product, [&](int64_t c, const double* sums) {
    const T *data = x + c * call.step, *up = og + c * call.step;
    const double* f = own + c * kLrnPositions;
    T* to = dx + c * call.step;
#pragma omp simd
    for (int64_t j = 0; j < n; ++j)
      to[j] = static_cast<T>(static_cast<double>(up[j]) * f[j] - factor * static_cast<double>(data[j]) * sums[j]);
  });
}

}  // namespace

void LrnForward(const nn::LrnCall& call, int dtype, const void* x, void* y, int64_t n) {
  if (dtype == kFloat64)
    Forward(call, static_cast<const double*>(x), static_cast<double*>(y), n);
  else
    Forward(call, static_cast<const float*>(x), static_cast<float*>(y), n);
}

void LrnBackward(const nn::LrnCall& call, int dtype, const void* og, const void* x, void* dx, int64_t n, double* workspace) {
  if (dtype == kFloat64)
    Backward(call, static_cast<const double*>(og), static_cast<const double*>(x), static_cast<double*>(dx), n, workspace);
  else
    Backward(call, static_cast<const float*>(og), static_cast<const float*>(x), static_cast<float*>(dx), n, workspace);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
