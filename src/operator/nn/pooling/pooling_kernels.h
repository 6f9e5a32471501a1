/* Pooling loops, compiled for several instruction sets. Plain types only: included by a
 * *_variants.cc file. */
#ifndef MXNET_OPERATOR_NN_POOLING_POOLING_KERNELS_H_
#define MXNET_OPERATOR_NN_POOLING_POOLING_KERNELS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"
#include "operator/nn/common/pool_dims.h"

namespace mxnet {
/*
 * Work items [begin, end): planes (batch x channels) in plain order; in channels-last order output
 * rows (batch x out[0] x out[1]) forward and (batch x blocks of kPoolChannelBlock channels)
 * backward and gathering. dtype: float32, float64, and forward max also int8 and uint8, and forward
 * max, avg and sum in channels-last order bfloat16 with a multiple of 8 channels. PoolGather is
 * PoolBackward transposed, of max and lp: out = sum over the window of u times the slope of the
 * result.
 */
constexpr int64_t kPoolChannelBlock = 64;
MXNET_CPU_DECLARE(void PoolForward(const nn::PoolDims& d, int dtype, bool channels_last, const void* x, void* y, int64_t begin,
                                   int64_t end);
                  void PoolBackward(const nn::PoolDims& d, int dtype, bool channels_last, const void* og, const void* x, const void* y,
                                    void* dx, int64_t begin, int64_t end);
                  void PoolGather(const nn::PoolDims& d, int dtype, bool channels_last, const void* u, const void* x, const void* y,
                                  void* out, int64_t begin, int64_t end);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_POOLING_POOLING_KERNELS_H_
