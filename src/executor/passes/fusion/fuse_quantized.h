#ifndef MXNET_EXECUTOR_PASSES_FUSION_FUSE_QUANTIZED_H_
#define MXNET_EXECUTOR_PASSES_FUSION_FUSE_QUANTIZED_H_

#include "executor/passes/core/passes.h"

namespace mxnet {
/* Inference: what stands between a layer on 8-bit integers and its result in 8 bits becomes part of
 * the layer, where calibration has found the range. Returns how many nodes went. */
int FuseQuantized(PassGraph* g, PassContext* context);
}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PASSES_FUSION_FUSE_QUANTIZED_H_
