/*
 * Parameter updates, one element at a time: which arrays a rule reads and writes, and its
 * numbers. The loops are in update_variants.cc; records and their
 * kernels in sgd.cc, adam.cc, adaptive.cc and multi_sgd.cc.
 */
#ifndef MXNET_OPERATOR_OPTIMIZER_UPDATE_RULES_H_
#define MXNET_OPERATOR_OPTIMIZER_UPDATE_RULES_H_

#include <cstdint>

#include "base/cpu_dispatch.h"
#include "operator/optimizer/update_numbers.cuh"

namespace mxnet {

/* kSgd, kSgdMom, ...: the list at the end of update_formulas.cuh. */
enum class UpdateRule : int {
#define MXNET_UPDATE_RULE(name, form) k##name,
#include "operator/optimizer/update_formulas.cuh"
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
  UpdateNumbers numbers;
};

struct RuleInfo {
  const char* name;  // as in update_formulas.cuh
  int states;
  bool master;  // whether there is a form with float32 copies
};
const RuleInfo& InfoOf(UpdateRule rule);

MXNET_CPU_DECLARE(
    /* Elements [begin, end). REQUIRES: a floating dtype. */
    void UpdateRange(const UpdateArgs& a, int64_t begin, int64_t end);
    /* Of the elements [begin, end), of a floating dtype. */
    double SumOfSquares(int dtype, const void* x, int64_t begin, int64_t end);
    /* Rows [begin, end) of n elements: g = clip(rescale * grad), history += mean of g * g,
     * out = weight - lr * g / sqrt(history + epsilon). */
    void GroupAdaGradRows(const UpdateArgs& a, int64_t n, int64_t begin, int64_t end);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_OPTIMIZER_UPDATE_RULES_H_
