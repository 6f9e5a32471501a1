/*
 * The secular equation 1 / rho + sum of weights[i]^2 / (poles[i] - x) = 0, whose roots are the
 * eigenvalues of a diagonal matrix and rho times a vector by itself (Golub, Some modified matrix
 * eigenvalue problems, SIAM Review 15, 1973; Gu and Eisenstat, A stable and efficient algorithm for
 * the rank-one modification of the symmetric eigenproblem, 1994).
 */
#ifndef MXNET_OPERATOR_LINALG_FACTORS_SECULAR_H_
#define MXNET_OPERATOR_LINALG_FACTORS_SECULAR_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {
namespace linalg {

/* Arrays hold a multiple of this; what lies behind `count` has weight 0 and is kNoPole. */
constexpr int64_t kSecularStep = 8;
constexpr double kNoPole = 1e300;

/* Poles ascend, all different; no weight is 0; rho > 0. */
struct SecularEquation {
  int64_t count;
  const double *poles, *weights;
  double rho;
  double tolerance;  // where it ends: the sum beside the sum of absolute values
};

/* A root next to a pole has no error of that pole's size. */
struct SecularRoot {
  double pole, beside;  // it is pole + beside
};

}  // namespace linalg

MXNET_CPU_DECLARE(
    /* Root j lies above pole j and below pole j + 1. */
    void SecularRoots(int64_t begin, int64_t end, const linalg::SecularEquation& equation, linalg::SecularRoot* roots);
    /* Weights whose equation has these very roots, but for a factor common to all. `begin` is a
     * multiple of kSecularStep; so many are written. */
    void SecularWeights(int64_t begin, int64_t end, const linalg::SecularEquation& equation, const linalg::SecularRoot* roots,
                        double* weights);
    /* Rows [begin, end) of out: weights[i] / (poles[i] - root of the row) with length 1. Both
     * arrays may be in any order. */
    void SecularVectors(bool wide, int64_t begin, int64_t end, int64_t count, const double* poles, const double* weights,
                        const linalg::SecularRoot* roots, void* out, int64_t pitch);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_LINALG_FACTORS_SECULAR_H_
