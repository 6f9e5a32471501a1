/* Activations of networks as functions of the device's pointwise programs. */
#ifndef MXNET_OPERATOR_POINTWISE_GPU_ACTIVATION_H_
#define MXNET_OPERATOR_POINTWISE_GPU_ACTIVATION_H_

#include "operator/pointwise/gpu_functions.h"

namespace mxnet {
namespace pointwise {

/* The function of an nn::ActivationType: a row of the table where there is one, else a Function
 * whose row is at least kActivations. Parameter p is the slope. */
Function ActivationFunction(int type, bool gradient);
constexpr int kActivations = 1 << 16;

}  // namespace pointwise
}  // namespace mxnet
#endif  // MXNET_OPERATOR_POINTWISE_GPU_ACTIVATION_H_
