/*
 * A normalization and numbers behind a convolution or dense layer, as part of its weight and bias:
 *
 *   layer(x) = w x + b
 *   y = post_scale * BN(pre_scale * layer(x) + pre_shift) + post_shift
 *   BN(z) = (z - mean) * s + beta,   s = gamma / sqrt(var + eps)
 *
 * is a layer again. Without a normalization BN(z) = z.
 */
#ifndef MXNET_OPERATOR_NN_COMMON_SCALE_SHIFT_H_
#define MXNET_OPERATOR_NN_COMMON_SCALE_SHIFT_H_

#include <string>
#include <vector>

#include "operator/record/param.h"

namespace mxnet {
namespace nn {

struct ScaleShiftParam : public Parameter<ScaleShiftParam> {
  double eps, pre_scale, pre_shift, post_scale, post_shift;
  bool fix_gamma, has_bias, has_norm;
  int dtype;
  MXNET_DECLARE_PARAM(ScaleShiftParam) {
    MXNET_FIELD(eps).set_default(1e-3).describe("Added to the variance.");
    MXNET_FIELD(pre_scale).set_default(1).describe("What the layer's result is multiplied by before it is normalized.");
    MXNET_FIELD(pre_shift).set_default(0).describe("What is added to that.");
    MXNET_FIELD(post_scale).set_default(1).describe("What the normalized result is multiplied by.");
    MXNET_FIELD(post_shift).set_default(0).describe("What is added to that.");
    MXNET_FIELD(fix_gamma).set_default(true).describe("Take gamma as 1.");
    MXNET_FIELD(has_bias).set_default(true).describe("Whether the layer has a bias.");
    MXNET_FIELD(has_norm).set_default(false).describe("Whether there is a normalization.");
    MXNET_DTYPE_FIELD(dtype).set_default(kFloat32).describe("Of the new weight; the new bias is float32 in any case.");
  }
};

/* Null: the node is something else. */
const ScaleShiftParam* ScaleShiftOf(const Node& node);
/* Gives the new weight and bias. `inputs`: weight, the bias if there is one, and of a normalization
 * gamma, beta, mean and variance. */
NodePtr MakeScaleShift(const ScaleShiftParam& p, std::vector<NodeEntry> inputs, const std::string& name);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_COMMON_SCALE_SHIFT_H_
