/* Losses on a GPU. */
#ifndef MXNET_OPERATOR_NN_LOSS_GPU_LOSSES_H_
#define MXNET_OPERATOR_NN_LOSS_GPU_LOSSES_H_

#include "mxnet/kernel_args.h"

namespace mxnet {
namespace nn {

/* SoftmaxOutput's gradient. `labels`: one class for each of outer * inner, or `probabilities`. */
struct SoftmaxOutputSettings {
  int64_t outer, classes, inner;
  bool probabilities, use_ignore, valid;  // valid: divided by how many labels are not `ignore`
  double scale, ignore, on, off;          // scale: without that division
};
void SoftmaxOutputBackwardOnDevice(KernelArgs& args, const SoftmaxOutputSettings& s, const TBlob& label, const TBlob& y, const TBlob* og,
                                   const TBlob& dx);
/* The sum over rows of -log(max(softmax(data)[label], least)), and from softmax(data) in dx the
 * gradient of data. */
void CrossEntropyOnDevice(KernelArgs& args, const TBlob& data, const TBlob& label, double least, const TBlob& out);
void CrossEntropyBackwardOnDevice(KernelArgs& args, const TBlob& og, const TBlob& label, const TBlob& dx);

/* dx = scale * (y - label), or its sign. */
void RegressionBackwardOnDevice(KernelArgs& args, const TBlob& label, const TBlob& y, double scale, bool sign, const TBlob& dx);
void SvmBackwardOnDevice(KernelArgs& args, const TBlob& label, const TBlob& x, double margin, double weight, bool linear, const TBlob& dx);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_LOSS_GPU_LOSSES_H_
