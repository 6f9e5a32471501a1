#include "onnx/convert/quantized/quantized.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "ndarray/stored.h"
#include "onnx/builder.h"
#include "onnx/convert/quantized/integers.h"
#include "onnx/rewrite/learning.h"

namespace mxnet {
namespace onnx {

namespace {

struct Range {
  double least, most;
};

Range RangeOf(const Call& c, int dtype, const SmallType* small) {
  if (small)
    return small->is_signed() ? Range{-(1 << (small->bits - 1)) * 1.0, (1 << (small->bits - 1)) - 1.0} : Range{0, (1 << small->bits) - 1.0};
  switch (dtype) {
    case kInt8: return {-128, 127};
    case kUint8: return {0, 255};
    case kInt16: return {-32768, 32767};
    case kUint16: return {0, 65535};
    case kInt32: return {-2147483648.0, 2147483647.0};
    default: c.Refuse("quantized numbers of dtype " + std::string(DTypeName(dtype)) + "; accepted are 8 and 16 bits");
  }
}

Value Wide(const Call& c, const Value& x, const Value& zero) {
  const Value wide = c.Cast(x, kInt32);
  return IsZero(zero) ? wide : Sub(c, wide, c.Cast(zero, kInt32));
}

/* A zero point of one number as (), of one for each row as (..., rows, 1). */
Value RowZero(const Call& c, const Value& zero, const Value& a) {
  if (zero.kind == Value::kNone || zero.ndim() == 0) return zero;
  if (zero.size() == 1) return c.Reshape(zero, Shape(0));
  if (zero.ndim() > 1) return zero;
  if (a.ndim() < 2 || zero.size() != a.shape()[a.ndim() - 2])
    c.Refuse("a zero point has shape " + Text(zero.shape()) + " for data of shape " + Text(a.shape()));
  return c.Reshape(zero, Shape{zero.size(), 1});
}

}  // namespace

bool IsZero(const Value& v) {
  if (v.kind == Value::kNone) return true;
  if (!v.known()) return false;
  const std::vector<uint8_t> bytes = BytesOf(v.array);
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b == 0; });
}

void MakeSigned(const Call& c, Value* x, Value* zero) {
  if (x->dtype() != kUint8) return;
  *x = c.Cast(WithNumber(c, "_npi_bitwise_xor_scalar", *x, 128), kInt8);  // less 128, in bytes alone
  const Value wide = zero->kind == Value::kNone ? c.Scalar(0, kInt16) : c.Cast(*zero, kInt16);
  *zero = AddNumber(c, wide, -128);
}

std::vector<uint8_t> BytesOf(const NDArray& a) {
  std::vector<uint8_t> bytes(static_cast<size_t>(a.shape().Size()) * DTypeSize(a.dtype()));
  Chunk* const chunk = a.chunk();
  const bool held = chunk->stored && HoldStored(chunk);
  if (held)
    std::memcpy(bytes.data(), static_cast<const char*>(chunk->handle.dptr) + a.byte_offset(), bytes.size());
  else if (!bytes.empty())
    a.CopyBytesTo(bytes.data(), bytes.size());
  if (held) ReleaseStored(chunk);
  return bytes;
}

Value OptionalInput(const Call& c, int i) { return c.has(i) ? c.in(i) : Value(); }

Value SpreadAlong(const Call& c, const Value& x, const Value& data, int64_t axis, int64_t block) {
  if (x.kind == Value::kNone) return x;
  if (x.size() == 1 && block == 0) return c.Reshape(x, Shape(0));
  const int at = c.Axis(axis, data.ndim());
  if (block == 0) {
    if (x.ndim() != 1 || x.size() != data.dim(at))
      c.Refuse("a scale or zero point has shape " + Text(x.shape()) + " for axis " + Text(at) + " of data of shape " + Text(data.shape()));
    return AlongAxis(c, x, at, data.ndim());
  }
  if (block < 1 || x.ndim() != data.ndim() || (x.shape()[at] - 1) * block >= data.dim(at) || x.shape()[at] * block < data.dim(at))
    c.Refuse("a scale or zero point has shape " + Text(x.shape()) + " for data of shape " + Text(data.shape()) + " in blocks of " +
             Text(block));
  return SliceAxis(c, c.Op("repeat", {x}, {{"repeats", Text(block)}, {"axis", Text(at)}}), at, 0, data.dim(at));
}

