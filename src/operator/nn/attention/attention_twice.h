/* Attention out of operators that can be differentiated as often as one likes, for the second
 * derivatives of _fused_attention. */
#ifndef MXNET_OPERATOR_NN_ATTENTION_ATTENTION_TWICE_H_
#define MXNET_OPERATOR_NN_ATTENTION_ATTENTION_TWICE_H_

#include <vector>

#include "operator/nn/attention/attention.h"

namespace mxnet {
namespace nn {

/* What _fused_attention gives for these inputs. */
NodeEntry WriteOutAttention(const AttentionParam& param, const std::vector<NodeEntry>& inputs);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_ATTENTION_ATTENTION_TWICE_H_
