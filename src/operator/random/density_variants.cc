// Loops over probability densities.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/spread.h"
#include "operator/pointwise/functions/vector_libm.h"
#include "operator/random/density.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {
#include "operator/pointwise/functions/functions.h"
#define MX_DEVICE __attribute__((always_inline))  // a call stops vectorization
#include "operator/random/density_formulas.cuh"
#undef MX_DEVICE

MXNET_FN double Weighed(double weight, double slope) { return weight == 0.0 || slope == 0.0 ? 0.0 : weight * slope; }

/* Each of n numbers `times` times. */
void Repeat(const double* from, int64_t n, int64_t times, double* to) {
  using S = Spread<double>;
  int64_t i = 0;
  if (times <= S::kCount) {
    const S spread(times);
    for (; i + S::kCount <= n; i += S::kCount)
      for (int64_t k = 0; k < times; ++k) S::At(to + i * times + k * S::kCount) = spread.Of(S::At(from + i), k);
  }
  for (; i < n; ++i) std::fill_n(to + i * times, times, from[i]);
}

template <typename D>
void Prepare(const double* first, const double* second, double* constants, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    double c[kDensityConstants] = {};
    D::Prepare(first[i], second[i], c);
    for (int j = 0; j < kDensityConstants; ++j) constants[j * kDensityBlock + i] = c[j];
  }
}

/* The forms of a density that has two, for large and for small k. */
template <typename D>
struct Near : D {
  MXNET_FN static double Log(const double* c, double x) { return D::LogNear(c, x); }
  MXNET_FN static void Slopes(const double* c, double x, double* d) { D::SlopesNear(c, x, d); }
};
template <typename D>
struct Far : D {
  MXNET_FN static double Log(const double* c, double x) { return D::LogFar(c, x); }
  MXNET_FN static void Slopes(const double* c, double x, double* d) { D::SlopesFar(c, x, d); }
};
/* Which form each of n pairs of constants needs: how many need the near one. */
template <typename D>
int64_t NearOnes(const double* constants, double* near, int64_t n) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    double c[kDensityConstants] = {};
    for (int j = 0; j < kDensityConstants; ++j) c[j] = constants[j * kDensityBlock + i];
    near[i] = D::IsNear(c) ? 1 : 0;
    count += D::IsNear(c);
  }
  return count;
}
/* to = other where `near` is 0. */
inline void Choose(const double* near, const double* other, double* to, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] = near[i] != 0.0 ? to[i] : other[i];
}

template <typename D, bool kSame>
void LogLoop(const double* constants, const double* x, double* y, int64_t n) {
  double same[kDensityConstants];
  for (int j = 0; j < kDensityConstants; ++j) same[j] = constants[j * kDensityBlock];
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    double c[kDensityConstants] = {};
    for (int j = 0; j < kDensityConstants; ++j) c[j] = kSame ? same[j] : constants[j * kDensityBlock + i];
    y[i] = D::Log(c, x[i]);
  }
}
template <typename D>
void Logs(const double* constants, bool same, const double* x, double* y, int64_t n) {
  same ? LogLoop<D, true>(constants, x, y, n) : LogLoop<D, false>(constants, x, y, n);
}
/* A density of two forms: each in a loop of its own, and neither where nobody needs it. */
template <typename D>
void LogsOfTwo(const double* constants, bool same, const double* x, double* y, int64_t n) {
  double near[kDensityBlock], far[kDensityBlock];
  const int64_t pairs = same ? 1 : n, count = NearOnes<D>(constants, near, pairs);
  if (count == pairs) return Logs<Near<D>>(constants, same, x, y, n);
  if (count == 0) return Logs<Far<D>>(constants, same, x, y, n);
  LogLoop<Near<D>, false>(constants, x, y, n);
  LogLoop<Far<D>, false>(constants, x, far, n);
  Choose(near, far, y, n);
}

