/* Convolutions whose windows lie outside of the image for the most part: large dilation, or small
 * images. */
#ifndef MXNET_OPERATOR_NN_CONVOLUTION_TAP_PRODUCTS_H_
#define MXNET_OPERATOR_NN_CONVOLUTION_TAP_PRODUCTS_H_

#include "mxnet/kernel_args.h"
#include "operator/nn/onednn/hooks.h"

namespace mxnet {
namespace nn {

/*
 * Computes `call` as one matrix product for each element of the window, over the pixels for which
 * that element lies in the image, where this leaves out half of the work or more: then true.
 * `addend` may be null, or the result. Weights are kept in an inference plan's state.
 */
bool TapProducts(KernelArgs& args, const ConvCall& call, const float* addend);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_CONVOLUTION_TAP_PRODUCTS_H_
