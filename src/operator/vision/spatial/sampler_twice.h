/* Second derivatives of BilinearSampler and of SpatialTransformer. */
#ifndef MXNET_OPERATOR_VISION_SPATIAL_SAMPLER_TWICE_H_
#define MXNET_OPERATOR_VISION_SPATIAL_SAMPLER_TWICE_H_

#include <vector>

#include "mxnet/node.h"

namespace mxnet {
namespace nn {

/* Of nodes of _backward_BilinearSampler and of _backward_SpatialTransformer. They are made of
 * BilinearSampler and its gradient, so that they can be differentiated again. */
std::vector<NodeEntry> SamplerSecondGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds);
std::vector<NodeEntry> TransformerSecondGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_VISION_SPATIAL_SAMPLER_TWICE_H_