namespace {

/* One scale of float32, and one zero point of its kind or none: what operators on bytes take. */
bool IsOneStep(const Value& scale, const Value& zero, int dtype) {
  return (dtype == kInt8 || dtype == kUint8) && scale.dtype() == kFloat32 && scale.size() == 1 &&
         (zero.kind == Value::kNone || (zero.size() == 1 && (zero.dtype() == dtype || zero.dtype() == kInt32)));
}

Value ZeroOr0(const Call& c, const Value& zero) { return zero.kind == Value::kNone ? c.Scalar(0, kInt32) : zero; }

}  // namespace

Value Quantized(const Call& c, const Value& x, const Value& scale, const Value& zero, int dtype, const SmallType* small) {
  const Range range = RangeOf(c, dtype, small);
  if (!small && x.dtype() == kFloat32 && IsOneStep(scale, zero, dtype))
    return c.Op("_integer_quantize", {x, scale, ZeroOr0(c, zero)}, {{"out_type", DTypeName(dtype)}});
  Value y = Unary(c, "around", Div(c, x, scale));  // a division: its reciprocal would round otherwise
  if (!IsZero(zero)) y = Add(c, IsHalf(y.dtype()) ? c.Cast(y, kFloat32) : y, c.Cast(zero, IsHalf(y.dtype()) ? kFloat32 : y.dtype()));
  if (IsHalf(y.dtype())) y = c.Cast(y, kFloat32);
  // NaN becomes the lowest integer, as in ONNX Runtime.
  return c.Cast(BinaryNumber(c, "minimum", BinaryNumber(c, "fmax", y, range.least), range.most), dtype);
}

Value Dequantized(const Call& c, const Value& x, const Value& scale, const Value& zero) {
  if (IsOneStep(scale, zero, x.dtype())) return c.Op("_integer_dequantize", {x, scale, ZeroOr0(c, zero)});
  if (x.dtype() == kInt32 && IsZero(zero)) return Mul(c, c.Cast(x, scale.dtype()), scale);
  if (x.dtype() == kInt32) return Mul(c, c.Cast(Sub(c, x, zero), scale.dtype()), scale);
  const Value y = c.Cast(x, kFloat32);  // differences of 16 bits are exact
  return c.Cast(Mul(c, IsZero(zero) ? y : Sub(c, y, c.Cast(zero, kFloat32)), c.Cast(scale, kFloat32)), scale.dtype());
}

/* Sums of products of bytes are exact in floats, whose products are quicker. */
static Value WideProduct(const Call& c, const Value& a, const Value& az, const Value& b, const Value& bz) {
  constexpr int64_t kMostInFloat32 = 256;  // of 255 * 255 each are below 2 ^ 24
  const auto is_byte = [](const Value& v) { return v.kind == Value::kNone || v.dtype() == kInt8 || v.dtype() == kUint8; };
  const Value wide_a = Wide(c, a, az), wide_b = Wide(c, b, bz);
  if (!is_byte(a) || !is_byte(az) || !is_byte(b) || !is_byte(bz)) return c.Op("_npi_matmul", {wide_a, wide_b});
  const int dtype = a.shape()[a.ndim() - 1] <= kMostInFloat32 ? kFloat32 : kFloat64;
  return c.Cast(c.Op("_npi_matmul", {c.Cast(wide_a, dtype), c.Cast(wide_b, dtype)}), kInt32);
}

