/*
 * Casts, and arrays that are made of a shape.
 */
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "onnx/builder.h"
#include "onnx/convert/operands.h"
#include "onnx/convert/shape/shape.h"

namespace mxnet {
namespace onnx {

namespace {

/* As NumPy writes numbers: the shortest text that reads back as the same number. */
template <typename T>
std::string FloatText(T x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  char text[64];
  const double size = std::fabs(static_cast<double>(x));
  const auto format = size != 0 && (size >= 1e16 || size < 1e-4) ? std::chars_format::scientific : std::chars_format::fixed;
  std::string s(text, std::to_chars(text, text + sizeof(text), x, format).ptr);
  if (s.find_first_of(".e") == std::string::npos) s += ".0";
  return s;
}

Value NumbersToStrings(const Call& c, const Value& x) {
  c.Known(0);
  std::vector<std::string> strings;
  if (x.dtype() == kFloat64) {
    for (double d : NumbersOf(x)) strings.push_back(FloatText(d));
  } else if (IsFloating(x.dtype())) {
    for (double d : NumbersOf(x)) strings.push_back(FloatText(static_cast<float>(d)));
  } else {
    for (int64_t i : IntegersOf(x)) {
      if (x.dtype() == kBool)
        strings.push_back(i ? "True" : "False");
      else if (x.dtype() == kUint64)
        strings.push_back(std::to_string(static_cast<uint64_t>(i)));
      else
        strings.push_back(std::to_string(i));
    }
  }
  return StringsValue(x.shape(), std::move(strings));
}

Value StringsToNumbers(const Call& c, int dtype) {
  const Value& x = c.in(0);
  const auto check = [&c](const std::string& s, const char* end) {
    if (s.empty() || *end) c.Refuse("the string \"" + s.substr(0, 40) + "\" is not a number");
  };
  if (IsInteger(dtype)) {
    std::vector<int64_t> numbers;
    for (const std::string& s : *x.strings) {
      char* end = nullptr;
      int64_t number = dtype == kUint64 ? static_cast<int64_t>(std::strtoull(s.c_str(), &end, 10)) : std::strtoll(s.c_str(), &end, 10);
      if (*end) number = static_cast<int64_t>(std::strtod(s.c_str(), &end));  // "3.0"
      check(s, end);
      numbers.push_back(number);
    }
    return c.Cast(c.Tensor(x.shape(), kInt64, numbers.data()), dtype);
  }
  std::vector<double> numbers;
  for (const std::string& s : *x.strings) {
    char* end = nullptr;
    numbers.push_back(std::strtod(s.c_str(), &end));
    check(s, end);
  }
  return c.Cast(c.Tensor(x.shape(), kFloat64, numbers.data()), dtype);
}

Value CastTo(const Call& c, int dtype) {
  const Value x = NumbersAt(c, 0);
  if (dtype == kStringType) return x.kind == Value::kStrings ? x : NumbersToStrings(c, x);
  if (x.kind == Value::kStrings) return StringsToNumbers(c, dtype);
  // A count of more than 65504 elements would become infinite, and the mean that it divides NaN:
  // what is computed in float32 does without that.
  if (dtype == kFloat16 && IsInteger(x.dtype()) && c.builder()->widens()) dtype = kFloat32;
  // Steps have no slope, though Gluon's cast hands gradients on.
  const bool steps = c.ForTraining() && !x.known() && IsFloating(x.dtype()) && !IsFloating(dtype);
  return c.Cast(steps ? c.Op("BlockGrad", {x}) : x, dtype);
}

constexpr int64_t kOnnxString = 8;  // TensorProto.DataType

/* Bytes that are to hold numbers of fewer bits: the low ones count. */
Value LowBits(const Call& c, const Value& x, int bits) {
  const double all = (1 << bits) - 1, sign = (all + 1) / 2;
  const Value low = WithNumber(c, "_npi_bitwise_and_scalar", x, all);
  if (x.dtype() == kUint8) return low;
  return WithNumber(c, "_npi_subtract_scalar", WithNumber(c, "_npi_bitwise_xor_scalar", low, sign), sign);
}

/* `small`: what is stored in bytes of that dtype; null: another type. */
void CastAs(Call& c, int dtype, const SmallType* small) {
  const bool saturate = c.Attr("saturate", int64_t{1}) != 0;
  const std::string round_mode = c.Attr("round_mode", "up");
  if (!small) return c.Out(CastTo(c, dtype));
  if (!small->format) return c.Out(LowBits(c, CastTo(c, dtype), small->bits));
  const Value x = c.in(0).kind == Value::kStrings ? CastTo(c, kFloat64) : NumbersAt(c, 0);
  c.Out(SmallFloats(c, x, *small, saturate, round_mode));
}

void Cast(Call& c) {
  const int64_t to = c.Attr("to", static_cast<int64_t>(0));
  const SmallType* small = SmallTypeOf(to);
  CastAs(c, to == kOnnxString ? kStringType : small ? small->dtype : c.DTypeAttr("to", kDTypeUnknown), small);
}

void CastLike(Call& c) { CastAs(c, c.in(1).dtype(), c.small(1)); }

void BitCast(Call& c) {
  const SmallType *small = SmallTypeOf(c.Attr("to", int64_t{0})), *from = c.small(0);
  const int dtype = small ? small->dtype : c.DTypeAttr("to", kDTypeUnknown);
  const Value& x = c.in(0);
  if (small && from && small->bits == from->bits && small->bits < 8)  // signs reach into the other bits of a byte
    return c.Out(LowBits(c, c.Cast(x, dtype), small->bits));
  if ((small && small->bits < 8) || (from && from->bits < 8))
    c.Refuse("to is " + std::string(OnnxTypeName(c.Attr("to", int64_t{0}))) + "; accepted: types of as many bits");
  if (DTypeSize(dtype) != DTypeSize(x.dtype()))
    c.Refuse(std::string("to=") + DTypeName(dtype) + " of " + DTypeName(x.dtype()) + "; accepted: types of as many bits");
  if (dtype == x.dtype()) return c.Out(x);
  c.Known(0);
  std::vector<char> bytes(static_cast<size_t>(x.size()) * DTypeSize(dtype));
  if (!bytes.empty()) x.array.CopyBytesTo(bytes.data(), bytes.size());
  c.Out(c.Tensor(x.shape(), dtype, bytes.data()));
}

void ConstantOfShape(Call& c) {
  const std::vector<int64_t> dims = c.Ints(0);
  for (int64_t d : dims)
    if (d < 0) c.Refuse("shape " + Text(dims) + "; accepted: sizes from 0 on");
  const Constant* value = c.TensorAttr("value");
  if (value == nullptr) return c.Out(c.Filled(Shape(dims), kFloat32, 0));
  if (value->shape.Size() != 1) c.Refuse("value has shape " + value->shape.str() + "; accepted: one element");
  if (value->array.is_none())
    return c.Out(StringsValue(Shape(dims), std::vector<std::string>(static_cast<size_t>(Shape(dims).Size()), value->strings.at(0))));
  const Value one(value->array);
  double number;
  if (ScalarOf(one, &number)) return c.Out(c.Filled(Shape(dims), one.dtype(), number));
  c.Out(c.BroadcastTo(c.Reshape(one, Shape(0)), Shape(dims)));
}

template <typename T>
Value RangeOf(const Call& c, int dtype, T start, T limit, T delta) {
  if (delta == 0) c.Refuse("delta is 0; accepted: any other number");
  const double count = std::ceil((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta));
  if (!(count <= static_cast<double>(kMostListed))) c.Refuse("a range of " + Text(count) + " numbers; accepted: up to 2^28");
  std::vector<T> numbers;
  for (int64_t i = 0; i < static_cast<int64_t>(std::max(count, 0.0)); ++i)
    numbers.push_back(static_cast<T>(start + static_cast<T>(i) * delta));
  return c.Cast(c.Tensor(Shape{static_cast<int64_t>(numbers.size())}, std::is_same<T, double>::value ? kFloat64 : kInt64, numbers.data()),
                dtype);
}

void Range(Call& c) {
  const bool steps = c.has(2);  // onnxruntime's own has 1 for it
  SameDTypes(c, {c.in(0), c.in(1), c.in(steps ? 2 : 0)});
  const int dtype = c.in(0).dtype();
  if (IsFloating(dtype)) return c.Out(RangeOf<double>(c, dtype, c.Float(0), c.Float(1), steps ? c.Float(2) : 1));
  c.Out(RangeOf<int64_t>(c, dtype, c.Int(0), c.Int(1), steps ? c.Int(2) : 1));
}

void EyeLike(Call& c) {
  const Value& x = c.in(0);
  const int dtype = c.DTypeAttr("dtype", x.dtype());
  const int64_t k = c.Attr("k", static_cast<int64_t>(0));
  if (x.ndim() != 2) c.Refuse("the input has shape " + x.shape().str() + "; accepted: two dimensions");
  const int64_t rows = x.shape()[0], columns = x.shape()[1];
  if (x.size() == 0 || k >= columns || -k >= rows) return c.Out(c.Filled(x.shape(), dtype, 0));
  c.Out(c.Op("_npi_eye", {}, {{"N", Text(rows)}, {"M", Text(columns)}, {"k", Text(k)}, {"dtype", DTypeName(dtype)}}));
}

}  // namespace

Rules CastRules() {
  return {
      {"", "Cast", 6, kNewest, Cast, nullptr},
      {"", "CastLike", 15, kNewest, CastLike, nullptr},
      {"", "BitCast", 26, kNewest, BitCast, nullptr},
      {"", "ConstantOfShape", 9, kNewest, ConstantOfShape, nullptr},
      {"", "Range", 11, kNewest, Range, nullptr},
      {"", "EyeLike", 9, kNewest, EyeLike, nullptr},
      {"com.microsoft", "Range", 1, kNewest, Range, nullptr},
  };
}

}  // namespace onnx
}  // namespace mxnet
