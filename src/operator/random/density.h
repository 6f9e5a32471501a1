/*
 * Loops over the densities of density_formulas.cuh, for several instruction sets. Parameters and
 * samples come as doubles, a block of at most kDensityBlock at a time.
 */
#ifndef MXNET_OPERATOR_RANDOM_DENSITY_H_
#define MXNET_OPERATOR_RANDOM_DENSITY_H_

#include <cstdint>

#include "base/cpu_dispatch.h"
#include "mxnet/base.h"

namespace mxnet {

enum class Density : int { kUniform, kNormal, kGamma, kExponential, kPoisson, kNegativeBinomial, kGeneralizedNegativeBinomial };

/* Not a power of two: the arrays of a block would share lines of the first-level cache. */
constexpr int64_t kDensityBlock = 368;

constexpr int kDensityNumbers = 8;  // constants of a pair of parameters

/* Constant j of pair i is at [j * kDensityBlock + i]. */
MXNET_CPU_DECLARE(void PrepareDensity(Density kind, const double* first, const double* second, double* constants, int64_t n);
                  /* same: all samples have the constants of pair 0. */
                  void LogDensities(Density kind, const double* constants, bool same, const double* x, double* y, int64_t n);
                  /* weight * derivative j (in x, in the parameters) of the logarithm at
                   * [j * kDensityBlock + i]; 0 where either is 0 and the other infinite. */
                  void DensitySlopes(Density kind, const double* constants, bool same, const double* x, const double* weight,
                                     double* slopes, int64_t n);
                  /* weight *= y, in the same way. */
                  void Weigh(double* weight, const double* y, int64_t n); double SumOf(const double* x, int64_t n);
                  /* y = exp(y). */
                  void ExpInPlace(double* y, int64_t n);
                  /* The constants of each of `rows` pairs for `each` samples. zeros[j] tells,
                   * before and after, whether constant j is 0 in all of `to`. */
                  void SpreadConstants(const double* from, int64_t rows, int64_t each, double* to, bool* zeros);
                  /* Of one Dirichlet distribution of k numbers: log of the density at n points. */
                  void DirichletLogs(const double* alpha, int64_t k, const double* x, double* y, int64_t n);
                  /* y = log(x) and digamma of x. */
                  void LogAll(const double* x, double* y, int64_t n); void DigammaAll(const double* x, double* y, int64_t n);
                  double LogGammaSum(const double* x, int64_t n);)

/* Of `rows` rows of `each` samples, float32 or float64: y = density[r] in [a[r], b[r]], none[r]
 * outside, and NaN of NaN. */
MXNET_CPU_DECLARE(void UniformRows(int dtype, int64_t rows, int64_t each, const void* x, const void* a, const void* b, const void* density,
                                   const void* none, void* y);)

/* Uniform densities are two numbers for each row: no logarithms, and no other arrays. */
void UniformDensities(const TBlob& sample, const TBlob& low, const TBlob& high, const TBlob& out);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RANDOM_DENSITY_H_