Value IntProduct(const Call& c, const Value& left, const Value& left_zero, const Value& right, const Value& right_zero) {
  Value a = left, b = right, az = RowZero(c, left_zero, left), bz = right_zero;
  if (bz.kind != Value::kNone && bz.size() == 1) bz = c.Reshape(bz, Shape(0));
  if (a.ndim() < 1 || b.ndim() < 1) c.Refuse("operands have shapes " + Text(a.shape()) + " and " + Text(b.shape()));
  const bool bytes = (a.dtype() == kInt8 || a.dtype() == kUint8) && (b.dtype() == kInt8 || b.dtype() == kUint8);
  const bool columns = bz.ndim() <= 1;
  if (bz.kind != Value::kNone && bz.ndim() == 1 && b.ndim() > 1 && bz.size() != b.shape()[b.ndim() - 1])
    c.Refuse("a zero point has shape " + Text(bz.shape()) + " for data of shape " + Text(b.shape()));
  if (!(bytes && b.known() && b.ndim() == 2 && columns && b.size() > 0 && a.size() > 0 &&
        (bz.kind == Value::kNone || bz.dtype() == b.dtype()) && a.shape()[a.ndim() - 1] == b.shape()[0]))
    return WideProduct(c, a, az, b, bz);
  LayerForm f;
  f.sums = true;
  f.x.numbers = a, f.w.numbers = c.Transpose(b, {1, 0}), f.w.zero = bz;
  if (az.size() == 1 || az.kind == Value::kNone) f.x.zero = az;
  const Value y = IntegerDense(c, f);
  if (az.kind == Value::kNone || az.size() == 1) return y;
  // (a - az) (b - bz) = a (b - bz) - az (b - bz)
  return Sub(c, y, Mul(c, c.Cast(az, kInt32), Sum(c, Wide(c, b, bz), {0}, false)));
}

Value IntConvolution(const Call& c, const Value& x, const Value& x_zero, const Value& w, const Value& w_zero, const Window& window,
                     int64_t groups) {
  LayerForm f;
  f.sums = true;
  f.x = {x, Value(), x_zero}, f.w = {w, Value(), w_zero};
  const Value sums = IntegerConvolution(c, f, window, groups);
  if (sums.kind != Value::kNone) return sums;
  // Sums of products of bytes are exact in float64.
  Value wide_zero = w_zero;
  if (wide_zero.kind != Value::kNone && wide_zero.size() > 1) wide_zero = AlongAxis(c, wide_zero, 0, w.ndim());
  if (wide_zero.kind != Value::kNone && wide_zero.size() == 1) wide_zero = c.Reshape(wide_zero, Shape(0));
  const Value xz = x_zero.kind == Value::kNone ? x_zero : c.Reshape(x_zero, Shape(0));
  return c.Cast(Convolve(c, c.Cast(Wide(c, x, xz), kFloat64), c.Cast(Wide(c, w, wide_zero), kFloat64), Value(), window, groups), kInt32);
}

DynamicResult DynamicQuantized(const Call& c, const Value& x) {
  DynamicResult r;
  if (x.dtype() == kFloat32 && !x.empty()) {
    const std::vector<Value> made = c.Ops("_integer_quantize_dynamic", {x});
    return {made[0], c.Reshape(made[1], Shape(0)), c.Reshape(made[2], Shape(0))};
  }
  Sizes all;
  for (int i = 0; i < x.ndim(); ++i) all.push_back(i);
  if (x.size() == 0)  // a batch without examples: as zeros
    return {c.Filled(x.shape(), kUint8, 0), c.Filled(Shape(0), x.dtype(), 1. / 255), c.Filled(Shape(0), kUint8, 0)};
  const Value most = BinaryNumber(c, "maximum", Reduce(c, "max", x, all, false), 0),
              least = BinaryNumber(c, "minimum", Reduce(c, "min", x, all, false), 0);
  const Value span = Sub(c, most, least);
  r.scale = Div(c, Where(c, BinaryNumber(c, "equal", span, 0), c.Scalar(1, x.dtype()), span), c.Filled(Shape(0), x.dtype(), 255));
  const Value zero = Unary(c, "around", Clip(c, Div(c, MulNumber(c, least, -1), r.scale), 0, 255));
  r.zero = c.Cast(zero, kUint8);
  r.y = c.Cast(Clip(c, Add(c, Unary(c, "around", Div(c, x, r.scale)), zero), 0, 255), kUint8);
  return r;
}

