/*
 * Operators that work element by element. Those with one operand here; with two,
 * pointwise_binary.cc.
 */
#include "onnx/convert/pointwise.h"

#include <cmath>

#include "mxnet/op.h"
#include "onnx/builder.h"
#include "onnx/convert/operands.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace onnx {

namespace {

void CheckFloats(const Call& c, const Value& x) {
  if (!IsFloating(x.dtype()))
    c.Refuse(std::string("the input is ") + DTypeName(x.dtype()) + "; accepted: float16, bfloat16, float32, float64");
}

void Unary(Call& c) {
  c.Ignore("consumed_inputs");  // of opsets before 6: what might be overwritten
  c.Out(c.Op(c.argument, {c.in(0)}));
}

/* NaN has no sign: it stays, where sign of this library gives 0. */
void Sign(Call& c) {
  const Value &x = c.in(0), sign = c.Op("_npi_sign", {x});
  c.Out(IsFloating(x.dtype()) ? c.Op("_npi_where", {c.Op("_npi_isnan", {x}), x, sign}) : sign);
}

void FloatUnary(Call& c) {
  CheckFloats(c, c.in(0));
  Unary(c);
}

void SquareRoot(Call& c) {
  CheckFloats(c, c.in(0));
  c.Out(Root(c, c.in(0)));
}

Value Activate(const Call& c, const Value& x, const char* type) { return c.Op("Activation", {x}, {{"act_type", type}}); }

void Activations(Call& c) {
  c.Ignore("consumed_inputs");
  CheckFloats(c, c.in(0));
  c.Out(Activate(c, c.in(0), c.argument));
}

void Relu(Call& c) {
  c.Ignore("consumed_inputs");
  const Value& x = c.in(0);
  if (IsFloating(x.dtype())) return c.Out(Activate(c, x, "relu"));
  c.Out(WithNumber(c, "_npi_maximum_scalar", x, 0));
}

/* LeakyReLU with the slope in an attribute. */
void Leaky(Call& c) {
  c.Ignore("consumed_inputs");
  const bool elu = std::string(c.argument) == "elu";
  const double slope = c.Attr("alpha", elu ? 1.0f : 0.01f);
  CheckFloats(c, c.in(0));
  c.Out(c.Op("LeakyReLU", {c.in(0)}, {{"act_type", c.argument}, {"slope", Text(slope)}}));
}

Value EluOf(const Call& c, const Value& x, double alpha) { return c.Op("LeakyReLU", {x}, {{"act_type", "elu"}, {"slope", Text(alpha)}}); }

void Selu(Call& c) {
  c.Ignore("consumed_inputs");
  // before opset 6 the constants had fewer digits
  const double alpha = c.Attr("alpha", c.opset < 6 ? 1.6732f : 1.67326319217681884765625f);
  const double gamma = c.Attr("gamma", c.opset < 6 ? 1.0507f : 1.05070102214813232421875f);
  CheckFloats(c, c.in(0));
  if (std::fabs(alpha - 1.6732632423543772) < 1e-6 && std::fabs(gamma - 1.0507009873554805) < 1e-6)
    return c.Out(c.Op("LeakyReLU", {c.in(0)}, {{"act_type", "selu"}}));
  c.Out(WithNumber(c, "_npi_multiply_scalar", EluOf(c, c.in(0), alpha), gamma));
}

void Celu(Call& c) {
  const double alpha = c.Attr("alpha", 1.0f);
  CheckFloats(c, c.in(0));
  if (alpha == 0) c.Refuse("alpha is 0; accepted: any other number");
  if (alpha == 1) return c.Out(EluOf(c, c.in(0), 1));
  // max(0, x) + min(0, alpha (exp(x / alpha) - 1)), also for negative alpha
  const Value low =
      WithNumber(c, "_npi_multiply_scalar", c.Op("expm1", {WithNumber(c, "_npi_multiply_scalar", c.in(0), 1 / alpha)}), alpha);
  c.Out(c.Op("_npi_add", {Activate(c, c.in(0), "relu"), WithNumber(c, "_npi_minimum_scalar", low, 0)}));
}

Value HardSigmoidOf(const Call& c, const Value& x, double alpha, double beta) {
  return c.Op("hard_sigmoid", {x}, {{"alpha", Text(alpha)}, {"beta", Text(beta)}});
}

void HardSigmoid(Call& c) {
  c.Ignore("consumed_inputs");
  const double alpha = c.Attr("alpha", 0.2f), beta = c.Attr("beta", 0.5f);
  CheckFloats(c, c.in(0));
  c.Out(HardSigmoidOf(c, c.in(0), alpha, beta));
}

void HardSwish(Call& c) {
  CheckFloats(c, c.in(0));
  c.Out(c.Op("_hard_swish", {c.in(0)}, {{"alpha", Text(1.0 / 6)}, {"beta", "0.5"}}));
}

Value SwishOf(const Call& c, const Value& x, double alpha) { return c.Op("_silu", {x}, {{"beta", Text(alpha)}}); }

void Swish(Call& c) {
  const double alpha = c.Attr("alpha", 1.0f);
  CheckFloats(c, c.in(0));
  c.Out(SwishOf(c, c.in(0), alpha));
}

void SwiGlu(Call& c) {
  const double alpha = c.Attr("alpha", 1.0f);
  SameDTypes(c, {c.in(0), c.in(1)});
  CheckFloats(c, c.in(0));
  if (c.in(0).shape() != c.in(1).shape())
    c.Refuse("shapes " + c.in(0).shape().str() + " and " + c.in(1).shape().str() + "; accepted: equal ones");
  c.Out(c.Op("_npi_multiply", {SwishOf(c, c.in(0), alpha), c.in(1)}));
}

void Gelu(Call& c) {
  const std::string approximate = c.Attr("approximate", "none");
  const Value& x = c.in(0);
  CheckFloats(c, x);
  if (approximate == "none") return c.Out(c.Op("LeakyReLU", {x}, {{"act_type", "gelu"}}));
  if (approximate != "tanh") c.Refuse("approximate=" + approximate + "; accepted: none, tanh");
  // x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
  const Value inner = WithNumber(c, "_npi_add_scalar", WithNumber(c, "_npi_multiply_scalar", c.Op("_npi_square", {x}), 0.044715), 1);
  const Value wave = c.Op("tanh", {WithNumber(c, "_npi_multiply_scalar", c.Op("_npi_multiply", {x, inner}), 0.7978845608028654)});
  c.Out(c.Op("_npi_multiply", {WithNumber(c, "_npi_multiply_scalar", x, 0.5), WithNumber(c, "_npi_add_scalar", wave, 1)}));
}

void ThresholdedRelu(Call& c) {
  const double alpha = c.Attr("alpha", 1.0f);
  const Value& x = c.in(0);
  CheckFloats(c, x);
  c.Out(c.Op("_npi_where_rscalar", {WithNumber(c, "_npi_greater_scalar", x, alpha), x}, {{"scalar", "0"}}));
}

void Shrink(Call& c) {
  const double bias = c.Attr("bias", 0.0f), lambd = c.Attr("lambd", 0.5f);
  const Value& x = c.in(0);
  // integers are compared and moved as float64, and cut off afterwards
  const Value wide = IsFloating(x.dtype()) ? x : c.Cast(x, kFloat64);
  const Value high =
      c.Op("_npi_where_rscalar", {WithNumber(c, "_npi_greater_scalar", wide, lambd), WithNumber(c, "_npi_subtract_scalar", wide, bias)},
           {{"scalar", "0"}});
  const Value all =
      c.Op("_npi_where", {WithNumber(c, "_npi_less_scalar", wide, -lambd), WithNumber(c, "_npi_add_scalar", wide, bias), high});
  c.Out(c.Cast(all, x.dtype()));
}

/* Is a slope one number per channel of x? */
bool PerChannel(const Value& x, const Value& slope) {
  if (x.ndim() < 2 || slope.ndim() > x.ndim()) return false;
  for (int i = 0; i < slope.ndim(); ++i) {
    const int axis = x.ndim() - slope.ndim() + i;
    if (slope.shape()[i] != (axis == 1 ? x.shape()[1] : 1)) return false;
  }
  return slope.size() == x.shape()[1];
}

void PRelu(Call& c) {
  c.Ignore("consumed_inputs");
  const Value &x = c.in(0), &slope = c.in(1);
  SameDTypes(c, {x, slope});
  if (BroadcastOf(c, x.shape(), slope.shape()) != x.shape())
    c.Refuse("slope has shape " + slope.shape().str() + "; accepted: what broadcasts to " + x.shape().str());
  if (IsFloating(x.dtype()) && x.ndim() >= 2) {
    // a slope of one dimension counted from the left before opset 7
    if (PerChannel(x, slope) || (c.opset < 7 && slope.ndim() == 1 && slope.size() == x.shape()[1]))
      return c.Out(c.Op("LeakyReLU", {x, c.Reshape(slope, Shape{x.shape()[1]})}, {{"act_type", "prelu"}}));
  }
  double number;
  if (IsFloating(x.dtype()) && slope.size() == 1) {  // of PyTorch's PReLU without a number of channels
    if (!c.builder()->Learns(slope) && ScalarOf(slope, &number) && static_cast<double>(static_cast<float>(number)) == number)
      return c.Out(c.Op("LeakyReLU", {x}, {{"act_type", "leaky"}, {"slope", Text(number)}}));
    return c.Out(c.Op("LeakyReLU", {x, c.Reshape(slope, Shape{1})}, {{"act_type", "prelu"}}));
  }
  const Value low = c.Op("_npi_multiply", {x, slope});
  c.Out(c.Op("_npi_where", {WithNumber(c, "_npi_less_scalar", x, 0), low, x}));
}

/* A bound of Clip, as an operator on a number where it is known. */
Value Bounded(const Call& c, const Value& x, const Value& bound, const char* op, const char* scalar_op) {
  double number;
  if (bound.size() != 1) c.Refuse("a bound has shape " + bound.shape().str() + "; accepted: one number");
  if (ScalarOf(bound, &number)) return WithNumber(c, scalar_op, x, number);
  if (bound.known() && IsFloating(bound.dtype())) {
    const double beyond = NumbersOf(bound)[0];
    if (std::isinf(beyond) && (beyond < 0) == (std::string(op) == "_npi_maximum")) return x;
  }
  return c.Op(op, {x, c.Reshape(bound, Shape(0))});
}

void Clip(Call& c) {
  const Value& x = c.in(0);
  Value low, high;
  if (c.opset < 11) {
    c.Ignore("consumed_inputs");
    if (c.has_attr("min")) low = c.Scalar(c.Attr("min", 0.0f), x.dtype());
    if (c.has_attr("max")) high = c.Scalar(c.Attr("max", 0.0f), x.dtype());
  } else {
    if (c.has(1)) low = c.in(1);
    if (c.has(2)) high = c.in(2);
  }
  for (const Value* bound : {&low, &high})
    if (bound->kind != Value::kNone) SameDTypes(c, {x, *bound});
  double a, b;
  if (IsFloating(x.dtype()) && x.dtype() != kFloat64 && ScalarOf(low, &a) && ScalarOf(high, &b) && a <= b)
    return c.Out(c.Op("clip", {x}, {{"a_min", Text(a)}, {"a_max", Text(b)}}));
  if (IsFloating(x.dtype()) && high.kind == Value::kNone && ScalarOf(low, &a) && a == 0) return c.Out(Activate(c, x, "relu"));
  Value y = x;
  if (low.kind != Value::kNone) y = Bounded(c, y, low, "_npi_maximum", "_npi_maximum_scalar");
  if (high.kind != Value::kNone) y = Bounded(c, y, high, "_npi_minimum", "_npi_minimum_scalar");
  c.Out(y);
}

void IsNaN(Call& c) {
  const Value x = NumbersAt(c, 0);
  CheckFloats(c, x);
  c.Out(c.Op("_npi_isnan", {x}));
}

void IsInf(Call& c) {
  const bool negative = c.Attr("detect_negative", static_cast<int64_t>(1)) != 0;
  const bool positive = c.Attr("detect_positive", static_cast<int64_t>(1)) != 0;
  const Value x = NumbersAt(c, 0);
  CheckFloats(c, x);
  if (!negative && !positive) return c.Out(c.Filled(x.shape(), kBool, 0));
  c.Out(c.Op(negative && positive ? "_npi_isinf" : negative ? "_npi_isneginf" : "_npi_isposinf", {x}));
}

void Not(Call& c) {
  if (c.in(0).dtype() != kBool) c.Refuse(std::string("the input is ") + DTypeName(c.in(0).dtype()) + "; accepted: bool");
  Unary(c);
}

/* Halves go to the even neighbour, which _npi_rint does not do. */
void Round(Call& c) {
  CheckFloats(c, c.in(0));
  c.Out(c.Op("_npi_around", {c.in(0)}, {{"decimals", "0"}}));
}

Rules MakeRules() {
  Rules rules = {
      {"", "Abs", 1, kNewest, Unary, "_npi_absolute"},
      {"", "Neg", 1, kNewest, Unary, "_npi_negative"},
      {"", "Sign", 9, kNewest, Sign, nullptr},
      {"", "Floor", 1, kNewest, FloatUnary, "_npi_floor"},
      {"", "Ceil", 1, kNewest, FloatUnary, "_npi_ceil"},
      {"", "Round", 11, kNewest, Round, nullptr},
      {"", "Sqrt", 1, kNewest, SquareRoot, nullptr},
      {"", "Exp", 1, kNewest, FloatUnary, "_npi_exp"},
      {"", "Log", 1, kNewest, FloatUnary, "_npi_log"},
      {"", "Reciprocal", 1, kNewest, FloatUnary, "_npi_reciprocal"},
      {"", "Sin", 7, kNewest, FloatUnary, "_npi_sin"},
      {"", "Cos", 7, kNewest, FloatUnary, "_npi_cos"},
      {"", "Tan", 7, kNewest, FloatUnary, "_npi_tan"},
      {"", "Asin", 7, kNewest, FloatUnary, "_npi_arcsin"},
      {"", "Acos", 7, kNewest, FloatUnary, "_npi_arccos"},
      {"", "Atan", 7, kNewest, FloatUnary, "_npi_arctan"},
      {"", "Sinh", 9, kNewest, FloatUnary, "_npi_sinh"},
      {"", "Cosh", 9, kNewest, FloatUnary, "_npi_cosh"},
      {"", "Asinh", 9, kNewest, FloatUnary, "_npi_arcsinh"},
      {"", "Acosh", 9, kNewest, FloatUnary, "_npi_arccosh"},
      {"", "Atanh", 9, kNewest, FloatUnary, "_npi_arctanh"},
      {"", "Erf", 9, kNewest, FloatUnary, "erf"},
      {"", "Sigmoid", 1, kNewest, FloatUnary, "sigmoid"},
      {"", "Tanh", 1, kNewest, FloatUnary, "tanh"},
      {"", "Softsign", 1, kNewest, FloatUnary, "softsign"},
      {"", "Softplus", 1, kNewest, Activations, "softrelu"},
      {"", "Mish", 18, kNewest, FloatUnary, "mish"},
      {"", "Relu", 1, kNewest, Relu, nullptr},
      {"", "LeakyRelu", 1, kNewest, Leaky, "leaky"},
      {"", "Elu", 1, kNewest, Leaky, "elu"},
      {"", "Selu", 1, kNewest, Selu, nullptr},
      {"", "Celu", 12, kNewest, Celu, nullptr},
      {"", "PRelu", 1, kNewest, PRelu, nullptr},
      {"", "HardSigmoid", 1, kNewest, HardSigmoid, nullptr},
      {"", "HardSwish", 14, kNewest, HardSwish, nullptr},
      {"", "Swish", 24, kNewest, Swish, nullptr},
      {"", "SwiGLU", 28, kNewest, SwiGlu, nullptr},
      {"", "Gelu", 20, kNewest, Gelu, nullptr},
      {"", "ThresholdedRelu", 1, kNewest, ThresholdedRelu, nullptr},
      {"", "Shrink", 9, kNewest, Shrink, nullptr},
      {"", "Clip", 1, kNewest, Clip, nullptr},
      {"", "IsNaN", 9, kNewest, IsNaN, nullptr},
      {"", "IsInf", 10, kNewest, IsInf, nullptr},
      {"", "Not", 1, kNewest, Not, "_npi_logical_not"},
      {"", "BitwiseNot", 18, kNewest, Unary, "_npi_bitwise_not"},
  };
  const Rules binary = BinaryRules();
  rules.insert(rules.end(), binary.begin(), binary.end());
  return rules;
}

}  // namespace

