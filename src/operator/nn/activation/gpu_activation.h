/* Activations and dropout on a GPU. */
#ifndef MXNET_OPERATOR_NN_ACTIVATION_GPU_ACTIVATION_H_
#define MXNET_OPERATOR_NN_ACTIVATION_GPU_ACTIVATION_H_

#include "mxnet/kernel_args.h"
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

/* prelu: gamma[c % gammas] of (outer, channels, inner); gradients of data and gamma where these
 * have memory. */
void PreluOnDevice(KernelArgs& args, int64_t channels, int64_t inner, const TBlob& x, const TBlob& gamma, const TBlob& y);
void PreluBackwardOnDevice(KernelArgs& args, int64_t outer, int64_t channels, int64_t inner);
/* rrelu: slopes low + range * uniform where `drawn`, else `mean`. */
void RreluOnDevice(KernelArgs& args, bool drawn, const DeviceDraws& draws, double low, double range, double mean, const TBlob& mask);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_ACTIVATION_GPU_ACTIVATION_H_
