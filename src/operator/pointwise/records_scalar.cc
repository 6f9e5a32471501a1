// Binary rows with a number as one operand: x + 2, 2 - x, ... The number is an attribute.
#include <cmath>

#include "operator/nodes/graph_operators.h"
#include "operator/nodes/make_nodes.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/expression.h"
#include "operator/pointwise/recipe.h"
#include "operator/pointwise/records.h"
#include "operator/record/dtypes.h"
#include "operator/record/numpy_types.h"
#include "operator/record/param.h"

namespace mxnet {
namespace pointwise {

struct ScalarParam : public Parameter<ScalarParam> {
  double scalar;
  bool is_int;
  MXNET_DECLARE_PARAM(ScalarParam) {
    MXNET_FIELD(scalar).set_default(1).describe("The other operand.");
    MXNET_FIELD(is_int).set_default(true).describe(
        "Whether `scalar` was given as an integer; a fraction turns integer arrays into float64.");
  }
};
MXNET_REGISTER_PARAM(ScalarParam);

AttrsPtr NumberAttrs(const std::string& op, double number) {
  auto attrs = std::make_shared<Attrs>(*MakeAttrs(Op::Get(op), {{"scalar", ExactText(number)}, {"is_int", "0"}}));
  auto param = std::make_shared<ScalarParam>(attrs->get<ScalarParam>());
  param->scalar = number;
  attrs->param = std::move(param);
  return attrs;
}

namespace {

enum class Result { kScalar, kBool, kDivide, kFloat };

// How the rows' records compute (table.h).
struct How {
  const char* name;
  bool reverse;  // scalar on the left
  Result result;
};
const How kHows[] = {
    {"scalar", false, Result::kScalar},        {"rscalar", true, Result::kScalar},      {"divide_scalar", false, Result::kDivide},
    {"rdivide_scalar", true, Result::kDivide}, {"float_scalar", false, Result::kFloat}, {"rfloat_scalar", true, Result::kFloat},
    {"bool_scalar", false, Result::kBool},
};
const How* HowOf(const RowRecord& record) {  // null: of two arrays, in records_binary.cc
  for (const How& how : kHows)
    if (record.how == how.name) return &how;
  return nullptr;
}

int ResultType(Result result, int dtype, bool is_int, const InferSwitches& s) {
  if (dtype == kDTypeUnknown) return dtype;
  if (result == Result::kDivide) return numpy::Quotient(dtype, s);
  const int meeting = numpy::PromoteNumber(dtype, is_int);
  return result == Result::kFloat ? numpy::FloatResult(meeting, s) : meeting;
}

// A bool stays one where the number is a truth value: True and False come here as 1 and 0.
// A shift counts, as in NumPy, and x | 2 is no truth value.
bool StaysBool(int id, double scalar) { return id != k_left_shift && id != k_right_shift && (scalar == 0 || scalar == 1); }

InferTypeBySwitchesFn ScalarType(Result result, bool integer_only, int id) {
  return [result, integer_only, id](const Attrs& attrs, const InferSwitches& switches, std::vector<int>* in, std::vector<int>* out) {
    const double scalar = attrs.get<ScalarParam>().scalar;
    const bool is_int = attrs.get<ScalarParam>().is_int || (integer_only && std::floor(scalar) == scalar && std::isfinite(scalar));
    MXNET_CHECK_KIND(!integer_only || is_int, Type)
        << "[" << attrs.op->name << "] scalar " << scalar << " is not a whole number; accepted: whole numbers";
    int& a = (*in)[0];
    if (a == kDTypeUnknown && IsFloating((*out)[0]) && result != Result::kBool && (is_int || (*out)[0] != kFloat64)) a = (*out)[0];
    const int t = integer_only && a == kBool && StaysBool(id, scalar) ? int{kBool} : ResultType(result, a, is_int, switches);
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
      .set_dtypes(dtypes::kAll)
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

void Register(int id, const RowRecord& record, const How& how) {
  const Row& row = GetRow(id);
  Op& op = Op::Register(record.names[0]);
  FinishRecord(&op, record);
  std::string text;  // the row's expression with the number in place of one operand
  for (const char* c = row.expression; *c; ++c) {
    const bool alone =
        (c == row.expression || !std::isalnum(static_cast<unsigned char>(c[-1]))) && !std::isalnum(static_cast<unsigned char>(c[1]));
    text += alone && *c == (how.reverse ? 'a' : 'b') ? "scalar" : alone && *c == (how.reverse ? 'b' : 'a') ? "x" : std::string(1, *c);
  }
  op.describe("Computes " + text + " for every element x.");
  op.set_param<ScalarParam>().set_inputs({"data"}).set_infer_shape(ElemwiseShape);
  op.set_infer_type(ScalarType(how.result, row.types == 'B', id))
      .set_inplace({{0, 0}})
      .set_layout(LayoutRule::kAgnostic)
      .set_supports_add();
  op.set_dtypes(row.types == 'B' ? dtypes::kIntegersAndBool : dtypes::kAll);
  op.set_trait(WithNumber{RoleOfRow(id), how.reverse, [](const Attrs& a) { return a.get<ScalarParam>().scalar; }});

  const Result result = how.result;
  const bool exact = row.exact(), reverse = how.reverse, bitwise = row.types == 'B';
  op.set_kernel([id, result, exact, reverse, bitwise](KernelArgs& a) {
    const ScalarParam& p = a.param<ScalarParam>();
    int dtype = bitwise || result != Result::kBool ? a.out[0].dtype : numpy::PromoteNumber(a.in[0].dtype, p.is_int);
    if (result == Result::kBool && dtype == kUint64 && p.scalar < 0) dtype = kFloat64;  // which has numbers below 0
    const int compute = ComputeFor(dtype, exact);
    // arithmetic on whole numbers takes a whole one, as exact rows do by themselves
    const bool cut = !exact && result == Result::kScalar && !IsFloating(dtype);
    const Operand x(a.in[0]), s(cut ? std::trunc(p.scalar) : p.scalar);
    const Operand in[2] = {reverse ? s : x, reverse ? x : s};
    Execute(a.run, Forward(id), compute, in, 2, kBinaryMasks, nullptr, a.out[0], a.req[0]);
  });
  if (!bitwise && result != Result::kBool) {
    Recipe recipe;
    recipe.row = id, recipe.count = 2, recipe.masks = kBinaryMasks;
    recipe.operand[0] = reverse ? Recipe::kNumber : 0, recipe.operand[1] = reverse ? 0 : Recipe::kNumber;
    op.set_trait(FusionRecipe{recipe, NumberOf});
  }
  if (row.uses[0] == 'Z')
    op.set_zero_gradient();
  else
    op.set_gradient(ScalarGradient(id, reverse));
}

const bool kRegistered = [] {
  for (int id = kFirstBinary + 1; id < kEndInteger; ++id) {
    bool made[2] = {false, false};
    for (const RowRecord& record : RecordsOf(id)) {
      const How* how = HowOf(record);
      if (!how) continue;
      Register(id, record, *how);
      if (GetRow(id).uses[0] == 'L' && !made[how->reverse]) RegisterBackward(id, how->reverse);
      made[how->reverse] = true;
    }
  }
  // Forward: the data itself; backward: the gradient times the number.
  Op& multiplier = Op::Register("_contrib_gradientmultiplier");
  multiplier.describe(
      "Passes the data on; multiplies the gradient by `scalar` on the way back (gradient reversal with a negative number).");
  multiplier.set_param<ScalarParam>().set_inputs({"data"}).set_infer_shape(ElemwiseShape).set_infer_type(SameType).set_inplace({{0, 0}});
  multiplier.set_layout(LayoutRule::kAgnostic).set_supports_add().set_dtypes(dtypes::kAll);
  multiplier.set_kernel([](KernelArgs& a) { ExecuteCast(a.run, a.in[0], a.out[0], a.req[0]); });
  multiplier.set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
    return std::vector<NodeEntry>{{MakeNodeLike("_contrib_backward_gradientmultiplier", *node, {ograds[0]}), 0, 0}};
  });
  Op& backward = Op::Register("_contrib_backward_gradientmultiplier");
  backward.describe("Computes x * scalar for every element x.");
  backward.set_param<ScalarParam>().set_inputs({"data"}).set_infer_shape(ElemwiseShape).set_infer_type(SameType).set_inplace({{0, 0}});
  backward.set_layout(LayoutRule::kAgnostic).set_supports_add().set_dtypes(dtypes::kClassicNumbers);
  backward.set_kernel([](KernelArgs& a) {
    const int compute = ComputeFor(a.in[0].dtype, false);
    const double number = a.param<ScalarParam>().scalar;
    const Operand in[2] = {a.in[0], Operand(IsFloating(a.in[0].dtype) ? number : std::trunc(number))};
    Execute(a.run, Forward(k_mul), compute, in, 2, kBinaryMasks, nullptr, a.out[0], a.req[0]);
  });
  backward.set_gradient(ScalarGradient(k_mul, false));
  return true;
}();

}  // namespace
}  // namespace pointwise

AttrsPtr graph_ops::MultiplyAttrs(double number) { return pointwise::NumberAttrs("_mul_scalar", number); }

}  // namespace mxnet
