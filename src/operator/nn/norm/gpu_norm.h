/* Normalisation on a GPU: generated kernels, texts in every build. */
#ifndef MXNET_OPERATOR_NN_NORM_GPU_NORM_H_
#define MXNET_OPERATOR_NN_NORM_GPU_NORM_H_

#include "operator/nn/common/gpu_channels.h"

namespace mxnet {
namespace nn {

/* LayerNorm, GroupNorm, InstanceNorm: rows of n elements, `inner` apart, (outer * inner) of
 * them. */
struct RowNorm {
  int64_t rows, n, inner;
  /* Which of the parameters belongs to element j of a row: j, or the channel or the group of groups
   * * per_group channels with `span` elements each. */
  enum Parameter { kElement, kChannel, kGroup } parameter = kElement;
  int64_t groups = 1, per_group = 1, span = 1;
  double eps = 0;
};
/* in: data, gamma, beta; out: result, mean, sqrt(variance + eps); the last two may be missing. */
void RowNormOnDevice(KernelArgs& args, const RowNorm& norm);
/* in: gradient, data, gamma; out: gradients of data, gamma, beta. */
void RowNormBackwardOnDevice(KernelArgs& args, const RowNorm& norm);

/* BatchNorm, the parts of batch_norm.cc and batch_norm_add.cc. `relu`: followed by it. */
struct BatchNormSettings {
  ChannelView view;
  double eps, momentum;
  bool fix_gamma, batch, relu;     // batch: its moments are used, not the moving averages
  const NormMarks* sum = nullptr;  // followed by a sum and a relu
};
/* data, gamma, beta, [addend,] moving_mean, moving_var -> output, mean, inv_std, [marks]. */
void BatchNormOnDevice(KernelArgs& args, const BatchNormSettings& s);
/* data, gamma, beta, [addend,] mean, inv_std -> output. */
void BatchNormRecomputeOnGpu(KernelArgs& args, const BatchNormSettings& s);
/* ograd, [marks,] data, gamma, moving_mean, moving_var, mean, inv_std, [beta with relu] ->
 * data_grad, gamma_grad, beta_grad, [addend_grad]. */
void BatchNormBackwardOnDevice(KernelArgs& args, const BatchNormSettings& s);

/* `b` in the memory order of `like`: itself or a copy in the workspace. */
TBlob InOrderOnDevice(KernelArgs& args, const TBlob& b, Layout like);

/* On any device: the `count` results behind the first, means and deviations, are those of no
 * elements, NaN. */
void NoStatistics(KernelArgs& args, int count);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_NORM_GPU_NORM_H_
