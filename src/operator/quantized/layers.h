/* Convolution of 8-bit integers on the host. */
#ifndef MXNET_OPERATOR_QUANTIZED_LAYERS_H_
#define MXNET_OPERATOR_QUANTIZED_LAYERS_H_

#include "operator/quantized/quantized.h"
#include "operator/shared/conv_call.h"

namespace mxnet {
namespace quantized {

/* Zero points: of src, and of each filter or (`one`) of all; null: 0. */
struct ByteZeros {
  int src = 0;
  const int32_t* filters = nullptr;
  bool one = false;
};

/* `call` without bias: src is int8 or uint8 (call.dtype), weight int8, dst int32. Sums of (src -
 * zero) (weight - zero) are exact, and cut to int32; places outside of src add nothing. */
void ConvolveBytes(KernelArgs& args, const nn::ConvCall& call, const ByteZeros& zeros = {});

}  // namespace quantized
}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_LAYERS_H_
