/* Convolution of 8-bit integers on the host. */
#ifndef MXNET_OPERATOR_QUANTIZED_LAYERS_H_
#define MXNET_OPERATOR_QUANTIZED_LAYERS_H_

#include "operator/quantized/quantized.h"
#include "operator/shared/conv_call.h"

namespace mxnet {
namespace quantized {

/* Largest magnitudes of the ranges of a layer's inputs, of which `arrays` have one. */
struct LayerRanges {
  float data, weight, bias = 0;
  LayerRanges(const KernelArgs& args, int arrays)
      : data(LargestIn(args.in[arrays], args.in[arrays + 1])), weight(LargestIn(args.in[arrays + 2], args.in[arrays + 3])) {
    if (arrays > 2) bias = LargestIn(args.in[arrays + 4], args.in[arrays + 5]);
  }
};

/* The bias of a layer in units of its sums, cut towards zero; null without one. One of 32 bits has
 * the range of 2^31 - 1. */
const int32_t* WideBias(KernelArgs& args, const LayerRanges& ranges, int arrays);

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