namespace {

Value QuantizedToFloats(const Call& c, const Value& x, const Value& scale, const Value& zero, const SmallType& small, bool saturate) {
  const Value y = Div(c, x, scale);
  return SmallFloats(c, IsZero(zero) ? y : Add(c, y, c.Cast(zero, y.dtype())), small, saturate);
}

/* Can training have floats that pass gradients in the place of such integers? `block`: of the
 * scales. */
bool LearnsRounded(const Call& c, const Value& scale, int dtype, const SmallType* small, int64_t block) {
  const bool has_operator = dtype == kInt8 || dtype == kUint8 || dtype == kInt16 || dtype == kUint16 || dtype == kInt32;
  return c.ForTraining() && c.builder()->learning()->rounds() && has_operator && !small && block == 0 && scale.dtype() == kFloat32;
}

/* A copy, which is no weight. */
Value Fixed(const Call& c, const Value& v) { return v.known() ? c.Tensor(v.shape(), v.dtype(), BytesOf(v.array).data()) : v; }

Value RoundedTo(const Call& c, const Value& x, int dtype, int64_t axis) {
  const Value scale = Fixed(c, c.in(1)), zero = c.has(2) ? c.Cast(Fixed(c, c.in(2)), kInt32) : c.Scalar(0, kInt32);
  return c.Op("_fake_quantize", {x, scale, zero},
              {{"out_type", DTypeName(dtype)}, {"axis", Text(scale.size() == 1 && zero.size() == 1 ? int64_t{0} : axis)}});
}

bool SameSteps(const Value& a, const Value& b) {
  if (a.kind == Value::kNone || b.kind == Value::kNone) return IsZero(a) && IsZero(b);
  if (a.known() && b.known()) return a.dtype() == b.dtype() && a.shape() == b.shape() && BytesOf(a.array) == BytesOf(b.array);
  return !a.known() && !b.known() && a.entry.node == b.entry.node && a.entry.index == b.entry.index;
}

/* Along which axis several scales are; 0 for one. */
int64_t StepsAxis(const Call& c, const Value& scale, int64_t axis, int rank) { return scale.size() == 1 ? 0 : c.Axis(axis, rank); }

/* What numbers of any kind stand for, with the gradient of the floats that they were made of where
 * these were not cut. */
Value PassedOn(const Call& c, const Value& floats, int64_t axis, int64_t block) {
  const Value& x = c.in(0);
  const SmallType* const small = c.small(0);
  const auto spread = [&](int i) { return c.has(i) ? c.Cast(SpreadAlong(c, NumbersAt(c, i), x, axis, block), kFloat32) : Value(); };
  const Value scale = spread(1), zero = spread(2);
  const auto bound = [&](double number) {
    Value limit = c.Scalar(number, kFloat32);
    if (small && small->format) limit = c.Op("_from_small_float", {SmallFloats(c, limit, *small, true)}, {{"format", small->format}});
    return Mul(c, zero.kind == Value::kNone ? limit : Sub(c, limit, zero), scale);
  };
  const bool of_floats = small && small->format;
  const Range range = of_floats ? Range{-1e30, 1e30} : RangeOf(c, x.dtype(), small);
  const Value whole = Dequantized(c, NumbersAt(c, 0), scale, zero);
  const Value cut = Binary(c, "minimum", Binary(c, "maximum", c.Cast(floats, kFloat32), bound(range.least)), bound(range.most));
  return c.Cast(Add(c, cut, c.Op("BlockGrad", {Sub(c, whole, cut)})), c.in(1).dtype());
}

/* For training: a weight of integers whose scale is computed. Its numbers are the parameter. */
Value LearnedNumbers(const Call& c, int64_t axis) {
  const Value& x = c.in(0);
  const auto spread = [&](int i) {
    return c.has(i) ? c.Op("BlockGrad", {c.Cast(SpreadAlong(c, Fixed(c, c.in(i)), x, axis, 0), kFloat32)}) : Value();
  };
  const Value numbers = Dequantized(c, x, c.Scalar(1, kFloat32), Value()), zero = spread(2);
  c.builder()->learning()->TakeFloats(numbers.array);
  const Value whole =
      c.Op("_fake_quantize", {numbers, c.Scalar(1, kFloat32), c.Scalar(0, kInt32)}, {{"out_type", DTypeName(x.dtype())}, {"axis", "0"}});
  return Mul(c, zero.kind == Value::kNone ? whole : Sub(c, whole, zero), spread(1));
}

/* For training: the floats that x was made of, rounded; or those that a weight of integers stands
 * for. None: neither. */
Value LearnedFloats(const Call& c, int64_t axis, int64_t block) {
  const Value& x = c.in(0);
  if (!c.ForTraining() || !c.builder()->learning()->rounds()) return Value();
  Learning* const learning = c.builder()->learning();
  const bool has_operator = LearnsRounded(c, c.in(1), x.dtype(), c.small(0), block);
  if (const Learning::Rounded* const of = learning->RoundedOf(x)) {
    const bool same = SameSteps(of->scale, c.in(1)) && SameSteps(of->zero, OptionalInput(c, 2)) && of->block == block &&
                      of->axis == StepsAxis(c, c.in(1), axis, x.ndim());
    if (!same) {  // (floats / its scale + its zero point - zero point) * scale
      const auto spread = [&](const Value& v, int64_t along, int64_t in) { return c.Cast(SpreadAlong(c, v, x, along, in), kFloat32); };
      Value moved = Div(c, c.Cast(of->floats, kFloat32), spread(of->scale, of->axis, of->block));
      if (of->zero.kind != Value::kNone) moved = Add(c, moved, spread(of->zero, of->axis, of->block));
      if (c.has(2)) moved = Sub(c, moved, spread(NumbersAt(c, 2), axis, block));
      return PassedOn(c, Mul(c, moved, spread(NumbersAt(c, 1), axis, block)), axis, block);
    }
    return has_operator && of->floats.dtype() == kFloat32 ? RoundedTo(c, of->floats, x.dtype(), axis)
                                                          : PassedOn(c, of->floats, axis, block);
  }
  if (!has_operator || !c.IsWeight(0) || !(c.builder()->Learns(x) || x.dtype() == kInt32)) return Value();
  if (!c.in(1).known() || (c.has(2) && !c.in(2).known())) return LearnedNumbers(c, axis);
  const Value floats = Dequantized(c, x, SpreadAlong(c, c.in(1), x, axis, 0), SpreadAlong(c, OptionalInput(c, 2), x, axis, 0));
  learning->TakeFloats(floats.array);
  return RoundedTo(c, floats, x.dtype(), axis);
}

void ConvertQuantize(Call& c) {
  const Value& x = c.in(0);
  const int64_t axis = c.Attr("axis", int64_t{1}), block = c.Attr("block_size", int64_t{0});
  const bool saturate = c.Attr("saturate", int64_t{1}) != 0;  // of small floats
  const int64_t named = c.Attr("output_dtype", int64_t{0}), precision = c.Attr("precision", int64_t{0});
  const SmallType* small = c.has(2) ? c.small(2) : SmallTypeOf(named);
  const int dtype = c.has(2) ? c.in(2).dtype() : small ? small->dtype : named ? c.DTypeAttr("output_dtype", kUint8) : kUint8;
  const Value scale = SpreadAlong(c, NumbersAt(c, 1), x, axis, block),
              zero = c.has(2) ? SpreadAlong(c, NumbersAt(c, 2), x, axis, block) : Value();
  Value data = x, by = scale;
  if (!IsFloating(data.dtype())) data = c.Cast(data, by.dtype());
  if (precision) {
    const int in = c.DTypeAttr("precision", kFloat32);
    data = c.Cast(data, in), by = c.Cast(by, in);
  } else if (data.dtype() != by.dtype()) {
    data = c.Cast(data, kFloat32), by = c.Cast(by, kFloat32);
  }
  c.Out(small && small->format ? QuantizedToFloats(c, data, by, zero, *small, saturate) : Quantized(c, data, by, zero, dtype, small));
  const bool passes = c.ForTraining() && c.builder()->learning()->rounds() && !data.known();
  if (passes || (LearnsRounded(c, by, dtype, small, block) && data.dtype() == kFloat32))
    c.builder()->learning()->AddRounded(
        {c.outputs()[0], data, c.in(1), OptionalInput(c, 2), StepsAxis(c, c.in(1), axis, data.ndim()), block});
}

/* Of a node that other nodes need (onnx/rewrite/float_nodes.h): a scale, which is no weight. */
void ConvertFixed(Call& c) { c.Out(c.ForTraining() ? Fixed(c, c.in(0)) : c.in(0)); }

void ConvertDequantize(Call& c) {
  const Value x = NumbersAt(c, 0);
  const int64_t axis = c.Attr("axis", int64_t{1}), block = c.Attr("block_size", int64_t{0});
  const int64_t named = c.Attr("output_dtype", int64_t{0});
  const Value learned = LearnedFloats(c, axis, block);
  if (learned.kind != Value::kNone) return c.Out(named ? c.Cast(learned, c.DTypeAttr("output_dtype", kFloat32)) : learned);
  const Value zero = c.has(2) ? NumbersAt(c, 2) : Value();
  const Value y = Dequantized(c, x, SpreadAlong(c, NumbersAt(c, 1), x, axis, block), SpreadAlong(c, zero, x, axis, block));
  c.Out(named ? c.Cast(y, c.DTypeAttr("output_dtype", kFloat32)) : y);
}

void ConvertDynamicQuantize(Call& c) {
  const DynamicResult r = DynamicQuantized(c, c.in(0));
  c.Out(0, r.y), c.Out(1, r.scale), c.Out(2, r.zero);
  if (LearnsRounded(c, r.scale, kUint8, nullptr, 0) && !r.scale.known())
    c.builder()->learning()->AddRounded({r.y, c.in(0), r.scale, r.zero});
}

/* Sums of integers that floats became, without their scales right behind them (FloatNodes). */
void CheckNoneLearns(const Call& c) {
  if (c.ForTraining() && !c.in(0).known() && c.builder()->learning()->RoundedOf(c.in(0)))
    c.Refuse(
        "sums of rounded data whose scales do not multiply them right behind a Cast: gradients do not pass them, so the model is no block; "
        "accepted: calls of the model, convert(), and QuantizeLinear and DequantizeLinear around the operator on floats");
}

/* int16: sums wrap at 32 bits. */
void ConvertMatMulInteger16(Call& c) {
  CheckNoneLearns(c);
  for (int i : {0, 1}) CheckRank(c, i, 2, 32);
  const Value y = MatMul(c, c.Cast(c.in(0), kFloat64), c.Cast(c.in(1), kFloat64));
  c.Out(c.Cast(c.Cast(y, kInt64), kInt32));
}

void ConvertMatMulInteger(Call& c) {
  CheckNoneLearns(c);
  c.Out(IntProduct(c, c.in(0), OptionalInput(c, 2), c.in(1), OptionalInput(c, 3)));
}

Window IntWindow(const Call& c, const Value& x, const Value& w) {
  if (x.ndim() < 3 || x.ndim() > 5 || w.ndim() != x.ndim())
    c.Refuse("data has shape " + Text(x.shape()) + ", the weight " + Text(w.shape()));
  return ReadWindow(c, Spatial(x.shape()), ReadKernel(c, Spatial(w.shape()), static_cast<size_t>(x.ndim() - 2)), false);
}

void ConvertConvInteger(Call& c) {
  CheckNoneLearns(c);
  const Window window = IntWindow(c, c.in(0), c.in(1));
  c.Out(IntConvolution(c, c.in(0), OptionalInput(c, 2), c.in(1), OptionalInput(c, 3), window, c.Attr("group", int64_t{1})));
}

/* Rows of a scale or zero point of a: one number, or one for each row. */
Value Rows(const Call& c, const Value& v) {
  if (v.kind == Value::kNone || v.ndim() != 1) return v;
  return v.size() == 1 ? c.Reshape(v, Shape(0)) : c.Reshape(v, Shape{v.size(), 1});
}
Value Columns(const Call& c, const Value& v) { return v.kind != Value::kNone && v.size() == 1 ? c.Reshape(v, Shape(0)) : v; }

/* The same of floats of 8 bits, in float32. */
void MatMulOfSmallFloats(Call& c) {
  const auto stands_for = [&](int i, Value (*spread)(const Call&, const Value&)) {
    const Value zero = c.has(i + 2) ? spread(c, NumbersAt(c, i + 2)) : Value();
    return Dequantized(c, NumbersAt(c, i), c.Cast(spread(c, c.in(i + 1)), kFloat32), zero);
  };
  const Value product = c.Op("_npi_matmul", {stands_for(0, Rows), stands_for(3, Columns)});
  const Value zero = c.has(7) ? Rows(c, NumbersAt(c, 7)) : Value(), scale = c.Cast(Rows(c, c.in(6)), kFloat32);
  const SmallType* small = c.small(7);
  c.Out(small && small->format ? QuantizedToFloats(c, product, scale, zero, *small, true)
                               : Quantized(c, product, scale, zero, c.has(7) ? c.in(7).dtype() : kUint8, small));
}

void ConvertQLinearMatMul(Call& c) {
  for (int i : {0, 3, 7})
    if (c.small(i) && c.small(i)->format) return MatMulOfSmallFloats(c);
  const Value& weight = c.in(3);
  if (weight.known() && weight.ndim() == 2 && c.in(0).ndim() >= 1 && c.in(0).shape()[c.in(0).ndim() - 1] == weight.shape()[0]) {
    LayerForm f;
    f.x = ReadQuantity(c, 0), f.w = ReadQuantity(c, 3), f.y = ReadSteps(c, 6);
    f.w.numbers = c.Transpose(weight, {1, 0}), f.dtype = DTypeOf(f.y, c.in(0).dtype());
    const Value y = IntegerDense(c, f);
    if (y.kind != Value::kNone) return c.Out(y);
  }
  const Quantity steps = ReadSteps(c, 6);
  const Value made = IntegerProduct(c, ReadQuantity(c, 0), ReadQuantity(c, 3), steps, DTypeOf(steps, c.in(0).dtype()));
  if (made.kind != Value::kNone) return c.Out(made);
  const Value sums = IntProduct(c, c.in(0), OptionalInput(c, 2), c.in(3), OptionalInput(c, 5));
  const int in = IsHalf(c.in(1).dtype()) ? kFloat32 : c.in(1).dtype();
  const auto wide = [&](const Value& v) { return c.Cast(v, in); };
  const Value scale = Div(c, Mul(c, wide(Rows(c, c.in(1))), wide(Columns(c, c.in(4)))), wide(Rows(c, c.in(6))));
  const Value zero = Rows(c, OptionalInput(c, 7));
  c.Out(Quantized(c, Mul(c, c.Cast(sums, in), scale), c.Scalar(1, in), zero, zero.kind == Value::kNone ? c.in(0).dtype() : zero.dtype()));
}

void ConvertQLinearConv(Call& c) {
  const Value &x = c.in(0), &w = c.in(3);
  const Window window = IntWindow(c, x, w);
  LayerForm f;
  f.x = ReadQuantity(c, 0), f.w = ReadQuantity(c, 3), f.y = ReadSteps(c, 6);
  f.dtype = DTypeOf(f.y, x.dtype());
  const bool floats = c.in(1).dtype() == kFloat32 && c.in(4).dtype() == kFloat32;
  if (c.has(8) && floats && c.in(8).size() == w.shape()[0]) {
    const auto flat = [&](int i) { return c.Reshape(c.in(i), Shape{c.in(i).size()}); };
    f.bias = Mul(c, c.Cast(flat(8), kFloat32), Mul(c, flat(1), flat(4)));
  }
  if (floats && c.has(8) == (f.bias.kind != Value::kNone)) {
    const Value y = IntegerConvolution(c, f, window, c.Attr("group", int64_t{1}));
    if (y.kind != Value::kNone) return c.Out(y);
  }
  Value sums = IntConvolution(c, x, OptionalInput(c, 2), w, OptionalInput(c, 5), window, c.Attr("group", int64_t{1}));
  if (c.has(8)) sums = Add(c, sums, AlongAxis(c, c.in(8), 1, x.ndim()));
  const auto each = [&](int i) { return c.in(i).size() == 1 ? c.Reshape(c.in(i), Shape(0)) : AlongAxis(c, c.in(i), 1, x.ndim()); };
  const Value scale = Div(c, Mul(c, each(1), each(4)), each(6));
  c.Out(Quantized(c, Mul(c, c.Cast(sums, kFloat32), scale), c.Scalar(1, kFloat32), c.has(7) ? each(7) : Value(),
                  c.has(7) ? c.in(7).dtype() : x.dtype()));
}

}  // namespace

