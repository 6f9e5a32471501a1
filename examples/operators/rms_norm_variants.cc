// The inner loops of rms_norm.cc. This file is compiled once for each level of instruction sets.
#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

template <typename T>
double Sum(const T* x, int64_t n) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return sum;
}

template <typename T>
void Scale(const T* x, const T* gamma, T scale, T* y, int64_t n) {
#pragma GCC ivdep  // y is x or apart from it
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * scale * gamma[i];
}

}  // namespace

double SumOfSquares(bool wide, const void* x, int64_t n) {
  return wide ? Sum(static_cast<const double*>(x), n) : Sum(static_cast<const float*>(x), n);
}

void ScaleRow(bool wide, const void* x, const void* gamma, double scale, void* y, int64_t n) {
  if (wide) return Scale(static_cast<const double*>(x), static_cast<const double*>(gamma), scale, static_cast<double*>(y), n);
  Scale(static_cast<const float*>(x), static_cast<const float*>(gamma), static_cast<float>(scale), static_cast<float*>(y), n);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
