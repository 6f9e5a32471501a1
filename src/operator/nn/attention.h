/* What the kernels of _fused_attention share. */
#ifndef MXNET_OPERATOR_NN_ATTENTION_H_
#define MXNET_OPERATOR_NN_ATTENTION_H_

#include "mxnet/op.h"

namespace mxnet {
namespace nn {

struct AttentionParam {
  double scale = 1;
  int64_t heads = 1;
  bool mask = false;
  bool statistics = false;   // a second output, for the backward pass: what one kernel on a GPU leaves of the scores, a number for each row
};

/* On a GPU, forward: query, key, value, [mask] -> output, [statistics]; backward: ograd, query, key, value, [mask], [output, statistics] -> gradients of query, key, value. */
void AttentionOnDevice(KernelArgs& args);
void AttentionBackwardOnDevice(KernelArgs& args);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_ATTENTION_H_