template <typename D, bool kSame>
void SlopeLoop(const double* constants, const double* x, const double* weight, double* slopes, int64_t n) {
  double same[kDensityConstants];
  for (int j = 0; j < kDensityConstants; ++j) same[j] = constants[j * kDensityBlock];
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    double c[kDensityConstants] = {}, d[3] = {};
    for (int j = 0; j < kDensityConstants; ++j) c[j] = kSame ? same[j] : constants[j * kDensityBlock + i];
    D::Slopes(c, x[i], d);
    for (int j = 0; j < 3; ++j) slopes[j * kDensityBlock + i] = Weighed(weight[i], d[j]);
  }
}
template <typename D>
void Slopes(const double* constants, bool same, const double* x, const double* weight, double* slopes, int64_t n) {
  same ? SlopeLoop<D, true>(constants, x, weight, slopes, n) : SlopeLoop<D, false>(constants, x, weight, slopes, n);
}
template <typename D>
void SlopesOfTwo(const double* constants, bool same, const double* x, const double* weight, double* slopes, int64_t n) {
  double near[kDensityBlock], far[3 * kDensityBlock];
  const int64_t pairs = same ? 1 : n, count = NearOnes<D>(constants, near, pairs);
  if (count == pairs) return Slopes<Near<D>>(constants, same, x, weight, slopes, n);
  if (count == 0) return Slopes<Far<D>>(constants, same, x, weight, slopes, n);
  SlopeLoop<Near<D>, false>(constants, x, weight, slopes, n);
  SlopeLoop<Far<D>, false>(constants, x, weight, far, n);
  for (int j = 0; j < 3; ++j) Choose(near, far + j * kDensityBlock, slopes + j * kDensityBlock, n);
}

}  // namespace

#define MXNET_DENSITY_CASES(function, last, ...)                                                              \
  switch (kind) {                                                                                             \
    case Density::kUniform: return function<UniformDensity>(__VA_ARGS__);                                     \
    case Density::kNormal: return function<NormalDensity>(__VA_ARGS__);                                       \
    case Density::kGamma: return function<GammaDensity>(__VA_ARGS__);                                         \
    case Density::kExponential: return function<ExponentialDensity>(__VA_ARGS__);                             \
    case Density::kPoisson: return function<PoissonDensity>(__VA_ARGS__);                                     \
    case Density::kNegativeBinomial: return function<NegativeBinomialDensity>(__VA_ARGS__);                   \
    case Density::kGeneralizedNegativeBinomial: return last<GeneralizedNegativeBinomialDensity>(__VA_ARGS__); \
  }

void PrepareDensity(Density kind, const double* first, const double* second, double* constants, int64_t n) {
  MXNET_DENSITY_CASES(Prepare, Prepare, first, second, constants, n)
}
void LogDensities(Density kind, const double* constants, bool same, const double* x, double* y, int64_t n) {
  if (kind == Density::kNegativeBinomial) return LogsOfTwo<NegativeBinomialDensity>(constants, same, x, y, n);
  MXNET_DENSITY_CASES(Logs, LogsOfTwo, constants, same, x, y, n)
}
void DensitySlopes(Density kind, const double* constants, bool same, const double* x, const double* weight, double* slopes, int64_t n) {
  MXNET_DENSITY_CASES(Slopes, SlopesOfTwo, constants, same, x, weight, slopes, n)
}

void Weigh(double* weight, const double* y, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) weight[i] = Weighed(weight[i], y[i]);
}

double SumOf(const double* x, int64_t n) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += x[i];
  return sum;
}

void SpreadConstants(const double* from, int64_t rows, int64_t each, double* to, bool* zeros) {
  for (int j = 0; j < kDensityNumbers; ++j, from += kDensityBlock, to += kDensityBlock) {
    int64_t some = 0;
    for (int64_t i = 0; i < rows; ++i) some |= from[i] != 0.0 ? 1 : 0;
    if (some)
      Repeat(from, rows, each, to);
    else if (!zeros[j])
      std::fill_n(to, kDensityBlock, 0.0);
    zeros[j] = some == 0;
  }
}
void ExpInPlace(double* y, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = exp(y[i]);
}

void LogAll(const double* x, double* y, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = log(x[i]);
}

void DigammaAll(const double* x, double* y, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = Digamma(x[i]);
}

double LogGammaSum(const double* x, int64_t n) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += LogGamma(x[i]);
  return sum;
}

void DirichletLogs(const double* alpha, int64_t k, const double* x, double* y, int64_t n) {
  double total = 0, valid = 0;
  for (int64_t i = 0; i < k; ++i) {
    total += alpha[i];
    valid += ValidIf(alpha[i] > 0.0 && alpha[i] < DensityInfinity());
  }
  const double constant = LogGamma(total) - LogGammaSum(alpha, k) + valid;
  for (int64_t j = 0; j < n; ++j, x += k) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < k; ++i) sum += Supported(x[i], 0.0, alpha[i] == 1.0 ? 0.0 : (alpha[i] - 1.0) * log(x[i]));
    y[j] = sum + constant;
  }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
