#ifndef MXNET_EXECUTOR_PASSES_FUSION_FUSE_LAYER_NORM_H_
#define MXNET_EXECUTOR_PASSES_FUSION_FUSE_LAYER_NORM_H_

#include "executor/passes/core/passes.h"

namespace mxnet {
/* Layer normalization over the last dimension, written out, becomes LayerNorm, with gamma and beta
 * where they follow. Early. Returns how many. */
int FuseLayerNorm(PassGraph* g, PassContext* context);
}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PASSES_FUSION_FUSE_LAYER_NORM_H_
