/* Parameters of _fused_expand_depthwise, made by the plan compiler. */
#ifndef MXNET_OPERATOR_NN_CONVOLUTION_EXPAND_DEPTHWISE_H_
#define MXNET_OPERATOR_NN_CONVOLUTION_EXPAND_DEPTHWISE_H_

#include "operator/nn/common/epilogue.h"

namespace mxnet {
namespace nn {

/* post(depthwise 3x3(expand_post(1x1(data)))); inputs: data, weight and bias of the 1x1
 * convolution, weight and bias of the depthwise one. */
struct ExpandDepthwiseParam {
  int num_filter = 0;       // of both, a multiple of 16
  int stride = 1, pad = 1;  // of the depthwise one: 1 or 2, 0 or 1
  bool expand_bias = false, bias = false;
  EpilogueOp expand_post, post;  // none, relu or clip
};

/* What the node is given to have these parameters. */
AttrsPtr ExpandDepthwiseAttrs(const ExpandDepthwiseParam& p);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_CONVOLUTION_EXPAND_DEPTHWISE_H_
