/* Parameters and geometry of the deformable convolutions. */
#ifndef MXNET_OPERATOR_NN_DEFORMABLE_DEFORMABLE_CONVOLUTION_H_
#define MXNET_OPERATOR_NN_DEFORMABLE_DEFORMABLE_CONVOLUTION_H_

#include "mxnet/kernel_args.h"
#include "operator/nn/deformable/deformable_kernels.h"
#include "operator/record/param.h"

namespace mxnet {
namespace nn {

/* One call: inputs are data, offset, [mask,] weight[, bias]. */
struct DeformCall {
  int64_t batch, channels, h, w;
  int64_t filters, groups, deformable_groups, out_h, out_w;
  int64_t kernel[2], stride[2], dilate[2], pad[2];
  bool masked, no_bias;
  Beyond beyond;
  int64_t taps() const { return kernel[0] * kernel[1]; }
  int64_t positions() const { return out_h * out_w; }
  int64_t rows() const { return channels * taps(); }  // of the columns' matrix
  int weight() const { return masked ? 3 : 2; }       // which input
  int inputs() const { return weight() + (no_bias ? 1 : 2); }
};

/* On a GPU. Backward: the inputs follow ograd. */
void DeformForwardOnDevice(KernelArgs& args, const DeformCall& call);
void DeformBackwardOnDevice(KernelArgs& args, const DeformCall& call);

void DeformForward(KernelArgs& args, const DeformCall& call);
void DeformBackward(KernelArgs& args, const DeformCall& call);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_DEFORMABLE_DEFORMABLE_CONVOLUTION_H_
