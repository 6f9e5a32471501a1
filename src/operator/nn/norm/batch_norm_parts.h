/* BatchNorm's kernels with other arrays and parameters, for operators that are made of them. One
 * number per channel is float32 or float64. */
#ifndef MXNET_OPERATOR_NN_NORM_BATCH_NORM_PARTS_H_
#define MXNET_OPERATOR_NN_NORM_BATCH_NORM_PARTS_H_

#include <memory>

#include "operator/nn/norm/batch_norm.h"

namespace mxnet {
namespace nn {

/* The kernel of the operator `name`; null: the parameters stay. */
void RunBatchNorm(const char* name, const KernelArgs& args, Span<const TBlob> in, Span<const OpReq> req, Span<const TBlob> out,
                  std::shared_ptr<const BatchNormParam> param = nullptr);
/* Zeros like `like`, in workspace memory. */
TBlob ZerosLike(KernelArgs& args, const TBlob& like);
/* The batch's own mean and (biased) variance, into arrays from ZerosLike. Inputs as BatchNorm's. */
void BatchStatistics(KernelArgs& args, const TBlob& mean, const TBlob& var);
/* moving = momentum * moving + (1 - momentum) * batch */
void FollowBatch(KernelArgs& args, const TBlob& batch, const TBlob& moving);
/* inv = 1 / sqrt(var + eps) */
void InverseRoots(KernelArgs& args, const TBlob& var, const TBlob& inv);
void CopyChannels(const KernelArgs& args, const TBlob& from, const TBlob& to);

// ---- operators with BatchNorm's inputs whose channels are dimension 1 and whose output 2 is the
// ---- variance

/* The fields that arguments of such an operator have, too. */
template <typename Arguments>
void TakeArguments(const Arguments& given, BatchNormParam* p) {
  p->eps = static_cast<double>(given.eps), p->momentum = given.momentum, p->axis = 1, p->cudnn_off = false;
  p->fix_gamma = given.fix_gamma, p->use_global_stats = given.use_global_stats, p->output_mean_var = given.output_mean_var;
}
bool VarianceNormShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out);
/* Kernel of the gradient: ograd, data, gamma, moving_mean, moving_var, mean, var -> data_grad,
 * gamma_grad, beta_grad. */
void VarianceNormBackward(KernelArgs& args);
/* All of both records but texts, parameters and kernels. */
void SetVarianceNorm(Op& forward, Op& backward);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_NORM_BATCH_NORM_PARTS_H_
