#include "onnx/convert/quantized/integers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "onnx/builder.h"

namespace mxnet {
namespace onnx {
namespace {

bool IsBytes(const Value& v) { return v.kind == Value::kTensor && (v.dtype() == kInt8 || v.dtype() == kUint8); }

Value One(const Call& c, const Value& v) { return v.kind == Value::kNone || v.size() != 1 ? v : c.Reshape(v, Shape(0)); }

/* A scale and a zero point that are known and one number each. */
bool KnownSteps(const Quantity& q, double* scale, double* zero) {
  *zero = 0;
  return q.scale.kind == Value::kTensor && q.scale.dtype() == kFloat32 && IsNumber(q.scale, scale) && *scale > 0 && std::isfinite(*scale) &&
         (q.zero.kind == Value::kNone || IsNumber(q.zero, zero));
}

/* One number of float32, and one zero point of a byte or int32, known or not. */
bool OneStep(const Quantity& q) {
  const auto& z = q.zero;
  return (q.scale.kind == Value::kNone || (q.scale.dtype() == kFloat32 && q.scale.size() == 1)) &&
         (z.kind == Value::kNone || (z.size() == 1 && (IsBytes(z) || z.dtype() == kInt32)));
}

void PutSteps(const char* prefix, double scale, double zero, AttrDict* attrs) {
  (*attrs)[prefix + std::string("_scale")] = Text(scale);
  (*attrs)[prefix + std::string("_zero")] = Text(static_cast<int64_t>(zero));
}

void PutBounds(double low, double high, AttrDict* attrs) {
  if (std::isfinite(low)) (*attrs)["low"] = Text(low);
  if (std::isfinite(high)) (*attrs)["high"] = Text(high);
}

/* The result's form as parameters; false: it is not known. */
bool PutResult(const Quantity& y, int dtype, AttrDict* attrs) {
  double scale, zero;
  if (!y.given()) return (*attrs)["out_type"] = "float32", true;
  if (!KnownSteps(y, &scale, &zero) || (dtype != kInt8 && dtype != kUint8)) return false;
  PutSteps("out", scale, zero, attrs);
  (*attrs)["out_type"] = DTypeName(dtype);
  return true;
}

/* A weight as int8: numbers, or their sum with `rest`; else with zero points, int32. */
struct SignedNumbers {
  Value numbers, rest, zero;
};

/* The least and the largest of n > 0 bytes, in blocks and without references, so that compilers
 * make vectors of it. */
std::pair<int8_t, int8_t> EndsOf(const int8_t* at, int64_t n) {
  constexpr int kBlock = 64;
  int8_t low[kBlock], high[kBlock];
  std::fill_n(low, kBlock, at[0]), std::fill_n(high, kBlock, at[0]);
  const auto take = [&](int count) {
    for (int i = 0; i < count; ++i) low[i] = at[i] < low[i] ? at[i] : low[i], high[i] = at[i] > high[i] ? at[i] : high[i];
  };
  for (; n >= kBlock; n -= kBlock, at += kBlock) take(kBlock);
  take(static_cast<int>(n));
  return {*std::min_element(low, low + kBlock), *std::max_element(high, high + kBlock)};
}

/* The least and the largest of int8 weights less the zero points of their filters. Stored ones are
 * read for this, and are no more in memory then than before. */
std::pair<int64_t, int64_t> RangeOf(const Call& c, const Value& numbers, const Value& zero) {
  FoldedWeights* const folded = c.builder()->folded();
  const std::vector<NDArray> of{numbers.array, zero.array};
  if (const auto found = folded->Find("range", of); !found.empty()) {
    const std::vector<int64_t> range = IntsIn(found[0]);
    return {range[0], range[1]};
  }
  const std::vector<uint8_t> bytes = BytesOf(numbers.array);
  const auto* at = reinterpret_cast<const int8_t*>(bytes.data());
  const std::vector<int64_t> zeros = IntegersOf(zero);
  const int64_t rows = static_cast<int64_t>(zeros.size()), each = numbers.size() / rows;
  int64_t least = std::numeric_limits<int64_t>::max(), most = std::numeric_limits<int64_t>::min();
  for (int64_t r = 0; r < rows; ++r, at += each) {
    const auto [low, high] = EndsOf(at, each);
    least = std::min<int64_t>(least, low - zeros[r]);
    most = std::max<int64_t>(most, high - zeros[r]);
  }
  folded->Put("range", of, {c.IntTensor({least, most}).array});
  return {least, most};
}

/*
 * Bytes without sign are moved by 128. A zero point goes into the numbers where these stay bytes.
 * Else it stays apart, or, in layers of several groups, what does not fit is a second weight: no
 * fast kernel of those takes zero points.
 */
SignedNumbers SignedWeight(const Call& c, const Quantity& w, bool in_groups) {
  SignedNumbers s;
  Value zero = w.zero;
  s.numbers = w.numbers;
  MakeSigned(c, &s.numbers, &zero);
  if (IsZero(zero)) return s;
  const Value wide = c.Cast(zero, kInt32);
  s.zero = c.Reshape(wide, Shape{wide.size()});
  if (!s.zero.known()) return s;
  const auto [least, most] = RangeOf(c, s.numbers, wide);
  const bool fits = least >= -128 && most <= 127;
  if (!fits && (!in_groups || most > 127 + 127)) return s;
  Sizes dims(static_cast<size_t>(s.numbers.ndim()), 1);
  dims[0] = wide.size();
  const Value moved = Sub(c, c.Cast(s.numbers, kInt32), c.Reshape(wide, Shape(dims)));
  const Value cut = fits ? moved : Clip(c, moved, -128, 127);
  s.numbers = c.Cast(cut, kInt8), s.zero = Value();
  if (!fits) s.rest = c.Cast(Sub(c, moved, cut), kInt8);
  return s;
}

/* Are operands of the kinds that operators on integers take? */
bool AreIntegers(const LayerForm& f) {
  const Value& w = f.w.numbers;
  if (!IsBytes(f.x.numbers) || !IsBytes(w) || !w.known() || w.ndim() < 2 || w.size() == 0 || f.x.numbers.empty() || !OneStep(f.x))
    return false;
  const int64_t filters = w.shape()[0];
  const auto each = [&](const Value& v) { return v.kind == Value::kNone || v.size() == 1 || (v.ndim() == 1 && v.size() == filters); };
  if (!each(f.w.scale) || !each(f.w.zero) || (f.w.zero.kind != Value::kNone && !IsBytes(f.w.zero))) return false;
  if (f.w.given() && f.w.scale.dtype() != kFloat32) return false;
  return f.bias.kind == Value::kNone || (f.bias.size() == filters && f.bias.dtype() == kFloat32);
}

/* Operands and parameters that both layers have; false: there is no operator for the form. */
bool PutLayer(const Call& c, const LayerForm& f, const SignedNumbers& w, std::vector<Value>* operands, AttrDict* attrs) {
  if (f.sums)
    (*attrs)["out_type"] = "int32";
  else if (!PutResult(f.y, f.dtype, attrs))
    return false;
  double scale, zero;
  if (f.addend.given()) {
    if (!IsBytes(f.addend.numbers) || !f.y.given() || !KnownSteps(f.addend, &scale, &zero)) return false;
    (*attrs)["with_addend"] = "True";
    (*attrs)["addend_type"] = DTypeName(f.addend.numbers.dtype());
    PutSteps("addend", scale, zero, attrs);
  }
  if (f.between.given()) {
    if (!KnownSteps(f.between, &scale, &zero)) return false;
    (*attrs)["between_type"] = DTypeName(DTypeOf(f.between, kUint8));
    PutSteps("between", scale, zero, attrs);
    (*attrs)["bias_last"] = Text(f.bias_last);
  }
  PutBounds(f.low, f.high, attrs);
  const int64_t filters = w.numbers.shape()[0];
  (*attrs)["num_filter"] = Text(filters);
  const auto flat = [&](const Value& v) {
    return v.kind == Value::kNone ? c.Filled(Shape{1}, kFloat32, 1) : c.Reshape(v, Shape{v.size()});
  };
  const Value steps = !f.w.given() ? flat(f.x.scale) : !f.x.given() ? flat(f.w.scale) : Mul(c, flat(f.x.scale), flat(f.w.scale));
  const Value bias = f.bias.kind == Value::kNone ? c.Filled(Shape{filters}, kFloat32, 0) : c.Reshape(f.bias, Shape{filters});
  const Value x_zero = f.x.zero.kind == Value::kNone ? c.Filled(Shape{1}, kInt32, 0) : f.x.zero;
  *operands = {f.x.numbers, w.numbers, steps, x_zero, bias};
  if (w.zero.kind != Value::kNone) operands->push_back(w.zero), (*attrs)["with_weight_zero"] = "True";
  if (f.addend.given()) operands->push_back(f.addend.numbers);
  if (f.more.kind != Value::kNone) {
    operands->push_back(f.more);
    (*attrs)["with_addend"] = "True", (*attrs)["addend_type"] = DTypeName(f.more.dtype());
  }
  return true;
}

Value Layer(const Call& c, const char* op, const LayerForm& f, const AttrDict& window, bool in_groups) {
  if (!AreIntegers(f)) return Value();
  SignedNumbers w = SignedWeight(c, f.w, in_groups);
  std::vector<Value> operands;
  AttrDict attrs = window;
  if (w.rest.kind == Value::kNone) return PutLayer(c, f, w, &operands, &attrs) ? c.Op(op, operands, attrs) : Value();
  // The products with both weights one after the other, and the rest of the form in floats.
  LayerForm part;
  part.x = f.x, part.w = f.w, part.sums = f.sums;
  if (!PutLayer(c, part, w, &operands, &attrs)) return Value();
  const Value first = c.Op(op, operands, attrs);
  w.numbers = w.rest, part.more = first;
  const bool whole = !f.y.given() && !f.addend.given() && !f.between.given() && f.more.kind == Value::kNone;
  if (whole) part.low = f.low, part.high = f.high;
  if (!f.bias_last) part.bias = f.bias;
  attrs = window;
  if (!PutLayer(c, part, w, &operands, &attrs)) return Value();
  const Value y = c.Op(op, operands, attrs);
  if (whole || f.sums) return y;
  Value bias;
  if (f.bias_last && f.bias.kind != Value::kNone)
    bias = y.ndim() > 2 && std::string(op) == "_integer_convolution" ? AlongAxis(c, f.bias, 1, y.ndim()) : f.bias;
  return FinishFloats(c, f, y, bias);
}

}  // namespace

Quantity ReadQuantity(const Call& c, int first) { return {c.in(first), OptionalInput(c, first + 1), OptionalInput(c, first + 2)}; }
Quantity ReadSteps(const Call& c, int first) { return {Value(), OptionalInput(c, first), OptionalInput(c, first + 1)}; }
int DTypeOf(const Quantity& y, int otherwise) { return y.zero.kind == Value::kNone ? otherwise : y.zero.dtype(); }

Value IntegerConvolution(const Call& c, const LayerForm& f, const Window& window, int64_t groups) {
  return Layer(c, "_integer_convolution", f,
               {{"kernel", Text(window.kernel)},
                {"stride", Text(window.stride)},
                {"dilate", Text(window.dilate)},
                {"pad", Text(window.before)},
                {"pad_end", Text(window.after)},
                {"num_group", Text(groups)}},
               groups != 1);
}

Value IntegerDense(const Call& c, const LayerForm& f) {
  return f.w.numbers.ndim() != 2 || f.x.numbers.ndim() < 1 ? Value() : Layer(c, "_integer_dense", f, {}, false);
}

Value IntegerProduct(const Call& c, const Quantity& a, const Quantity& b, const Quantity& y, int dtype) {
  AttrDict attrs;
  double as, az, bs, bz;
  const Shape &left = a.numbers.shape(), &right = b.numbers.shape();
  bool fits = IsBytes(a.numbers) && IsBytes(b.numbers) && left.ndim() >= 2 && left.ndim() == right.ndim() && left.Size() > 0 &&
              right.Size() > 0 && left[left.ndim() - 1] == right[left.ndim() - 2];
  for (int i = 0; fits && i < left.ndim() - 2; ++i) fits = left[i] == right[i];
  if (!fits || !KnownSteps(a, &as, &az) || !KnownSteps(b, &bs, &bz) || !PutResult(y, dtype, &attrs)) return Value();
  PutSteps("a", as, az, &attrs), PutSteps("b", bs, bz, &attrs);
  return c.Op("_integer_matmul", {a.numbers, b.numbers}, attrs);
}

Value StepsOf(const Call& c, const Value& y, const Quantity& steps, int dtype) {
  return Quantized(c, y, One(c, steps.scale), One(c, steps.zero), dtype);
}

Value StepsZeroFirst(const Call& c, const Value& y, const Quantity& steps, int dtype) {
  Value v = Div(c, y, One(c, steps.scale));
  if (steps.zero.kind != Value::kNone) v = Add(c, v, c.Cast(One(c, steps.zero), kFloat32));
  return Quantized(c, v, c.Scalar(1, kFloat32), Value(), dtype);
}

Value FinishFloats(const Call& c, const LayerForm& f, Value y, const Value& bias) {
  const bool has_bias = bias.kind != Value::kNone;
  if (has_bias && !f.bias_last) y = Add(c, y, bias);
  const auto floats = [&](const Quantity& q) { return Dequantized(c, q.numbers, One(c, q.scale), One(c, q.zero)); };
  if (f.between.given()) {
    const Quantity b{StepsOf(c, y, f.between, DTypeOf(f.between, kUint8)), f.between.scale, f.between.zero};
    y = floats(b);
  }
  if (has_bias && f.bias_last) y = Add(c, y, bias);
  if (f.addend.given()) y = Add(c, y, floats(f.addend));
  if (f.more.kind != Value::kNone) y = Add(c, y, f.more);
  if (std::isfinite(f.low) || std::isfinite(f.high)) y = Clip(c, y, f.low, f.high);
  return f.y.given() ? StepsOf(c, y, f.y, f.dtype) : y;
}

namespace {

/* f of one number, from floats to steps `y`: by a table where there are as many numbers. */
Value TableOf(const Call& c, const Quantity& x, const Quantity& y, int dtype, const std::function<Value(const Value&)>& f) {
  const auto apply = [&](const Value& numbers) { return f(Dequantized(c, numbers, One(c, x.scale), One(c, x.zero))); };
  double number;
  const auto known = [&](const Quantity& q) {
    return q.scale.known() && IsNumber(q.scale, &number) && (q.zero.kind == Value::kNone || IsNumber(q.zero, &number));
  };
  if (!IsBytes(x.numbers) || x.numbers.known() || (!c.ForAnyShape() && x.numbers.size() < 256) || !known(x) || !known(y) ||
      (dtype != kInt8 && dtype != kUint8))
    return apply(x.numbers);
  uint8_t bytes[256];
  for (int i = 0; i < 256; ++i) bytes[i] = static_cast<uint8_t>(i);
  Sizes all(static_cast<size_t>(x.numbers.ndim()), 1);  // other operands may have as many dimensions
  all.back() = 256;
  const Value table = apply(c.Tensor(Shape(all), x.numbers.dtype(), bytes));
  return c.Op("_integer_table", {x.numbers, c.Reshape(table, Shape{256})});
}

}  // namespace

Value PairInSteps(const Call& c, const Quantity& a, const Quantity& b, const Quantity& y, int dtype, const PairForm& form) {
  const auto floats = [&](const Quantity& q) { return Dequantized(c, q.numbers, One(c, q.scale), One(c, q.zero)); };
  LayerForm cut;
  cut.low = form.low, cut.high = form.high;
  const char* op = form.multiply ? "multiply" : "add";
  const auto steps = [&](const Value& v) { return form.zero_first ? StepsZeroFirst(c, v, y, dtype) : StepsOf(c, v, y, dtype); };
  for (const bool first : {true, false}) {  // a known number: a function of the other
    const Quantity &x = first ? b : a, &number = first ? a : b;
    if (!number.numbers.known() || number.numbers.size() != 1 || number.numbers.ndim() > x.numbers.ndim() || !y.given()) continue;
    return TableOf(c, x, y, dtype,
                   [&](const Value& v) { return steps(FinishFloats(c, cut, Binary(c, op, v, c.Reshape(floats(number), Shape(0))))); });
  }
  AttrDict attrs;
  double as, az, bs, bz;
  if (IsBytes(a.numbers) && IsBytes(b.numbers) && !a.numbers.empty() && !b.numbers.empty() && KnownSteps(a, &as, &az) &&
      KnownSteps(b, &bs, &bz) && y.given() && PutResult(y, dtype, &attrs)) {
    const Shape shape = BroadcastOf(c, a.numbers.shape(), b.numbers.shape());
    PutSteps("a", as, az, &attrs), PutSteps("b", bs, bz, &attrs), PutBounds(form.low, form.high, &attrs);
    attrs["multiply"] = Text(form.multiply), attrs["zero_first"] = Text(form.zero_first);
    const auto of_channels = [](const Shape& x, const Shape& y) {
      return x.ndim() >= 3 && y.ndim() == x.ndim() && y[0] == x[0] && y[1] == x[1] && y.Prod(2, y.ndim()) == 1;
    };
    if (of_channels(b.numbers.shape(), a.numbers.shape()) && shape != a.numbers.shape()) return PairInSteps(c, b, a, y, dtype, form);
    if (of_channels(a.numbers.shape(), b.numbers.shape())) return c.Op("_integer_pair", {a.numbers, b.numbers}, attrs);
    return c.Op("_integer_pair", {c.BroadcastTo(a.numbers, shape), c.BroadcastTo(b.numbers, shape)}, attrs);
  }
  const Value sum = FinishFloats(c, cut, Binary(c, op, floats(a), floats(b)));
  return y.given() ? steps(sum) : sum;
}

Value MeanInSteps(const Call& c, const Quantity& x, const Quantity& y, int dtype) {
  AttrDict attrs;
  double scale, zero;
  if (IsBytes(x.numbers) && !x.numbers.empty() && x.numbers.ndim() >= 3 && KnownSteps(x, &scale, &zero) && PutResult(y, dtype, &attrs)) {
    attrs["scale"] = Text(scale), attrs["zero"] = Text(static_cast<int64_t>(zero));
    return c.Op("_integer_mean", {x.numbers}, attrs);
  }
  Sizes axes;
  for (int i = 2; i < x.numbers.ndim(); ++i) axes.push_back(i);
  const Value mean = Mean(c, Dequantized(c, x.numbers, One(c, x.scale), One(c, x.zero)), axes, true);
  return y.given() ? StepsOf(c, mean, y, dtype) : mean;
}

Value FunctionInSteps(const Call& c, const Quantity& x, const Quantity& y, int dtype, const std::function<Value(const Value&)>& f) {
  return TableOf(c, x, y, dtype, [&](const Value& v) { return StepsOf(c, f(v), y, dtype); });
}

// ---- nodes that take the place of others

namespace {

void ReadBounds(const Call& c, LayerForm* f) {
  if (c.has_attr("low")) f->low = static_cast<double>(c.Attr("low", 0.0f));
  if (c.has_attr("high")) f->high = static_cast<double>(c.Attr("high", 0.0f));
}

/* Does a weight have one number, or one for each filter? */
bool AlongFilters(const Value& v, int64_t axis, int filter_axis) { return v.kind == Value::kNone || v.size() == 1 || axis == filter_axis; }

/* The operands of a product in floats; without scales of their own the product has one. */
struct WideOperands {
  Value x, w;
};

WideOperands Widen(const Call& c, const LayerForm& f, int64_t axis) {
  const auto wide = [&](const Quantity& q, const Value& scale, const Value& zero) {
    if (f.x.given()) return Dequantized(c, q.numbers, scale, zero);
    const Value numbers = c.Cast(q.numbers, kFloat32);
    return zero.kind == Value::kNone ? numbers : Sub(c, numbers, c.Cast(zero, kFloat32));
  };
  const auto spread = [&](const Value& v) { return SpreadAlong(c, v, f.w.numbers, axis, 0); };
  return {wide(f.x, One(c, f.x.scale), One(c, f.x.zero)), wide(f.w, f.x.given() ? spread(f.w.scale) : Value(), spread(f.w.zero))};
}

Value ScaledProduct(const Call& c, const LayerForm& f, const Value& y) { return f.x.given() ? y : Mul(c, y, f.w.scale); }

LayerForm ReadLayer(const Call& c) {
  LayerForm f;
  f.x = ReadQuantity(c, 0), f.w = ReadQuantity(c, 3);
  f.y = ReadSteps(c, 7);
  if (c.has(9)) f.addend = ReadQuantity(c, 9);
  f.between = ReadSteps(c, 12), f.more = OptionalInput(c, 14);
  f.dtype = DTypeOf(f.y, kUint8);
  ReadBounds(c, &f);
  return f;
}

/* Is a bias one number for each of n entries of `axis` of a result of `rank` dimensions? */
bool IsBias(const Value& bias, int64_t n, int axis, int rank) {
  if (bias.size() != n || bias.ndim() > rank) return false;
  for (int i = 0; i < bias.ndim(); ++i)
    if (bias.shape()[i] != (i + rank - bias.ndim() == axis ? n : 1)) return false;
  return n == 1 || bias.ndim() >= rank - axis;
}

/* `layer` with a sum behind it where that has the same shape; else the sum follows it. */
Value OwnLayer(const Call& c, const LayerForm& f, LayerForm* own, const std::function<Value()>& layer) {
  if (f.more.kind == Value::kNone) return layer();
  own->more = Value(), own->low = LayerForm().low, own->high = LayerForm().high;
  const Value alone = layer();
  if (alone.kind == Value::kNone) return alone;
  if (!c.ForAnyShape() && f.more.dtype() == kFloat32 && alone.shape() == f.more.shape()) {
    own->more = f.more, own->low = f.low, own->high = f.high;
    return layer();
  }
  LayerForm rest;
  rest.more = f.more, rest.low = f.low, rest.high = f.high;
  return FinishFloats(c, rest, alone);
}

/* The sum behind `layer`, which adds nothing, where the addend is repeated or repeats the layer. */
Value LayerAndSum(const Call& c, const LayerForm& f, LayerForm* own, const std::function<Value()>& layer) {
  own->addend = own->between = Quantity();
  own->y = f.between, own->dtype = DTypeOf(f.between, kUint8);
  own->low = LayerForm().low, own->high = LayerForm().high;
  const Value alone = layer();
  if (alone.kind == Value::kNone) return alone;
  return PairInSteps(c, {alone, f.between.scale, f.between.zero}, f.addend, f.y, f.dtype, {false, f.low, f.high});
}

void ConvertIntegerConv(Call& c) {
  LayerForm f = ReadLayer(c);
  const Value &x = f.x.numbers, &w = f.w.numbers;
  CheckRank(c, 0, 3, 5);
  CheckRank(c, 3, x.ndim(), x.ndim());
  const int64_t groups = c.Attr("group", int64_t{1}), axis = c.Attr("weight_axis", int64_t{1});
  const bool added = c.Attr("added", int64_t{0}) != 0;
  if (groups < 1 || x.shape()[1] % groups || x.shape()[1] / groups != w.shape()[1] || w.shape()[0] % groups)
    c.Refuse("data has shape " + Text(x.shape()) + ", the weight " + Text(w.shape()) + ", and there are " + Text(groups) + " groups");
  const Window window = ReadWindow(c, Spatial(x.shape()), ReadKernel(c, Spatial(w.shape()), static_cast<size_t>(x.ndim() - 2)), false);
  const Value bias = OptionalInput(c, 6);
  const bool fits = bias.kind == Value::kNone || (added ? IsBias(bias, w.shape()[0], 1, x.ndim()) : bias.ndim() == 1);
  if (fits && AlongFilters(f.w.scale, axis, 0) && AlongFilters(f.w.zero, axis, 0)) {
    LayerForm own = f;
    own.bias = bias;
    Sizes made{x.shape()[0], w.shape()[0]};
    made.insert(made.end(), window.out.begin(), window.out.end());
    const auto layer = [&] { return IntegerConvolution(c, own, window, groups); };
    const bool apart = f.addend.given() && f.between.given() && f.addend.numbers.shape() != Shape(made);
    const Value y = apart ? LayerAndSum(c, f, &own, layer) : OwnLayer(c, f, &own, layer);
    if (y.kind != Value::kNone) return c.Out(y);
  }
  const WideOperands wide = Widen(c, f, axis);
  const Value y = ScaledProduct(c, f, Convolve(c, wide.x, wide.w, added ? Value() : bias, window, groups));
  c.Out(FinishFloats(c, f, y, added ? bias : Value()));
}

void ConvertIntegerDense(Call& c) {
  LayerForm f = ReadLayer(c);
  const bool transposed = c.Attr("transB", int64_t{0}) != 0;
  int64_t axis = c.Attr("weight_axis", int64_t{1});
  c.Attr("added", int64_t{0});
  f.bias_last = f.between.given();
  Quantity& w = f.w;
  const Value& x = f.x.numbers;
  const Value bias = OptionalInput(c, 6);
  if (axis < 0) axis += w.numbers.ndim();
  if (w.numbers.ndim() == 2 && x.ndim() >= 1) {
    const int filter_axis = transposed ? 0 : 1;
    const int64_t n = w.numbers.shape()[filter_axis];
    const bool scalar_bias = bias.kind != Value::kNone && bias.size() == 1 && bias.ndim() <= x.ndim();
    const bool fits = bias.kind == Value::kNone || scalar_bias || IsBias(bias, n, x.ndim() - 1, x.ndim());
    if (fits && AlongFilters(w.scale, axis, filter_axis) && AlongFilters(w.zero, axis, filter_axis) &&
        x.dim(x.ndim() - 1) == w.numbers.shape()[1 - filter_axis]) {
      LayerForm filters_first = f;
      if (!transposed) filters_first.w.numbers = c.Transpose(w.numbers, {1, 0});
      filters_first.bias = scalar_bias && n != 1 ? c.BroadcastTo(c.Reshape(bias, Shape{1}), Shape{n}) : bias;
      const Value y = OwnLayer(c, f, &filters_first, [&] { return IntegerDense(c, filters_first); });
      if (y.kind != Value::kNone) return c.Out(y);
    }
  }
  const WideOperands wide = Widen(c, f, axis);
  const Value y = ScaledProduct(c, f, c.Op("_npi_matmul", {wide.x, transposed ? c.Transpose(wide.w, {1, 0}) : wide.w}));
  c.Out(FinishFloats(c, f, y, bias));
}

void ConvertIntegerMatMul(Call& c) {
  const Quantity a = ReadQuantity(c, 0), b = ReadQuantity(c, 3), y = ReadSteps(c, 6);
  const Value made = IntegerProduct(c, a, b, y, DTypeOf(y, kUint8));
  if (made.kind != Value::kNone) return c.Out(made);
  const auto floats = [&](const Quantity& q) { return Dequantized(c, q.numbers, One(c, q.scale), One(c, q.zero)); };
  const Value product = MatMul(c, floats(a), floats(b));
  c.Out(y.given() ? StepsOf(c, product, y, DTypeOf(y, kUint8)) : product);
}

void ConvertIntegerPair(Call& c) {
  LayerForm f;
  ReadBounds(c, &f);
  const Quantity y = ReadSteps(c, 6);
  const PairForm form{std::string(c.argument) == "multiply", f.low, f.high};
  c.Out(PairInSteps(c, ReadQuantity(c, 0), ReadQuantity(c, 3), y, DTypeOf(y, kUint8), form));
}

void ConvertIntegerMean(Call& c) {
  CheckRank(c, 0, 3, 32);
  const Quantity y = ReadSteps(c, 3);
  c.Out(MeanInSteps(c, ReadQuantity(c, 0), y, DTypeOf(y, kUint8)));
}

/* Attribute chain: nodes one behind the other. */
void ConvertIntegerFunction(Call& c) {
  const GraphProto& chain = *c.GraphAttr("chain");
  const Quantity y = ReadSteps(c, 3);
  GraphBuilder at_once(c.builder()->ctx(), c.builder()->folded(), true,
                       c.builder()->widens());  // also LeakyReLU, some of whose kinds draw numbers
  c.Out(FunctionInSteps(c, ReadQuantity(c, 0), y, DTypeOf(y, kUint8), [&](Value v) {
    for (const NodeProto& n : chain.nodes) {
      std::vector<Value> inputs;
      for (const std::string& name : n.inputs) {
        const auto known = std::find_if(chain.constants.begin(), chain.constants.end(), [&](const Constant& k) { return k.name == name; });
        inputs.push_back(name.empty() ? Value() : known != chain.constants.end() ? c.builder()->Widened(Value(known->array), name) : v);
      }
      const Rule* rule = FindRule(n.domain, n.op, n.opset);
      Call call(n, n.opset, rule->argument, std::move(inputs), v.known() ? &at_once : c.builder());
      rule->convert(call);
      call.CheckAttributes();
      v = call.outputs()[0];
    }
    return v;
  }));
}

void ConvertToChannelsFirst(Call& c) {
  CheckRank(c, 0, 3, 32);
  c.Out(ChannelsFirst(c, c.in(0)));
}
void ConvertToChannelsLast(Call& c) {
  CheckRank(c, 0, 3, 32);
  c.Out(ChannelsLast(c, c.in(0)));
}

}  // namespace

const Rules& IntegerRules() {
  static const Rules rules = {
      {"mxnet.integers", "Conv", 1, 1, ConvertIntegerConv, nullptr},
      {"mxnet.integers", "Dense", 1, 1, ConvertIntegerDense, nullptr},
      {"mxnet.integers", "BlockDense", 1, 1, ConvertBlockDense, nullptr},
      {"mxnet.integers", "MatMul", 1, 1, ConvertIntegerMatMul, nullptr},
      {"mxnet.integers", "Add", 1, 1, ConvertIntegerPair, "add"},
      {"mxnet.integers", "Mul", 1, 1, ConvertIntegerPair, "multiply"},
      {"mxnet.integers", "Mean", 1, 1, ConvertIntegerMean, nullptr},
      {"mxnet.integers", "Function", 1, 1, ConvertIntegerFunction, nullptr},
      {"mxnet.integers", "ChannelsFirst", 1, 1, ConvertToChannelsFirst, nullptr},
      {"mxnet.integers", "ChannelsLast", 1, 1, ConvertToChannelsLast, nullptr},
  };
  return rules;
}

}  // namespace onnx
}  // namespace mxnet
