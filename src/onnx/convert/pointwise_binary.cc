/*
 * Element by element with two or more operands, which are broadcast together. A known operand
 * of one element becomes a number in the operator, which costs no memory and fuses.
 */
#include <cmath>
#include <sstream>

#include "onnx/builder.h"
#include "onnx/convert/operands.h"
#include "onnx/convert/pointwise.h"

namespace mxnet {
namespace onnx {

namespace {

/* An operator on two arrays, on array and number, on number and array. */
struct Forms {
  std::string arrays, number_right, number_left;
};

Forms FormsOf(const char* words) {
  Forms forms;
  std::istringstream in(words);
  in >> forms.arrays >> forms.number_right >> forms.number_left;
  return forms;
}

/* May `number` take the place of an operand beside x? */
bool ServesAsNumber(const Value& operand, const Value& x, double* number) {
  return operand.ndim() <= x.ndim() && (!x.known() || x.size() != 1) && ScalarOf(operand, number);
}

Value Combine(const Call& c, const Forms& forms, const Value& a, const Value& b) {
  double number;
  if (c.builder()->Learns(a) || c.builder()->Learns(b)) return c.Op(forms.arrays.c_str(), {a, b});
  if (a.dtype() != kBool && ServesAsNumber(b, a, &number)) return WithNumber(c, forms.number_right.c_str(), a, number);
  if (b.dtype() != kBool && ServesAsNumber(a, b, &number)) return WithNumber(c, forms.number_left.c_str(), b, number);
  return c.Op(forms.arrays.c_str(), {a, b});
}

void Legacy(const Call& c) {
  c.Ignore("consumed_inputs");
  if (c.opset < 7 && c.Attr("broadcast", static_cast<int64_t>(0)) != 0) {
    // before opset 7 the second operand stood at an axis; the last one is what broadcasting does
    const int64_t axis = c.Attr("axis", static_cast<int64_t>(c.in(0).ndim() - c.in(1).ndim()));
    if (axis != c.in(0).ndim() - c.in(1).ndim()) c.Refuse("axis=" + Text(axis) + " with broadcast=1; accepted: the last dimensions");
  }
}

void Binary(Call& c) {
  Legacy(c);
  SameDTypes(c, {c.in(0), c.in(1)});
  c.Out(Combine(c, FormsOf(c.argument), c.in(0), c.in(1)));
}

void Logical(Call& c) {
  Legacy(c);
  SameDTypes(c, {c.in(0), c.in(1)});
  if (c.in(0).dtype() != kBool) c.Refuse(std::string("inputs are ") + DTypeName(c.in(0).dtype()) + "; accepted: bool");
  c.Out(c.Op(c.argument, {c.in(0), c.in(1)}));
}

void Equal(Call& c) {
  if (c.in(0).kind != Value::kStrings || c.in(1).kind != Value::kStrings) return Binary(c);
  const Shape shape = BroadcastOf(c, c.in(0).shape(), c.in(1).shape());
  // strings are equal where their numbers in one list are
  std::map<std::string, int64_t> numbers;
  Value side[2];
  for (int i = 0; i < 2; ++i) {
    std::vector<int64_t> of;
    for (const std::string& s : *c.in(i).strings) of.push_back(numbers.emplace(s, static_cast<int64_t>(numbers.size())).first->second);
    side[i] = c.Tensor(c.in(i).shape(), kInt64, of.data());
  }
  c.Out(c.Op("_npi_equal", {side[0], side[1]}));
}

void Divide(Call& c) {
  Legacy(c);
  const Value &a = c.in(0), &b = c.in(1);
  SameDTypes(c, {a, b});
  const int dtype = a.dtype();
  if (IsFloating(dtype)) return c.Out(Combine(c, FormsOf("_npi_true_divide _npi_true_divide_scalar _npi_rtrue_divide_scalar"), a, b));
  // Quotients of integers are cut off towards zero.
  double number;
  if (ServesAsNumber(b, a, &number)) return c.Out(WithNumber(c, "_div_scalar", a, number));
  if (IsUnsigned(dtype)) return c.Out(c.Op("_npi_floor_divide", {a, b}));
  if (dtype == kInt16) return c.Out(c.Cast(c.Op("broadcast_div", {c.Cast(a, kInt32), c.Cast(b, kInt32)}), dtype));
  c.Out(c.Op("broadcast_div", {a, b}));
}

Value PowerOf(const Call& c, const Value& x, double exponent) {
  if (exponent == 1) return x;
  if (exponent > 0 && exponent < 1 && c.ForTraining()) return Root(c, x, exponent);
  if (exponent == 2) return c.Op("_npi_square", {x});
  if (exponent == 3) return c.Op("_npi_multiply", {c.Op("_npi_square", {x}), x});
  return WithNumber(c, "_npi_power_scalar", x, exponent);
}

void Power(Call& c) {
  Legacy(c);
  const Value &x = c.in(0), &y = c.in(1);
  const int dtype = x.dtype();
  double exponent;
  const bool one = ServesAsNumber(y, x, &exponent);
  if (IsFloating(dtype)) {
    if (one) return c.Out(PowerOf(c, x, exponent));
    return c.Out(Combine(c, FormsOf("_npi_power _npi_power_scalar _npi_rpower_scalar"), x, c.Cast(y, dtype)));
  }
  if (one && exponent >= 0 && exponent == std::floor(exponent)) return c.Out(PowerOf(c, x, exponent));
  if (y.dtype() == dtype) return c.Out(c.Op("_npi_power", {x, y}));
  // Integers to a power of another type: in the wider of int64 and float64, then cut off.
  const int wide = IsFloating(y.dtype()) ? kFloat64 : kInt64;
  c.Out(c.Cast(c.Op("_npi_power", {c.Cast(x, wide), c.Cast(y, wide)}), dtype));
}

void Mod(Call& c) {
  const int64_t fmod = c.Attr("fmod", static_cast<int64_t>(0));
  const Value &a = c.in(0), &b = c.in(1);
  SameDTypes(c, {a, b});
  if (fmod != 0 && fmod != 1) c.Refuse("fmod=" + Text(fmod) + "; accepted: 0, 1");
  if (fmod) return c.Out(Combine(c, FormsOf("_npi_fmod _npi_fmod_scalar _npi_rfmod_scalar"), a, b));
  const Value rest = Combine(c, FormsOf("_npi_mod _npi_mod_scalar _npi_rmod_scalar"), a, b);
  double divisor;
  if (!IsFloating(a.dtype()) || (ScalarOf(b, &divisor) && divisor != 0)) return c.Out(rest);
  // a number has no rest by 0, where _npi_mod gives 0
  c.Out(c.Op("_npi_where_lscalar", {WithNumber(c, "_npi_equal_scalar", b, 0), rest}, {{"scalar", "nan"}}));
}

void Shift(Call& c) {
  const std::string direction = c.Attr("direction", "");
  const Value &a = c.in(0), &b = c.in(1);
  SameDTypes(c, {a, b});
  if (!IsInteger(a.dtype())) c.Refuse(std::string("inputs are ") + DTypeName(a.dtype()) + "; accepted: integers");
  if (direction == "LEFT") return c.Out(c.Op("_npi_bitwise_left_shift", {a, b}));
  if (direction == "RIGHT") return c.Out(c.Op("_npi_bitwise_right_shift", {a, b}));
  c.Refuse("direction=" + direction + "; accepted: LEFT, RIGHT");
}

/* Max, Min, Sum: any number of operands. */
Value FoldAll(const Call& c) {
  c.Ignore("consumed_inputs");
  SameDTypes(c, c.inputs());
  if (c.num_inputs() == 0) c.Refuse("no input; accepted: at least one");
  const Forms forms = FormsOf(c.argument);
  Value all = c.in(0);
  for (int i = 1; i < c.num_inputs(); ++i) all = Combine(c, forms, all, c.in(i));
  return all;
}

void Fold(Call& c) { c.Out(FoldAll(c)); }

void Mean(Call& c) {
  const Value sum = FoldAll(c);
  c.Out(c.num_inputs() == 1 ? sum : WithNumber(c, "_npi_true_divide_scalar", sum, c.num_inputs()));
}

}  // namespace

Rules BinaryRules() {
  return {
      {"", "Add", 1, kNewest, Binary, "_npi_add _npi_add_scalar _npi_add_scalar"},
      {"", "Sub", 1, kNewest, Binary, "_npi_subtract _npi_subtract_scalar _npi_rsubtract_scalar"},
      {"", "Mul", 1, kNewest, Binary, "_npi_multiply _npi_multiply_scalar _npi_multiply_scalar"},
      {"", "Div", 1, kNewest, Divide, nullptr},
      {"", "Pow", 1, kNewest, Power, nullptr},
      {"", "Mod", 10, kNewest, Mod, nullptr},
      {"", "Equal", 1, kNewest, Equal, "_npi_equal _npi_equal_scalar _npi_equal_scalar"},
      {"", "Less", 1, kNewest, Binary, "_npi_less _npi_less_scalar _npi_greater_scalar"},
      {"", "LessOrEqual", 12, kNewest, Binary, "_npi_less_equal _npi_less_equal_scalar _npi_greater_equal_scalar"},
      {"", "Greater", 1, kNewest, Binary, "_npi_greater _npi_greater_scalar _npi_less_scalar"},
      {"", "GreaterOrEqual", 12, kNewest, Binary, "_npi_greater_equal _npi_greater_equal_scalar _npi_less_equal_scalar"},
      {"", "And", 1, kNewest, Logical, "_npi_logical_and"},
      {"", "Or", 1, kNewest, Logical, "_npi_logical_or"},
      {"", "Xor", 1, kNewest, Logical, "_npi_logical_xor"},
      {"", "BitwiseAnd", 18, kNewest, Binary, "_npi_bitwise_and _npi_bitwise_and_scalar _npi_bitwise_and_scalar"},
      {"", "BitwiseOr", 18, kNewest, Binary, "_npi_bitwise_or _npi_bitwise_or_scalar _npi_bitwise_or_scalar"},
      {"", "BitwiseXor", 18, kNewest, Binary, "_npi_bitwise_xor _npi_bitwise_xor_scalar _npi_bitwise_xor_scalar"},
      {"", "BitShift", 11, kNewest, Shift, nullptr},
      {"", "Max", 1, kNewest, Fold, "_npi_maximum _npi_maximum_scalar _npi_maximum_scalar"},
      {"", "Min", 1, kNewest, Fold, "_npi_minimum _npi_minimum_scalar _npi_minimum_scalar"},
      {"", "Sum", 1, kNewest, Fold, "_npi_add _npi_add_scalar _npi_add_scalar"},
      {"", "Mean", 1, kNewest, Mean, "_npi_add _npi_add_scalar _npi_add_scalar"},
  };
}

}  // namespace onnx
}  // namespace mxnet