/* A sum or a mean, perhaps times or over numbers. */
static bool IsOfSums(const NodeEntry& e) {
  const Node* node = e.node.get();
  for (int i = 0; i < 4 && !node->is_variable(); ++i) {
    const Role role = RoleOf(*node);
    if (role == Role::kSum || role == Role::kMean) return true;
    const auto is = [&](Role scaling) { return role == scaling || NumberBeside(*node, scaling); };
    if (!is(Role::kMultiply) && !is(Role::kDivide)) return false;
    node = node->inputs[0].node.get();
  }
  return false;
}

Value Root(const Call& c, const Value& x, double exponent) {
  const auto root = [&](const Value& v) {
    return exponent == 0.5 ? c.Op("_npi_sqrt", {v}) : WithNumber(c, "_npi_power_scalar", v, exponent);
  };
  if (!c.ForTraining() || x.known() || !IsOfSums(x.entry)) return root(x);
  const Value zero = WithNumber(c, "_npi_equal_scalar", x, 0);
  const auto instead = [&](const char* number, const Value& v) { return c.Op("_npi_where_lscalar", {zero, v}, {{"scalar", number}}); };
  return instead("0", root(instead("1", x)));
}

const Rules& PointwiseRules() {
  static const Rules rules = MakeRules();
  return rules;
}

}  // namespace onnx
}  // namespace mxnet
