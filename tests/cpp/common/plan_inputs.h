// What plans in tests are compiled for.
#ifndef MXNET_TESTS_CPP_PLAN_INPUTS_H_
#define MXNET_TESTS_CPP_PLAN_INPUTS_H_

#include "mxnet/op.h"

namespace mxnet {

/* Inputs of these shapes and one dtype. */
inline TensorTypes InputsOf(const ShapeVector& shapes, int dtype) {
  TensorTypes inputs;
  for (const Shape& shape : shapes) inputs.emplace_back(shape, dtype);
  return inputs;
}

}  // namespace mxnet
#endif  // MXNET_TESTS_CPP_PLAN_INPUTS_H_
