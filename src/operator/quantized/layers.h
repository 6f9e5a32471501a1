/* Convolution of 8-bit integers on the host. */
#ifndef MXNET_OPERATOR_QUANTIZED_LAYERS_H_
#define MXNET_OPERATOR_QUANTIZED_LAYERS_H_

#include "operator/quantized/quantized.h"
#include "operator/shared/conv_call.h"

namespace mxnet {
namespace quantized {

/* `call` without bias: src is int8 or uint8 (call.dtype), weight int8, dst int32. Sums are exact,
 * and cut to int32. */
void ConvolveBytes(KernelArgs& args, const nn::ConvCall& call);

}  // namespace quantized
}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_LAYERS_H_