Value LearnedInstead(const Call& c, const Value& floats, const std::vector<Value>& of) {
  c.builder()->TellOf(floats.array, nullptr, of);
  c.builder()->learning()->TakeFloats(floats.array);
  return floats;
}

const Rules& QuantizedRules() {
  static const Rules rules = {
      {"", "QuantizeLinear", 10, kNewest, ConvertQuantize, nullptr},
      {"", "DequantizeLinear", 10, kNewest, ConvertDequantize, nullptr},
      {"com.microsoft", "QuantizeLinear", 1, kNewest, ConvertQuantize, nullptr},
      {"com.microsoft", "DequantizeLinear", 1, kNewest, ConvertDequantize, nullptr},
      {"mxnet.integers", "Fixed", 1, 1, ConvertFixed, nullptr},
      {"", "DynamicQuantizeLinear", 11, kNewest, ConvertDynamicQuantize, nullptr},
      {"", "MatMulInteger", 10, kNewest, ConvertMatMulInteger, nullptr},
      {"", "ConvInteger", 10, kNewest, ConvertConvInteger, nullptr},
      {"", "QLinearMatMul", 10, kNewest, ConvertQLinearMatMul, nullptr},
      {"", "QLinearConv", 10, kNewest, ConvertQLinearConv, nullptr},
      {"com.microsoft", "QLinearAdd", 1, kNewest, ConvertQLinearBinary, "add"},
      {"com.microsoft", "QLinearMul", 1, kNewest, ConvertQLinearBinary, "multiply"},
      {"com.microsoft", "QLinearSigmoid", 1, kNewest, ConvertQLinearUnary, "sigmoid"},
      {"com.microsoft", "QLinearLeakyRelu", 1, kNewest, ConvertQLinearUnary, "leaky"},
      {"com.microsoft", "QLinearSoftmax", 1, kNewest, ConvertQLinearSoftmax, nullptr},
      {"com.microsoft", "QLinearGlobalAveragePool", 1, kNewest, ConvertQLinearGlobalPool, nullptr},
      {"com.microsoft", "QLinearAveragePool", 1, kNewest, ConvertQLinearAveragePool, nullptr},
      {"com.microsoft", "QLinearWhere", 1, kNewest, ConvertQLinearWhere, nullptr},
      {"com.microsoft", "QLinearConcat", 1, kNewest, ConvertQLinearConcat, nullptr},
      {"com.microsoft", "QGemm", 1, kNewest, ConvertQGemm, nullptr},
      {"com.microsoft", "DynamicQuantizeMatMul", 1, kNewest, ConvertDynamicQuantizeMatMul, nullptr},
      {"com.microsoft", "MatMulInteger16", 1, kNewest, ConvertMatMulInteger16, nullptr},
      {"com.microsoft", "MatMulIntegerToFloat", 1, kNewest, ConvertMatMulIntegerToFloat, nullptr},
      {"com.microsoft", "MoE", 1, kNewest, ConvertMoE, nullptr},
      {"com.microsoft", "QMoE", 1, kNewest, ConvertQMoE, nullptr},
      {"com.microsoft", "MoEGroupRouter", 1, kNewest, ConvertMoEGroupRouter, nullptr},
      {"com.microsoft", "SwiGLU", 1, kNewest, ConvertSwiGLU, nullptr},
      {"com.microsoft", "MatMulBnb4", 1, kNewest, ConvertMatMulBnb4, nullptr},
      {"com.microsoft", "MatMulNBits", 1, kNewest, ConvertMatMulNBits, nullptr},
      {"com.microsoft", "GatherBlockQuantized", 1, kNewest, ConvertGatherBlockQuantized, nullptr},
      {"com.microsoft", "GatherPacked", 1, kNewest, ConvertGatherPacked, nullptr},
      {"com.microsoft", "DynamicQuantizeLSTM", 1, kNewest, ConvertDynamicQuantizeLSTM, nullptr},
  };
  return rules;
}

}  // namespace onnx
}  // namespace mxnet
