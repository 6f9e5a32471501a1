/* Inference of a backward node from that of its layer. */
#ifndef MXNET_OPERATOR_NN_COMMON_BACKWARD_SHAPE_H_
#define MXNET_OPERATOR_NN_COMMON_BACKWARD_SHAPE_H_

#include <utility>

#include "mxnet/op.h"

namespace mxnet {
namespace nn {

/* Of (ograd, inputs...) -> the gradients of the first inputs: every shape is one that `forward` of
 * one output accepts. */
inline InferShapeFn BackwardShape(InferShapeFn forward) {
  return [forward = std::move(forward)](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
    ShapeVector inputs(in->begin() + 1, in->end()), outputs(1, (*in)[0]);
    for (size_t i = 0; i < out->size(); ++i) AssignShape(attrs, "gradient", &inputs[i], (*out)[i]);
    const bool known = forward(attrs, &inputs, &outputs);
    (*in)[0] = outputs[0];
    for (size_t i = 0; i < inputs.size(); ++i) (*in)[i + 1] = inputs[i];
    for (size_t i = 0; i < out->size(); ++i) AssignShape(attrs, "gradient", &(*out)[i], inputs[i]);
    return known && (*in)[0].known();
  };
}

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_COMMON_BACKWARD_SHAPE_H_
