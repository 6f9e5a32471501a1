/* Sizes and settings of a pooling, for kernels of all devices. */
#ifndef MXNET_OPERATOR_NN_COMMON_POOL_DIMS_H_
#define MXNET_OPERATOR_NN_COMMON_POOL_DIMS_H_

#include <cstdint>

namespace mxnet {
namespace nn {

enum PoolType : int { kPoolMax, kPoolAvg, kPoolSum, kPoolLp };

struct PoolDims {
  int64_t batch = 0, channels = 0;
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, pad[3] = {0, 0, 0};
  int type = kPoolMax;
  bool include_pad = true;
  int p = 2;
  int64_t InSize() const { return in[0] * in[1] * in[2]; }
  int64_t OutSize() const { return out[0] * out[1] * out[2]; }
};

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_COMMON_POOL_DIMS_H_
