/* Sums of a depthwise convolution of bytes whose channels lie beside each other. */
#ifndef MXNET_OPERATOR_QUANTIZED_DEPTHWISE_BYTES_H_
#define MXNET_OPERATOR_QUANTIZED_DEPTHWISE_BYTES_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {

/*
 * One output place: sums[c] = the sum over `taps` of (bytes[t][c] - zero) * weights[t * channels +
 * c]. `bytes`: where the channels of each tap that is inside begin, uint8 or int8; `tap`: which one
 * it is. `count`: taps inside.
 */
MXNET_CPU_DECLARE(void DepthwisePlace(const void* const* bytes, const int* tap, int count, bool is_unsigned, int zero,
                                      const int16_t* weights, int64_t channels, int32_t* sums);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_DEPTHWISE_BYTES_H_
