// What the operators of this folder need from programs of mixed precision, where it does not follow
// from their records.
#include "operator/precision.h"

namespace mxnet {
namespace {

MXNET_OP_PRECISION_IF(Activation, act_type, "softrelu");
MXNET_OPS_PRECISION(kFull, "CTCLoss");
MXNET_OPS_PRECISION(kFull, "GroupNorm", "InstanceNorm", "LRN");
MXNET_OPS_PRECISION(kFull, "LayerNorm");
MXNET_OP_PRECISION_IF(LeakyReLU, act_type, "elu,selu");
MXNET_OPS_PRECISION(kFull, "LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput", "SVMOutput");
MXNET_OPS_PRECISION(kFull, "softmax", "log_softmax", "softmin", "SoftmaxActivation", "masked_softmax", "masked_log_softmax");
MXNET_OPS_PRECISION(kFull, "SoftmaxOutput", "softmax_cross_entropy");

}  // namespace
}  // namespace mxnet
