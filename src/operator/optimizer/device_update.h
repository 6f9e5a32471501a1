/* Parameter updates on a GPU: update_formulas.inc as generated kernels. */
#ifndef MXNET_SRC_OPERATOR_OPTIMIZER_DEVICE_UPDATE_H_
#define MXNET_SRC_OPERATOR_OPTIMIZER_DEVICE_UPDATE_H_

#include "mxnet/engine.h"
#include "operator/optimizer/update_rules.h"

namespace mxnet {

/* UpdateRange over all n elements on run.stream. */
void UpdateOnDevice(const RunContext& run, const UpdateArgs& a, int64_t n);

}  // namespace mxnet
#endif  // MXNET_SRC_OPERATOR_OPTIMIZER_DEVICE_UPDATE_H_
