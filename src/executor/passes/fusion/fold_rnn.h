#ifndef MXNET_EXECUTOR_PASSES_FUSION_FOLD_RNN_H_
#define MXNET_EXECUTOR_PASSES_FUSION_FOLD_RNN_H_

#include "executor/passes/core/passes.h"

namespace mxnet {
/* Inference only: the parameters of recurrent layers are put together by a constant node. Returns
 * how many layers. */
int FoldRnnParameters(PassGraph* g, PassContext* context);
}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PASSES_FUSION_FOLD_RNN_H_
