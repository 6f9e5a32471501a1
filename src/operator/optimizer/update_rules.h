/*
 * Parameter updates, one element at a time: which arrays a rule reads and writes, and in which
 * order its numbers lie in UpdateArgs::h. The loops are in update_variants.cc; records and their
 * kernels in sgd.cc, adam.cc, adaptive.cc and multi_sgd.cc.
 */
#ifndef MXNET_OPERATOR_OPTIMIZER_UPDATE_RULES_H_
#define MXNET_OPERATOR_OPTIMIZER_UPDATE_RULES_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {

/* Every rule has h[0] = learning rate, h[1] = weight decay, h[2] = factor on the gradient, h[3] =
 * its bound (infinity: none). */
enum class UpdateRule : int {
  kSgd,          // no state
  kSgdMom,       // momentum; h[4] = momentum
  kNag,          // momentum; h[4] = momentum
  kAdam,         // mean, var; h[4..6] = beta1, beta2, epsilon
  kAdamW,        // mean, var; h[4..7] = beta1, beta2, epsilon, eta
  kLamb1,        // mean, var; h[4..8] = beta1, beta2, epsilon, 1/(1-beta1^t), 1/(1-beta2^t); writes a direction, not the weight
  kLamb2,        // no state; h[0] already holds the trust ratio; the gradient is phase 1's direction
  kRmsProp,      // n; h[4..6] = gamma1, epsilon, bound of the weights
  kRmsPropAlex,  // n, g, delta; h[4..7] = gamma1, gamma2, epsilon, bound of the weights
  kFtrl,         // z, n; h[4..5] = lambda1, beta
  kFtml,         // d, v, z; h[4..8] = beta1, beta2, epsilon, 1-beta1^t, 1-beta2^t
  kSignSgd,      // no state
  kSignum        // momentum; h[4..5] = momentum, decay outside of the momentum
};

/*
 * `weight`, `grad` and `out` have `dtype` and states too, unless `master` is set: then states and
 * `master` are float32, the weight is read from `master`, and both `master` and `out` are written
 * (kLamb1: float32 direction into `out`; kLamb2: float32 `grad`).
 */
struct UpdateArgs {
  UpdateRule rule;
  int dtype;
  const void* weight;
  const void* grad;
  void* state[3];
  float* master;
  void* out;
  double h[10];
};

/* Elements [begin, end). REQUIRES: a floating dtype; with `master` not float64. */
MXNET_CPU_DECLARE(void UpdateRange(const UpdateArgs& a, int64_t begin, int64_t end);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_OPTIMIZER_UPDATE_RULES_H_
