/* Layers and losses on a GPU: generated kernels, texts in every build. */
#ifndef MXNET_OPERATOR_NN_COMMON_GPU_LAYERS_H_
#define MXNET_OPERATOR_NN_COMMON_GPU_LAYERS_H_

#include "mxnet/op.h"
#include "operator/nn/common/pool_dims.h"
#include "operator/random/gpu_random.h"

namespace mxnet {
namespace nn {

/* An activation (nn::ActivationType), or its gradient from args.in[0] and in[1], as one pointwise
 * kernel. */
void ActivationOnDevice(KernelArgs& args, int type, double slope, bool gradient);
/* out = in[0] * in[1], broadcast. */
void MultiplyOnDevice(KernelArgs& args, const TBlob& x, const TBlob& y, const TBlob& out);

/*
 * The mask of a dropout, four elements from a counter: `scale` where the word is below `threshold`,
 * else 0. With `x` also out = x * mask, element for element.
 */
void DropoutOnDevice(const RunContext& run, const DeviceDraws& draws, uint64_t threshold, double scale, const TBlob* x, const TBlob& mask,
                     const TBlob& out);

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

/* prelu: gamma[c % gammas] of (outer, channels, inner); gradients of data and gamma where these
 * have memory. */
void PreluOnDevice(KernelArgs& args, int64_t channels, int64_t inner, const TBlob& x, const TBlob& gamma, const TBlob& y);
void PreluBackwardOnDevice(KernelArgs& args, int64_t outer, int64_t channels, int64_t inner);
/* rrelu: slopes low + range * uniform where `drawn`, else `mean`. */
void RreluOnDevice(KernelArgs& args, bool drawn, const DeviceDraws& draws, double low, double range, double mean, const TBlob& mask);

/* Pooling of planes (batch * channels) or of images whose channels lie last. dx gathers, so its
 * sums have one order. */
void PoolOnDevice(KernelArgs& args, const PoolDims& d, bool last, const TBlob& x, const TBlob& y);
void PoolBackwardOnDevice(KernelArgs& args, const PoolDims& d, bool last, const TBlob& og, const TBlob& x, const TBlob& y, const TBlob& dx);
/* pool_type max and lp: PoolBackwardOnDevice transposed, from u (shaped as x) to out (shaped as
 * y). */
void PoolGatherOnDevice(KernelArgs& args, const PoolDims& d, bool last, const TBlob& u, const TBlob& x, const TBlob& y, const TBlob& out);
/* Averages over windows that divide images (planes, h, w); backward: from og to the gradient of the
 * image. */
void AdaptivePoolOnDevice(KernelArgs& args, const TBlob& image, const TBlob& small, bool backward);

/* Images (batch, channels, h, w) whose pixels are repeated onto channels first_channel... of
 * `large`. backward: the sums of large go to small. */
void RepeatPixelsOnDevice(KernelArgs& args, const TBlob& small, const TBlob& large, int64_t first_channel, bool add, bool backward);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_COMMON_GPU_LAYERS_H_
