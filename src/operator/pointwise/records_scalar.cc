// Binary rows with a number as one operand: x + 2, 2 - x, ... The number is an attribute.
#include "operator/param.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/expression.h"
#include "operator/pointwise/recipe.h"
#include "operator/pointwise/records.h"

namespace mxnet {
namespace pointwise {

struct ScalarParam : public dmlc::Parameter<ScalarParam> {
  double scalar;
  bool is_int;
  DMLC_DECLARE_PARAMETER(ScalarParam) {
    DMLC_DECLARE_FIELD(scalar).set_default(1).describe("The other operand.");
    DMLC_DECLARE_FIELD(is_int).set_default(true).describe(
        "Whether `scalar` was given as an integer; a fraction turns integer arrays into float64.");
  }
};
MXNET_REGISTER_PARAM(ScalarParam);

AttrsPtr NumberAttrs(const std::string& op, double number) {
  auto attrs = std::make_shared<Attrs>(*MakeAttrs(Op::Get(op), {{"scalar", Exact(number)}, {"is_int", "0"}}));
  auto param = std::make_shared<ScalarParam>(attrs->get<ScalarParam>());
  param->scalar = number;
  attrs->param = std::move(param);
  return attrs;
}

namespace {

enum class Result { kScalar, kBool, kTrueDivide };

struct Entry {
  int row;
  const char* name;
  const char* aliases;
  bool reverse;  // scalar on the left
  Result result;
  Precision precision = Precision::kAny;
};

const Entry kEntries[] = {
    {k_add, "_plus_scalar", "_PlusScalar", false, Result::kScalar},
    {k_sub, "_minus_scalar", "_MinusScalar", false, Result::kScalar},
    {k_sub, "_rminus_scalar", "_RMinusScalar", true, Result::kScalar},
    {k_mul, "_mul_scalar", "_MulScalar", false, Result::kScalar},
    {k_div, "_div_scalar", "_DivScalar", false, Result::kScalar},
    {k_div, "_rdiv_scalar", "_RDivScalar", true, Result::kScalar, Precision::kFull},
    {k_mod, "_mod_scalar", "_ModScalar", false, Result::kScalar},
    {k_mod, "_rmod_scalar", "_RModScalar", true, Result::kScalar},
    {k_power, "_power_scalar", "_PowerScalar", false, Result::kScalar, Precision::kFull},
    {k_power, "_rpower_scalar", "_RPowerScalar", true, Result::kScalar, Precision::kFull},
    {k_maximum, "_maximum_scalar", "_MaximumScalar _npi_maximum_scalar", false, Result::kScalar},
    {k_minimum, "_minimum_scalar", "_MinimumScalar _npi_minimum_scalar", false, Result::kScalar},
    {k_hypot, "_hypot_scalar", "_HypotScalar _npi_hypot_scalar", false, Result::kScalar, Precision::kFull},
    {k_equal, "_equal_scalar", "_EqualScalar", false, Result::kScalar},
    {k_not_equal, "_not_equal_scalar", "_NotEqualScalar", false, Result::kScalar},
    {k_greater, "_greater_scalar", "_GreaterScalar", false, Result::kScalar},
    {k_greater_equal, "_greater_equal_scalar", "_GreaterEqualScalar", false, Result::kScalar},
    {k_lesser, "_lesser_scalar", "_LesserScalar", false, Result::kScalar},
    {k_lesser_equal, "_lesser_equal_scalar", "_LesserEqualScalar", false, Result::kScalar},
    {k_logical_and, "_logical_and_scalar", "_LogicalAndScalar", false, Result::kScalar},
    {k_logical_or, "_logical_or_scalar", "_LogicalOrScalar", false, Result::kScalar},
    {k_logical_xor, "_logical_xor_scalar", "_LogicalXorScalar", false, Result::kScalar},
    {k_add, "_scatter_plus_scalar", "", false, Result::kScalar},
    {k_sub, "_scatter_minus_scalar", "", false, Result::kScalar},

    {k_add, "_npi_add_scalar", "", false, Result::kScalar},
    {k_sub, "_npi_subtract_scalar", "", false, Result::kScalar},
    {k_sub, "_npi_rsubtract_scalar", "", true, Result::kScalar},
    {k_mul, "_npi_multiply_scalar", "", false, Result::kScalar},
    {k_div, "_npi_true_divide_scalar", "", false, Result::kTrueDivide},
    {k_div, "_npi_rtrue_divide_scalar", "", true, Result::kTrueDivide},
    {k_mod, "_npi_mod_scalar", "", false, Result::kScalar},
    {k_mod, "_npi_rmod_scalar", "", true, Result::kScalar},
    {k_fmod, "_npi_fmod_scalar", "", false, Result::kScalar},
    {k_fmod, "_npi_rfmod_scalar", "", true, Result::kScalar},
    {k_floor_divide, "_npi_floor_divide_scalar", "", false, Result::kScalar},
    {k_floor_divide, "_npi_rfloor_divide_scalar", "", true, Result::kScalar},
    {k_power, "_npi_power_scalar", "", false, Result::kScalar, Precision::kFull},
    {k_power, "_npi_rpower_scalar", "", true, Result::kScalar, Precision::kFull},
    {k_fmax, "_npi_fmax_scalar", "", false, Result::kScalar},
    {k_fmin, "_npi_fmin_scalar", "", false, Result::kScalar},
    {k_logaddexp, "_npi_logaddexp_scalar", "", false, Result::kScalar},
    {k_copysign, "_npi_copysign_scalar", "", false, Result::kScalar},
    {k_copysign, "_npi_rcopysign_scalar", "", true, Result::kScalar},
    {k_arctan2, "_npi_arctan2_scalar", "", false, Result::kScalar},
    {k_arctan2, "_npi_rarctan2_scalar", "", true, Result::kScalar},
    {k_ldexp, "_npi_ldexp_scalar", "", false, Result::kScalar},
    {k_ldexp, "_npi_rldexp_scalar", "", true, Result::kScalar},
    {k_equal, "_npi_equal_scalar", "", false, Result::kBool},
    {k_not_equal, "_npi_not_equal_scalar", "", false, Result::kBool},
    {k_greater, "_npi_greater_scalar", "", false, Result::kBool},
    {k_greater_equal, "_npi_greater_equal_scalar", "", false, Result::kBool},
    {k_lesser, "_npi_less_scalar", "", false, Result::kBool},
    {k_lesser_equal, "_npi_less_equal_scalar", "", false, Result::kBool},
    {k_logical_and, "_npi_logical_and_scalar", "", false, Result::kBool},
    {k_logical_or, "_npi_logical_or_scalar", "", false, Result::kBool},
    {k_logical_xor, "_npi_logical_xor_scalar", "", false, Result::kBool},
    {k_bitwise_and, "_npi_bitwise_and_scalar", "", false, Result::kScalar},
    {k_bitwise_or, "_npi_bitwise_or_scalar", "", false, Result::kScalar},
    {k_bitwise_xor, "_npi_bitwise_xor_scalar", "", false, Result::kScalar},
    {k_left_shift, "_npi_bitwise_left_shift_scalar", "", false, Result::kScalar},
    {k_left_shift, "_npi_rbitwise_left_shift_scalar", "", true, Result::kScalar},
    {k_right_shift, "_npi_bitwise_right_shift_scalar", "", false, Result::kScalar},
    {k_right_shift, "_npi_rbitwise_right_shift_scalar", "", true, Result::kScalar},
    {k_gcd, "_npi_gcd_scalar", "", false, Result::kScalar},
    {k_lcm, "_npi_lcm_scalar", "", false, Result::kScalar},
};

// The dtype that array and number meet in: a fraction makes integers float64, any number makes bool
// int64.
int MeetingType(int dtype, bool is_int) {
  if (dtype == kDTypeUnknown || IsFloating(dtype)) return dtype;
  if (!is_int) return kFloat64;
  return dtype == kBool ? int{kInt64} : dtype;
}

int ResultType(Result result, int dtype, bool is_int) {
  if (dtype == kDTypeUnknown) return dtype;
  if (result == Result::kTrueDivide) return IsFloating(dtype) ? dtype : int{kFloat32};
  return MeetingType(dtype, is_int);
}

InferTypeFn ScalarType(Result result, bool integer_only) {
  return [result, integer_only](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
    const bool is_int = attrs.get<ScalarParam>().is_int;
    MXNET_CHECK_KIND(!integer_only || is_int, Type) << "[" << attrs.op->name << "] scalar " << attrs.get<ScalarParam>().scalar
                                                    << " is not an integer; accepted: integers (is_int=True)";
    int& a = (*in)[0];
    if (a == kDTypeUnknown && IsFloating((*out)[0]) && result != Result::kBool && (is_int || (*out)[0] != kFloat64)) a = (*out)[0];
    const int t = integer_only && a == kBool ? int{kBool} : ResultType(result, a, is_int);
    AssignType(attrs, "output", &(*out)[0], result == Result::kBool ? int{kBool} : t);
    return a != kDTypeUnknown && (*out)[0] != kDTypeUnknown;
  };
}

std::string BackwardName(const Row& row, bool reverse) { return std::string("_backward_") + (reverse ? "r" : "") + row.name + "_scalar"; }

GradientFn ScalarGradient(int id, bool reverse) {
  const Row& row = GetRow(id);
  if (row.uses[0] == 'L') {
    const std::string backward = BackwardName(row, reverse);
    const bool wants = Mentions(Parse(row.derivative[reverse ? 1 : 0]), reverse ? "b" : "a");  // else nobody keeps the data for it
    return [backward, wants](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return std::vector<NodeEntry>{{MakeNodeLike(backward, *node, {ograds[0], wants ? node->inputs[0] : ograds[0]}), 0, 0}};
    };
  }
  const ExprPtr d = Parse(row.derivative[reverse ? 1 : 0]);
  const bool is_mul = id == k_mul;
  return [d, is_mul](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
    if (is_mul) return std::vector<NodeEntry>{{MakeNodeLike("_mul_scalar", *node, {ograds[0]}), 0, 0}};
    return std::vector<NodeEntry>{EmitMultiply(Value::Of(ograds[0]), Emit(d, {}, ograds[0])).entry};
  };
}

bool NumberOf(const Attrs& attrs, int, Recipe* recipe) {
  recipe->params[0] = attrs.get<ScalarParam>().scalar;
  return true;
}

// (ograd, x) -> ograd * derivative with the number in its place.
void RegisterBackward(int id, bool reverse) {
  const Row& row = GetRow(id);
  Op& op = Op::Register(BackwardName(row, reverse));
  op.describe("gradient * (" + std::string(row.derivative[reverse ? 1 : 0]) + ")").set_param<ScalarParam>();
  op.set_inputs({"ograd", "data"})
      .set_infer_shape(ElemwiseShape)
      .set_inplace({{0, 0}, {1, 0}})
      .set_layout(LayoutRule::kAgnostic)
      .set_supports_add();
  op.set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
    if ((*in)[1] == kDTypeUnknown) (*in)[1] = (*in)[0];
    AssignType(attrs, "output", &(*out)[0], (*in)[0]);
    if ((*in)[0] == kDTypeUnknown) (*in)[0] = (*out)[0];
    return (*in)[0] != kDTypeUnknown && (*in)[1] != kDTypeUnknown;
  });
  op.set_gradient([id, reverse](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
    const double s = node->attrs->get<ScalarParam>().scalar;
    return GradientOfBackward(node, ograds[0], GetRow(id).derivative[reverse ? 1 : 0], {reverse ? "b" : "a"}, {{reverse ? "a" : "b", s}},
                              false);
  });
  op.set_kernel([id, reverse](KernelArgs& a) {
    const int compute = ComputeFor(a.out[0].dtype, false);
    const Operand x(a.in[1]), s(a.param<ScalarParam>().scalar);
    const Operand in[3] = {a.in[0], reverse ? s : x, reverse ? x : s};
    Execute(a.run, Gradient(id, reverse ? 1 : 0), compute, in, 3, kGradientMasks, nullptr, a.out[0], a.req[0]);
  });
  Recipe recipe;
  recipe.kind = Recipe::kGradient, recipe.row = id, recipe.side = reverse ? 1 : 0, recipe.count = 3, recipe.masks = kGradientMasks;
  recipe.operand[1] = reverse ? Recipe::kNumber : 1, recipe.operand[2] = reverse ? 1 : Recipe::kNumber;
  op.set_trait(FusionRecipe{recipe, NumberOf});
}

const bool kRegistered = [] {
  std::vector<char> done(2 * kEndInteger, 0);
  for (const Entry& e : kEntries) {
    const Row& row = GetRow(e.row);
    Op& op = Op::Register(e.name);
    AddAliases(&op, e.aliases);
    std::string text;  // the row's expression with the number in place of one operand
    for (const char* c = row.expression; *c; ++c) {
      const bool alone =
          (c == row.expression || !std::isalnum(static_cast<unsigned char>(c[-1]))) && !std::isalnum(static_cast<unsigned char>(c[1]));
      text += alone && *c == (e.reverse ? 'a' : 'b') ? "scalar" : alone && *c == (e.reverse ? 'b' : 'a') ? "x" : std::string(1, *c);
    }
    op.describe("Computes " + text + " for every element x.");
    op.set_param<ScalarParam>().set_inputs({"data"}).set_infer_shape(ElemwiseShape);
    op.set_infer_type(ScalarType(e.result, row.types == 'B')).set_inplace({{0, 0}}).set_layout(LayoutRule::kAgnostic).set_supports_add();
    op.set_dtypes(row.types == 'B' ? IntegerTypes() : NumberOrBoolTypes()).set_precision(e.precision);
    op.set_trait(WithNumber{RoleOfRow(e.row), e.reverse, [](const Attrs& a) { return a.get<ScalarParam>().scalar; }});

    const int id = e.row;
    const Result result = e.result;
    const bool exact = row.exact(), reverse = e.reverse, bitwise = row.types == 'B';
    op.set_kernel([id, result, exact, reverse, bitwise](KernelArgs& a) {
      const ScalarParam& p = a.param<ScalarParam>();
      const int compute = ComputeFor(bitwise ? a.in[0].dtype : ResultType(result, a.in[0].dtype, p.is_int), exact);
      const Operand x(a.in[0]), s(p.scalar);
      const Operand in[2] = {reverse ? s : x, reverse ? x : s};
      Execute(a.run, Forward(id), compute, in, 2, kBinaryMasks, nullptr, a.out[0], a.req[0]);
    });
    if (!bitwise && result != Result::kBool) {
      Recipe recipe;
      recipe.row = id, recipe.count = 2, recipe.masks = kBinaryMasks;
      recipe.operand[0] = reverse ? Recipe::kNumber : 0, recipe.operand[1] = reverse ? 0 : Recipe::kNumber;
      op.set_trait(FusionRecipe{recipe, NumberOf});
    }
    if (row.uses[0] == 'Z') {
      op.set_zero_gradient();
      continue;
    }
    op.set_gradient(ScalarGradient(id, reverse));
    char& made = done[2 * id + reverse];
    if (row.uses[0] == 'L' && !made) RegisterBackward(id, reverse);
    made = 1;
  }
  // Forward: the data itself; backward: the gradient times the number.
  Op& multiplier = Op::Register("_contrib_gradientmultiplier");
  multiplier.describe(
      "Passes the data on; multiplies the gradient by `scalar` on the way back (gradient reversal with a negative number).");
  multiplier.set_param<ScalarParam>().set_inputs({"data"}).set_infer_shape(ElemwiseShape).set_infer_type(SameType).set_inplace({{0, 0}});
  multiplier.set_layout(LayoutRule::kAgnostic).set_supports_add().set_dtypes(NumberTypes());
  multiplier.set_kernel([](KernelArgs& a) { ExecuteCast(a.run, a.in[0], a.out[0], a.req[0]); });
  multiplier.set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
    return std::vector<NodeEntry>{{MakeNodeLike("_contrib_backward_gradientmultiplier", *node, {ograds[0]}), 0, 0}};
  });
  Op& backward = Op::Register("_contrib_backward_gradientmultiplier");
  backward.describe("Computes x * scalar for every element x.");
  backward.set_param<ScalarParam>().set_inputs({"data"}).set_infer_shape(ElemwiseShape).set_infer_type(SameType).set_inplace({{0, 0}});
  backward.set_layout(LayoutRule::kAgnostic).set_supports_add().set_dtypes(FloatTypes());
  backward.set_kernel([](KernelArgs& a) {
    const int compute = ComputeFor(a.in[0].dtype, false);
    const Operand in[2] = {a.in[0], Operand(a.param<ScalarParam>().scalar)};
    Execute(a.run, Forward(k_mul), compute, in, 2, kBinaryMasks, nullptr, a.out[0], a.req[0]);
  });
  backward.set_gradient(ScalarGradient(k_mul, false));
  return true;
}();

}  // namespace
}  // namespace pointwise
}  // namespace mxnet
