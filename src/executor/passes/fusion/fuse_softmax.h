#ifndef MXNET_EXECUTOR_PASSES_FUSION_FUSE_SOFTMAX_H_
#define MXNET_EXECUTOR_PASSES_FUSION_FUSE_SOFTMAX_H_

#include "executor/passes/core/passes.h"

namespace mxnet {
/* Softmax and its logarithm over one dimension, written out, become softmax and log_softmax. Early.
 * Returns how many. */
int FuseSoftmax(PassGraph* g, PassContext* context);
}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PASSES_FUSION_FUSE_SOFTMAX_H_
