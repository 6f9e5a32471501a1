/*
 * A convolution or dense layer on 8-bit integers with what follows it in a quantized graph: the sum
 * with another array, a relu, and the step back to 8 bits. One node made by the plan compiler, and
 * one pass over the result.
 */
#ifndef MXNET_OPERATOR_QUANTIZED_FUSED_FUSED_LAYER_H_
#define MXNET_OPERATOR_QUANTIZED_FUSED_FUSED_LAYER_H_

#include <optional>
#include <string>

#include "mxnet/kernel_args.h"
#include "operator/shared/conv_call.h"

namespace mxnet {
namespace quantized {

/* A range with the dtype of its integers. */
struct ByteRange {
  int dtype = kInt8;  // or uint8
  float low = 0, high = 0;
};

/* The result is relu(layer(data) + addend), in 8 bits. */
struct FusedForm {
  ByteRange out, addend;
  bool add = false, relu = false;
};

/* Is it a layer whose result is 32-bit sums? */
bool GivesSums(const Node& node);
/* What is fused already; nothing: it is no fused layer. */
std::optional<FusedForm> FusedFormOf(const Node& node);
/* `layer` gives sums or is fused already, and `form` is all that is to be fused. `addend`: integers
 * of that range, or null. Outputs are integers, minimum and maximum. */
NodePtr FuseLayer(const Node& layer, const FusedForm& form, const NodeEntry* addend, const std::string& name);

/* Integers of a range with a zero point: value = (number - zero) * step. */
struct Affine {
  int dtype = kInt8;
  float step = 1;
  int zero = 0;
};

/* The same as libraries are told it. A dense layer has one place: dims.in and dims.out are 1. */
struct LayerCall {
  nn::ConvDims dims;
  bool dense = false;
  int src_type = kInt8, dst_type = kInt8;
  nn::Ordered src, weight, dst;
  const float* bias = nullptr;            // as numbers
  float scale = 1;                        // what the product of 1 and 1 stands for
  float dst_step = 1;                     // what 1 in the result stands for
  bool accumulate = false, relu = false;  // accumulate: dst holds the addend before
  int addend_type = kInt8;
  float addend_step = 1;
  // ---- of layers whose integers have zero points (integer_layer.cc)
  int src_zero = 0, dst_zero = 0, addend_zero = 0;
  const float* scales = nullptr;  // in place of `scale`: one for each filter
  bool cuts = false;              // the result lies in [low, high]
  float low = 0, high = 0;
  std::optional<Affine> between;  // the product is rounded to these integers before the addend comes
  bool bias_last = false;         // and before the bias does
};
/* Exact; false: not taken. Null where no library is linked, or the processor adds bytes so that sums
 * may saturate. */
extern bool (*g_fused_layer)(KernelArgs& args, const LayerCall& call);

}  // namespace quantized
}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_FUSED_FUSED_LAYER_H_
