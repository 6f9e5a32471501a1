/* A convolution, as all libraries and kernels that compute one are told it. */
#ifndef MXNET_OPERATOR_SHARED_CONV_CALL_H_
#define MXNET_OPERATOR_SHARED_CONV_CALL_H_

#include <cstdint>

#include "mxnet/base.h"
#include "operator/shared/epilogue_op.h"

namespace mxnet {
namespace nn {

/* A convolution of 3 spatial dimensions; 1-D and 2-D ones have leading dimensions of size 1. */
struct ConvDims {
  int64_t batch = 0, channels = 0, filters = 0, groups = 1;  // channels of src, channels of dst
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, dilate[3] = {1, 1, 1}, pad[3] = {0, 0, 0};
  int64_t InSize() const { return in[0] * in[1] * in[2]; }
  int64_t OutSize() const { return out[0] * out[1] * out[2]; }
  int64_t KernelSize() const { return kernel[0] * kernel[1] * kernel[2]; }
};

/* A tensor in one of two memory orders: N,C,spatial or N,spatial,C; for weights O,I,spatial or
 * O,spatial,I. */
struct Ordered {
  void* ptr = nullptr;
  bool channels_last = false;
};

enum class ConvPass : int { kForward, kBackwardData, kBackwardWeights };

/* kForward: src, weight, bias -> dst. kBackwardData: dst, weight -> src. kBackwardWeights: src, dst
 * -> weight, bias. */
struct ConvCall {
  ConvPass pass = ConvPass::kForward;
  ConvDims dims;
  int dtype = kFloat32;
  Ordered src, weight, dst;
  void* bias = nullptr;
  bool wide_bias = false;   // float32, where dtype is a 16-bit one
  int weight_input = -1;    // which input of the operator `weight` is, for its version; -1: do not keep packed weights
  bool accumulate = false;  // kForward, hooks only: dst = post(dst + result)
  EpilogueOp post;
};

/* Do rows of an image's results, of this width, fill vectors better than so few filters do? Its
 * convolution in steps of 1 along the rows is best on planes then. */
bool RowsFillVectors(int64_t channels, int64_t filters, int64_t width);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_SHARED_CONV_CALL_H_
