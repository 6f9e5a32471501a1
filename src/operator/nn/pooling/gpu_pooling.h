/* Pooling, and images that are repeated or averaged to another size, on a GPU. */
#ifndef MXNET_OPERATOR_NN_POOLING_GPU_POOLING_H_
#define MXNET_OPERATOR_NN_POOLING_GPU_POOLING_H_

#include "mxnet/kernel_args.h"
#include "operator/nn/common/pool_dims.h"

namespace mxnet {
namespace nn {

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
#endif  // MXNET_OPERATOR_NN_POOLING_GPU_POOLING_H_
