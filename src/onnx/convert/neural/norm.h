/* Normalisation that several families make. */
#ifndef MXNET_ONNX_CONVERT_NEURAL_NORM_H_
#define MXNET_ONNX_CONVERT_NEURAL_NORM_H_

#include "onnx/convert/make.h"

namespace mxnet {
namespace onnx {

/* x * scale + bias, as far as there are any. */
Value WithScale(const Call& c, const Value& x, const Value& scale, const Value& bias);
/* Layer normalisation over all axes from `axis` on. */
Value NormRows(const Call& c, const Value& x, int axis, double epsilon, const Value& scale, const Value& bias);
/* 1 / sqrt(mean(x^2) + epsilon) over all axes from `axis` on, which stay with size 1. */
Value RootMeanSquare(const Call& c, const Value& x, int axis, double epsilon);

// Diffusion models.
void ConvertMicrosoftGroupNorm(Call& c);
void ConvertSkipGroupNorm(Call& c);
void ConvertBiasAdd(Call& c);

// Steps of optimizers.
void ConvertAdagrad(Call& c);
void ConvertAdam(Call& c);
void ConvertMomentum(Call& c);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_CONVERT_NEURAL_NORM_H_
