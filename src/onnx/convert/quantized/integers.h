/* Layers and others on quantized numbers: one operator on integers where there is one, else the
 * same in floats. */
#ifndef MXNET_ONNX_CONVERT_QUANTIZED_INTEGERS_H_
#define MXNET_ONNX_CONVERT_QUANTIZED_INTEGERS_H_

#include <limits>

#include "onnx/convert/quantized/quantized.h"

namespace mxnet {
namespace onnx {

/* Numbers with what they stand for; of a result only scale and zero. `scale` none: of numbers, 1;
 * of a result, floats. `zero` none: 0. */
struct Quantity {
  Value numbers, scale, zero;
  bool given() const { return scale.kind != Value::kNone; }
};
/* Inputs first, first + 1, first + 2. */
Quantity ReadQuantity(const Call& c, int first);
/* A result, from inputs first and first + 1. */
Quantity ReadSteps(const Call& c, int first);
/* The dtype of a result, that of its zero point or `otherwise`. */
int DTypeOf(const Quantity& y, int otherwise);

struct LayerForm {
  Quantity x, w, y;          // the weight has filters first; its scales are one number, or one for each filter
  Value bias;                // floats for each filter, or none
  Value more;                // floats that are added to a result in floats, or none
  Quantity addend, between;  // `between`: what the layer is rounded to before the addend
  bool bias_last = false;    // and before the bias
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  int dtype = kUint8;  // of a result in steps
  bool sums = false;   // the result is int32, without scales
};

/* By an operator on integers; none: there is none for this form. */
Value IntegerConvolution(const Call& c, const LayerForm& f, const Window& window, int64_t groups);
Value IntegerDense(const Call& c, const LayerForm& f);
/* A dense layer with a weight (input, output) that is known, in floats; none: there is no operator
 * for the form. */
Value DenseInFloats(const Call& c, const Quantity& x, const Quantity& w, const Value& bias);
/* Of two arrays in steps, whose result is floats where `y` is none. */
Value IntegerProduct(const Call& c, const Quantity& a, const Quantity& b, const Quantity& y, int dtype);
/* In floats: what a layer gives before its bias (or none), then the rest of the form. */
Value FinishFloats(const Call& c, const LayerForm& f, Value y, const Value& bias = {});
Value StepsOf(const Call& c, const Value& y, const Quantity& steps, int dtype);
/* A sum or product of two arrays in steps. */
struct PairForm {
  bool multiply = false;
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  bool zero_first = false;  // the zero point is added before the rounding, which matters where that is a tie
};
Value PairInSteps(const Call& c, const Quantity& a, const Quantity& b, const Quantity& y, int dtype, const PairForm& form);
/* Floats in steps whose zero point is added first. */
Value StepsZeroFirst(const Call& c, const Value& y, const Quantity& steps, int dtype);
/* The mean over the spatial axes. */
Value MeanInSteps(const Call& c, const Quantity& x, const Quantity& y, int dtype);
/* Any function of one number; `f` is called with floats. */
Value FunctionInSteps(const Call& c, const Quantity& x, const Quantity& y, int dtype, const std::function<Value(const Value&)>& f);

const Rules& IntegerRules();  // of nodes that take the place of others (onnx/integers.h)

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_CONVERT_QUANTIZED_INTEGERS_H_
