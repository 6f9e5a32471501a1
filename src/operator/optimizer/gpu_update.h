/* Parameter updates on a GPU: the rules of update_formulas.cuh as kernels. */
#ifndef MXNET_OPERATOR_OPTIMIZER_GPU_UPDATE_H_
#define MXNET_OPERATOR_OPTIMIZER_GPU_UPDATE_H_

#include "mxnet/engine.h"
#include "operator/optimizer/update_rules.h"

namespace mxnet {

/* Numbers that a rule needs and that only the device knows. */
struct DeviceNumbers {
  enum Kind { kNone, kRescale, kNorms } kind = kNone;
  TBlob first, second;  // kRescale: h[2]; 0 or not finite skips the update. kNorms: of weight and direction, whose ratio multiplies h[0]
  double lower = -1, upper = -1;  // kNorms: bounds of the first where they are not negative
};
/* UpdateRange over all n elements on run.stream. */
void UpdateOnDevice(const RunContext& run, const UpdateArgs& a, int64_t n, const DeviceNumbers& numbers = DeviceNumbers());
/* The same for several arrays of n[w] elements, in few launches. lrs, wds: on the device, in place
 * of h[0] and h[1]; may be null. REQUIRES: one rule for all. */
void UpdateOnDevice(const RunContext& run, const UpdateArgs* updates, const int64_t* n, int count, const float* lrs, const float* wds);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_OPTIMIZER_GPU_UPDATE_H_
