/* Second derivatives of BatchNorm and of what is made of it. */
#ifndef MXNET_OPERATOR_NN_NORM_BATCH_NORM_TWICE_H_
#define MXNET_OPERATOR_NN_NORM_BATCH_NORM_TWICE_H_

#include <vector>

#include "operator/nn/norm/batch_norm.h"

namespace mxnet {
namespace nn {

/* inputs: ograd, data, gamma, moving_mean, moving_var, mean, inv_std, and others that are left
 * alone; ograds: of the gradients of data, gamma and beta. One result per input. */
std::vector<NodeEntry> BatchNormSecondGradientOf(const BatchNormParam& param, const std::vector<NodeEntry>& inputs,
                                                 const std::vector<NodeEntry>& ograds);
/* Of nodes of _backward_BatchNorm and of _backward_BatchNormWithReLU. */
std::vector<NodeEntry> BatchNormSecondGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds);
std::vector<NodeEntry> BatchNormReluSecondGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_NORM_BATCH_NORM_TWICE_H_
