/* A layer on 8-bit integers whose sums become numbers at once. */
#ifndef MXNET_OPERATOR_QUANTIZED_LAYER_CALL_H_
#define MXNET_OPERATOR_QUANTIZED_LAYER_CALL_H_

#include <optional>

#include "mxnet/kernel_args.h"
#include "operator/shared/conv_call.h"
#include "operator/shared/epilogue_op.h"

namespace mxnet {
namespace quantized {

/* Integers of a range with a zero point: value = (number - zero) * step. */
struct Affine {
  int dtype = kInt8;
  float step = 1;
  int zero = 0;
};

/* A convolution or dense layer on 8-bit integers with what follows it, as all kernels and libraries
 * that compute one are told it. A dense layer has one place: dims.in and dims.out are 1. */
struct LayerCall {
  nn::ConvDims dims;
  bool dense = false;
  int src_type = kInt8, dst_type = kInt8;
  nn::Ordered src, weight, dst;
  const float* bias = nullptr;            // as numbers
  float scale = 1;                        // what the product of 1 and 1 stands for
  float dst_step = 1;                     // what 1 in the result stands for
  bool accumulate = false, relu = false;  // accumulate: an addend comes to the sums
  const TBlob* addend = nullptr;          // g_fused_layer only: it, which may be the result
  int addend_type = kInt8;
  float addend_step = 1;
  nn::EpilogueOp post;  // behind the sum; not beside relu
  // ---- of layers whose integers have zero points
  int src_zero = 0, dst_zero = 0, addend_zero = 0;
  const float* scales = nullptr;  // in place of `scale`: one for each filter
  bool cuts = false;              // the result lies in [low, high]
  float low = 0, high = 0;
  std::optional<Affine> between;  // the product is rounded to these integers before the addend comes
  bool bias_last = false;         // and before the bias does
};

}  // namespace quantized
}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_LAYER_CALL_H_
