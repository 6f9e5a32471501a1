/*
 * A convolution or dense layer on 8-bit integers with what follows it in a quantized graph: the sum
 * with another array, a relu, and the step back to 8 bits or to floats. One node made by the plan
 * compiler, and one pass over the result.
 */
#ifndef MXNET_OPERATOR_QUANTIZED_FUSED_FUSED_LAYER_H_
#define MXNET_OPERATOR_QUANTIZED_FUSED_FUSED_LAYER_H_

#include <optional>
#include <string>

#include "operator/quantized/layer_call.h"

namespace mxnet {
namespace quantized {

/* A range with the dtype of its integers. */
struct ByteRange {
  int dtype = kInt8;  // or uint8; float32: numbers, which have no range
  float low = 0, high = 0;
  bool halves = false;  // the larger magnitude is as many steps as Levels says, else WholeLevels
};

/* The result is relu(layer(data) + addend), in 8 bits or float32, as the addend is; or post of
 * that sum, where it is in float32 or there is none. */
struct FusedForm {
  ByteRange out, addend;
  /* Beside an addend of 8 bits: the layer gave integers of this range, which the sum took as those
   * of half steps. So its numbers are rounded before the addend comes. */
  std::optional<ByteRange> own;
  bool add = false, relu = false;
  nn::EpilogueOp post;
};

/* Is it a layer whose result is 32-bit sums? */
bool GivesSums(const Node& node);
/* What is fused already; nothing: it is no fused layer. */
std::optional<FusedForm> FusedFormOf(const Node& node);
/* `layer` gives sums or is fused already, and `form` is all that is to be fused. `addend`: integers
 * of that range, or null. Outputs are integers, minimum and maximum; or floats, and two numbers
 * that nobody reads. */
NodePtr FuseLayer(const Node& layer, const FusedForm& form, const NodeEntry* addend, const std::string& name);

/* Exact; false: not taken, and the result may hold the addend. Null where no library is linked, or
 * the processor adds bytes so that sums may saturate. */
extern bool (*g_fused_layer)(KernelArgs& args, const LayerCall& call);

}  // namespace quantized
}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_FUSED_FUSED_LAYER_H_
