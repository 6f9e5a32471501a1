// Quantized operators that onnxruntime's quantizers write.
#include <algorithm>
#include <functional>

#include "onnx/builder.h"
#include "onnx/convert/quantized/integers.h"
#include "onnx/convert/recurrent/recurrent.h"

namespace mxnet {
namespace onnx {

namespace {

Value One(const Call& c, const Value& v) { return v.kind == Value::kNone || v.size() != 1 ? v : c.Reshape(v, Shape(0)); }

/* Number, scale and zero point in three inputs from `first` on. */
Value ReadValue(const Call& c, int first) {
  return Dequantized(c, c.in(first), One(c, c.in(first + 1)), One(c, OptionalInput(c, first + 2)));
}

Value Requantized(const Call& c, const Value& y, int scale, int zero, int otherwise) {
  const Value z = One(c, OptionalInput(c, zero));
  return Quantized(c, y, One(c, c.in(scale)), z, z.kind == Value::kNone ? otherwise : z.dtype());
}

}  // namespace

// QLinearAdd, QLinearMul and QLinearAveragePool are defined with the zero point in the sum that is
// rounded, the others with it behind the rounding.

void ConvertQLinearBinary(Call& c) {
  const Quantity y = ReadSteps(c, 6);
  PairForm form;
  form.multiply = std::string(c.argument) == "multiply", form.zero_first = true;
  c.Out(PairInSteps(c, ReadQuantity(c, 0), ReadQuantity(c, 3), y, DTypeOf(y, c.in(0).dtype()), form));
}

void ConvertQLinearUnary(Call& c) {
  const Quantity y = ReadSteps(c, 3);
  const bool sigmoid = std::string(c.argument) == "sigmoid";
  const double slope = sigmoid ? 0 : static_cast<double>(c.Attr("alpha", 0.01f));
  c.Out(FunctionInSteps(c, ReadQuantity(c, 0), y, DTypeOf(y, c.in(0).dtype()), [&](const Value& x) {
    if (sigmoid) return Sigmoid(c, x);
    return Add(c, BinaryNumber(c, "maximum", x, 0), MulNumber(c, BinaryNumber(c, "minimum", x, 0), slope));
  }));
}

/* `opset`: that of the Softmax it stands for; before 13 all axes from `axis` on were one row. */
void ConvertQLinearSoftmax(Call& c) {
  CheckRank(c, 0, 1, 32);
  const Value x = ReadValue(c, 0);
  const bool rows = c.Attr("opset", int64_t{13}) < 13;
  const int axis = c.Axis(c.Attr("axis", int64_t{-1}), x.ndim());
  const Value flat = rows ? c.Reshape(x, Shape{x.shape().Prod(0, axis), x.shape().Prod(axis, x.ndim())}) : x;
  const Value y = c.Op("softmax", {flat}, {{"axis", rows ? "-1" : Text(axis)}});
  c.Out(Requantized(c, c.Reshape(y, x.shape()), 3, 4, c.in(0).dtype()));
}

namespace {

/* Runs `f` on input 0 with its channels first, and gives the result in the order of the input. */
void InChannelsFirst(Call& c, const std::function<Value(const Value&)>& f) {
  const Value& x = c.in(0);
  if (c.Attr("channels_last", int64_t{0}) == 0) return c.Out(f(x));
  c.Out(ChannelsLast(c, f(ChannelsFirst(c, x))));
}

}  // namespace

void ConvertQLinearGlobalPool(Call& c) {
  CheckRank(c, 0, 3, 32);
  const Quantity y = ReadSteps(c, 3);
  Quantity x = ReadQuantity(c, 0);
  InChannelsFirst(c, [&](const Value& numbers) {
    x.numbers = numbers;
    return MeanInSteps(c, x, y, DTypeOf(y, numbers.dtype()));
  });
}

void ConvertQLinearAveragePool(Call& c) {
  CheckRank(c, 0, 3, 5);
  const Quantity y = ReadSteps(c, 3);
  InChannelsFirst(c, [&](const Value& x) {
    const Value floats = Dequantized(c, x, One(c, c.in(1)), One(c, OptionalInput(c, 2)));
    return StepsZeroFirst(c, Averages(c, floats), y, DTypeOf(y, x.dtype()));
  });
}

void ConvertQLinearWhere(Call& c) {  // condition, then three inputs for each side, then the steps of the result
  c.Out(Requantized(c, Where(c, c.in(0), ReadValue(c, 1), ReadValue(c, 4)), 7, 8, c.in(1).dtype()));
}

void ConvertQLinearConcat(Call& c) {  // scale, zero point, then three inputs for each part
  if (c.num_inputs() < 5 || (c.num_inputs() - 2) % 3)
    c.Refuse("there are " + Text(c.num_inputs()) + " inputs; accepted are 2 and 3 for each part");
  const Quantity y = ReadSteps(c, 0);
  const int dtype = DTypeOf(y, c.in(2).dtype());
  std::vector<Value> parts;  // in steps of the result: what is put together are bytes, not floats
  for (int i = 2; i < c.num_inputs(); i += 3)
    parts.push_back(FunctionInSteps(c, ReadQuantity(c, i), y, dtype, [](const Value& v) { return v; }));
  c.Out(Concat(c, parts, c.Axis(c.Attr("axis", int64_t{0}), parts[0].ndim())));
}

void ConvertQGemm(Call& c) {  // A, its scale and zero, B, its scale and zero, C (int32), scale and zero of the result
  CheckRank(c, 0, 2, 2);
  CheckRank(c, 3, 2, 2);
  const Value a = c.Attr("transA", int64_t{0}) ? c.Transpose(c.in(0), {1, 0}) : c.in(0);
  const Value b = c.Attr("transB", int64_t{0}) ? c.Transpose(c.in(3), {1, 0}) : c.in(3);
  const double alpha = static_cast<double>(c.Attr("alpha", 1.0f));
  const bool bias_fits = !c.has(6) || (c.in(6).size() == b.shape()[1] && (c.in(6).ndim() == 1 || c.in(6).shape()[0] == 1));
  if (alpha == 1 && bias_fits && c.in(1).size() == 1 && c.in(1).dtype() == kFloat32 && c.in(4).dtype() == kFloat32) {
    LayerForm f;
    f.x = {a, c.in(1), OptionalInput(c, 2)}, f.w = {c.Transpose(b, {1, 0}), c.in(4), OptionalInput(c, 5)};
    f.y = ReadSteps(c, 7), f.dtype = DTypeOf(f.y, a.dtype());
    const auto flat = [&](int i) { return c.Reshape(c.in(i), Shape{c.in(i).size()}); };
    if (c.has(6)) f.bias = Mul(c, c.Cast(flat(6), kFloat32), Mul(c, flat(1), flat(4)));
    const Value y = IntegerDense(c, f);
    if (y.kind != Value::kNone) return c.Out(y);
  }
  Value sums = IntProduct(c, a, OptionalInput(c, 2), b, OptionalInput(c, 5));
  if (c.has(6)) sums = Add(c, sums, c.in(6));
  const Value scale = MulNumber(c, Mul(c, One(c, c.in(1)), One(c, c.in(4))), alpha);
  const Value y = Mul(c, c.Cast(sums, scale.dtype()), scale);
  c.Out(c.has(7) ? Requantized(c, y, 7, 8, a.dtype()) : y);
}

Value DenseInFloats(const Call& c, const Quantity& x, const Quantity& w, const Value& bias) {
  const bool has_bias = bias.kind != Value::kNone;
  if (!w.numbers.known() || w.numbers.ndim() != 2 || (has_bias && bias.size() != w.numbers.shape()[1])) return Value();
  LayerForm f;
  f.x = x, f.w = {c.Transpose(w.numbers, {1, 0}), w.scale, w.zero};
  if (has_bias) f.bias = c.Reshape(bias, Shape{bias.size()});
  return IntegerDense(c, f);
}

void ConvertDynamicQuantizeMatMul(Call& c) {  // A, B, its scale and zero, bias
  const DynamicResult a = DynamicQuantized(c, c.in(0));
  const Value dense = DenseInFloats(c, {a.y, a.scale, a.zero}, ReadQuantity(c, 1), OptionalInput(c, 4));
  if (dense.kind != Value::kNone) return c.Out(dense);
  const Value sums = IntProduct(c, a.y, a.zero, c.in(1), OptionalInput(c, 3));
  const Value y = Mul(c, c.Cast(sums, kFloat32), Mul(c, a.scale, One(c, c.in(2))));
  c.Out(c.has(4) ? Add(c, y, c.in(4)) : y);
}

void ConvertMatMulIntegerToFloat(Call& c) {  // A, B, their scales, their zeros, bias
  const Value &as = c.in(2), &bs = c.in(3), bias = OptionalInput(c, 6);
  const Quantity a{c.in(0), as, OptionalInput(c, 4)}, b{c.in(1), bs, OptionalInput(c, 5)};
  const Value dense = DenseInFloats(c, a, b, bias);
  if (dense.kind != Value::kNone) return c.Out(dense);
  Value y = as.dtype() == kFloat32 ? IntegerProduct(c, a, b, {}, kFloat32) : Value();
  if (y.kind == Value::kNone) {
    const Value rows = as.size() > 1 && as.ndim() == 1 ? c.Reshape(as, Shape{as.size(), 1}) : One(c, as);
    y = Mul(c, c.Cast(IntProduct(c, a.numbers, a.zero, b.numbers, b.zero), as.dtype()), Mul(c, rows, One(c, bs)));
  }
  c.Out(bias.kind != Value::kNone ? Add(c, y, bias) : y);
}

namespace {

/* Scale or zero point of W or R (directions, rows, columns): one for each direction or column;
 * kNone where it has another size. */
Value OfColumns(const Call& c, const Value& v, const Value& weight) {
  const int64_t directions = weight.shape()[0], columns = weight.shape()[2];
  if (v.size() == directions) return c.Reshape(v, Shape{directions});
  return v.size() == directions * columns ? c.Reshape(v, Shape{directions, columns}) : Value();
}

/* The layer in integers; false: it has what that operator does not compute. */
bool IntegerLstm(Call& c, const Recurrent& layer) {
  const Value &w = c.in(1), &r = c.in(2);
  const bool bytes = (w.dtype() == kInt8 || w.dtype() == kUint8) && (r.dtype() == kInt8 || r.dtype() == kUint8);
  if (!bytes || layer.x.dtype() != kFloat32 || !HasOperator(layer) || layer.steps == 0 || layer.batch == 0) return false;
  const auto zero = [&](int i, const Value& weight) {
    return c.has(i) ? OfColumns(c, c.in(i), weight) : c.Filled(Shape{layer.directions}, weight.dtype(), 0);
  };
  std::vector<Value> operands = {layer.x, w, r, OfColumns(c, c.in(8), w), zero(9, w), OfColumns(c, c.in(10), r), zero(11, r), layer.b};
  if (layer.b.kind == Value::kNone) operands[7] = c.Filled(Shape{layer.directions, 2 * layer.gates * layer.hidden}, kFloat32, 0);
  for (int i : {3, 4, 5, 6})
    if (operands[static_cast<size_t>(i)].kind == Value::kNone) return false;
  operands.push_back(layer.h), operands.push_back(layer.c);
  constexpr int64_t kMost = 8192;  // of _integer_lstm
  if (layer.input > kMost || layer.hidden > kMost) return false;
  const bool lengths = layer.lengths.kind != Value::kNone;
  if (lengths) operands.push_back(layer.lengths);
  const std::vector<Value> made = c.Ops("_integer_lstm", operands,
                                        {{"state_size", Text(layer.hidden)},
                                         {"bidirectional", Text(layer.directions == 2)},
                                         {"reverse", Text(layer.reverse)},
                                         {"use_sequence_length", Text(lengths)}});
  GiveResult(c, layer, {made[0], made[1], made[2]});
  return true;
}

}  // namespace

/* W (directions, input, 4 * hidden) and R in 8 bits, scales and zero points behind LSTM's inputs.
 * What the operator on integers does not compute is done in floats, and so is what is trained. */
void ConvertDynamicQuantizeLSTM(Call& c) {
  CheckRank(c, 1, 3, 3);
  CheckRank(c, 2, 3, 3);
  const auto turned = [&](const Value& w) {
    Value shape = w;  // for its sizes alone
    shape.type.shape = Shape{w.shape()[0], w.shape()[2], w.shape()[1]};
    return shape;
  };
  Recurrent layer = ReadRecurrent(c, Recurrent::kLstm, turned(c.in(1)), turned(c.in(2)));
  if (!c.ForTraining() && IntegerLstm(c, layer)) return;
  const auto weight = [&](int i, int scale, int zero) {
    const Value& w = c.in(i);
    const auto broad = [&](const Value& v) {
      if (v.kind == Value::kNone || v.size() == 1) return One(c, v);
      if (v.size() == w.shape()[0]) return c.Reshape(v, Shape{w.shape()[0], 1, 1});
      return c.Reshape(v, Shape{w.shape()[0], 1, w.shape()[2]});
    };
    return c.Transpose(Dequantized(c, w, broad(c.in(scale)), broad(OptionalInput(c, zero))), {0, 2, 1});
  };
  layer.w = weight(1, 8, 9), layer.r = weight(2, 10, 11);
  GiveRecurrent(c, layer);
}

}  // namespace onnx
}  // namespace mxnet
