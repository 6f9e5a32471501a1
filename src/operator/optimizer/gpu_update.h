/* Parameter updates on a GPU: the rules of update_formulas.cuh as kernels. */
#ifndef MXNET_OPERATOR_OPTIMIZER_GPU_UPDATE_H_
#define MXNET_OPERATOR_OPTIMIZER_GPU_UPDATE_H_

#include <vector>

#include "mxnet/kernel_args.h"
#include "mxnet/run_context.h"
#include "operator/optimizer/update_rules.h"

namespace mxnet {

/* Numbers that a rule needs and that only the device knows. */
struct DeviceNumbers {
  enum Kind { kNone, kRescale, kNorms } kind = kNone;
  TBlob first,
      second;  // kRescale: `rescale`; 0 or not finite skips the update. kNorms: of weight and direction, whose ratio multiplies `lr`
  double lower = -1, upper = -1;  // kNorms: bounds of the first where they are not negative
};
/* UpdateRange over all n elements on run.stream. */
void UpdateOnDevice(const RunContext& run, const UpdateArgs& a, int64_t n, const DeviceNumbers& numbers = DeviceNumbers());
/*
 * UpdateRange in place of rows of `size` elements. `all`: of `count` rows, to each of which `rows`
 * gives 1 + the place of its gradient in u.grad, or 0, then the gradient is 0; else of the rows
 * that `rows` numbers, each once, by the `count` rows of u.grad. REQUIRES: no master, u.out is
 * u.weight.
 */
void UpdateRowsOnDevice(const RunContext& run, const UpdateArgs& u, const int64_t* rows, bool all, int64_t count, int64_t size);
/* GroupAdaGradRows over all rows, or (`numbers`) by `rows` rows of a.grad over those with these
 * numbers, each once. */
void GroupAdaGradOnDevice(const RunContext& run, const UpdateArgs& a, int64_t rows, int64_t n, const int64_t* numbers = nullptr);

/* One number of `dtype`, float32 or float64, for each array, on the device: in place of `lr`
 * and `wd`. */
struct DeviceRates {
  const void *lrs = nullptr, *wds = nullptr;
  int dtype = -1;
};
/* The same for several arrays of n[w] elements, in few launches; lr, wd, unbias1 and unbias2
 * may differ. `factor`: as kRescale; may be null. REQUIRES: one rule for all. */
void UpdateOnDevice(const RunContext& run, const UpdateArgs* updates, const int64_t* n, int count, const DeviceRates& rates,
                    const TBlob* factor = nullptr);

/* How the updates of LAMB and LANS use norms: of the weight (or, for kOfGradient, of the gradient),
 * of the first and of the second direction. */
struct NormRates {
  enum Kind { kOfGradient, kLamb, kLans } kind;
  double rescale, beta1, lower, upper;
};
/* lrs[w] and wds[w], doubles on the device, are kOfGradient: 1 / norm of the rescaled gradient, and
 * `wd`; else the factors of the directions. `arrays[w]` has one array, kLamb two, kLans three, of
 * one shape. `updates`: `lr` of each is the learning rate. */
void RatesFromNorms(KernelArgs& args, const NormRates& rates, const std::vector<std::vector<TBlob>>& arrays,
                    const std::vector<UpdateArgs>& updates, double* lrs, double* wds);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_OPTIMIZER_GPU_UPDATE_H_
