/* Deformable convolutions as other operators compute them, for their second derivatives. */
#ifndef MXNET_OPERATOR_NN_DEFORMABLE_DEFORMABLE_TWICE_H_
#define MXNET_OPERATOR_NN_DEFORMABLE_DEFORMABLE_TWICE_H_

#include <vector>

#include "operator/nn/deformable/deformable_convolution.h"

namespace mxnet {
namespace nn {

/* `call` without what shapes tell. `inputs`: data, offset, [mask,] weight[, bias]; `like`: of the
 * shape of the result. */
NodeEntry WriteOutDeformable(const DeformCall& call, const std::vector<NodeEntry>& inputs, const NodeEntry& like);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_DEFORMABLE_DEFORMABLE_TWICE_H_
