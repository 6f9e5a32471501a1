// Binary operators on two arrays: elementwise (equal shapes), broadcasting, and NumPy names with
// their dtype rules.
#include "operator/pointwise/execute.h"
#include "operator/pointwise/expression.h"
#include "operator/pointwise/recipe.h"
#include "operator/pointwise/records.h"

namespace mxnet {
namespace pointwise {
namespace {

enum class Result {
  kSame,       // both inputs and the output share one dtype
  kBool,       // inputs share one dtype, output is bool
  kPromote,    // NumPy's promotion of mixed inputs
  kTrueDivide  // promotion, then float32 for integers
};

struct Entry {
  int row;
  const char* name;
  const char* aliases;
  bool broadcast;
  Result result;
  const char* inputs[2] = {"lhs", "rhs"};
  Precision precision = Precision::kAny;
};

const Entry kEntries[] = {
    {k_add, "elemwise_add", "_add _plus _Plus _sparse_elemwise_add", false, Result::kSame},
    {k_add, "_grad_add", "", false, Result::kSame},
    {k_sub, "elemwise_sub", "_sub _minus _Minus _sparse_elemwise_sub", false, Result::kSame},
    {k_mul, "elemwise_mul", "_mul _Mul _sparse_elemwise_mul", false, Result::kSame},
    {k_div, "elemwise_div", "_div _Div _sparse_elemwise_div", false, Result::kSame},
    {k_div, "_scatter_elemwise_div", "", false, Result::kSame},
    {k_mod, "_mod", "_Mod", false, Result::kSame},
    {k_power, "_power", "_Power", false, Result::kSame, {"lhs", "rhs"}, Precision::kFull},
    {k_maximum, "_maximum", "_Maximum", false, Result::kSame},
    {k_minimum, "_minimum", "_Minimum", false, Result::kSame},
    {k_hypot, "_hypot", "_Hypot", false, Result::kSame, {"lhs", "rhs"}, Precision::kFull},
    {k_equal, "_equal", "_Equal", false, Result::kSame},
    {k_not_equal, "_not_equal", "_Not_Equal", false, Result::kSame},
    {k_greater, "_greater", "_Greater", false, Result::kSame},
    {k_greater_equal, "_greater_equal", "_Greater_Equal", false, Result::kSame},
    {k_lesser, "_lesser", "_Lesser", false, Result::kSame},
    {k_lesser_equal, "_lesser_equal", "_Lesser_Equal", false, Result::kSame},
    {k_logical_and, "_logical_and", "_Logical_And", false, Result::kSame},
    {k_logical_or, "_logical_or", "_Logical_Or", false, Result::kSame},
    {k_logical_xor, "_logical_xor", "_Logical_Xor", false, Result::kSame},

    {k_add, "broadcast_add", "broadcast_plus _sparse_broadcast_add _sparse_broadcast_plus", true, Result::kSame},
    {k_sub, "broadcast_sub", "broadcast_minus _sparse_broadcast_sub _sparse_broadcast_minus", true, Result::kSame},
    {k_mul, "broadcast_mul", "_sparse_broadcast_mul", true, Result::kSame},
    {k_div, "broadcast_div", "_sparse_broadcast_div", true, Result::kSame},
    {k_mod, "broadcast_mod", "", true, Result::kSame},
    {k_power, "broadcast_power", "", true, Result::kSame, {"lhs", "rhs"}, Precision::kFull},
    {k_maximum, "broadcast_maximum", "_npi_maximum", true, Result::kSame},
    {k_minimum, "broadcast_minimum", "_npi_minimum", true, Result::kSame},
    {k_hypot, "broadcast_hypot", "", true, Result::kSame, {"lhs", "rhs"}, Precision::kFull},
    {k_equal, "broadcast_equal", "", true, Result::kSame},
    {k_not_equal, "broadcast_not_equal", "", true, Result::kSame},
    {k_greater, "broadcast_greater", "_npx_broadcast_greater", true, Result::kSame},
    {k_greater_equal, "broadcast_greater_equal", "", true, Result::kSame},
    {k_lesser, "broadcast_lesser", "", true, Result::kSame},
    {k_lesser_equal, "broadcast_lesser_equal", "", true, Result::kSame},
    {k_logical_and, "broadcast_logical_and", "", true, Result::kSame},
    {k_logical_or, "broadcast_logical_or", "", true, Result::kSame},
    {k_logical_xor, "broadcast_logical_xor", "", true, Result::kSame},

    {k_add, "_npi_add", "", true, Result::kPromote},
    {k_sub, "_npi_subtract", "", true, Result::kPromote},
    {k_mul, "_npi_multiply", "", true, Result::kPromote},
    {k_div, "_npi_true_divide", "", true, Result::kTrueDivide},
    {k_mod, "_npi_mod", "", true, Result::kPromote},
    {k_fmod, "_npi_fmod", "", true, Result::kPromote},
    {k_floor_divide, "_npi_floor_divide", "", true, Result::kPromote},
    {k_power, "_npi_power", "", true, Result::kPromote, {"lhs", "rhs"}, Precision::kFull},
    {k_fmax, "_npi_fmax", "", true, Result::kSame},
    {k_fmin, "_npi_fmin", "", true, Result::kSame},
    {k_logaddexp, "_npi_logaddexp", "", true, Result::kSame, {"x1", "x2"}},
    {k_copysign, "_npi_copysign", "", true, Result::kSame},
    {k_ldexp, "_npi_ldexp", "", true, Result::kSame},
    {k_arctan2, "_npi_arctan2", "", true, Result::kSame, {"x1", "x2"}},
    {k_hypot, "_npi_hypot", "", true, Result::kSame, {"x1", "x2"}, Precision::kFull},
    {k_equal, "_npi_equal", "", true, Result::kBool},
    {k_not_equal, "_npi_not_equal", "", true, Result::kBool},
    {k_greater, "_npi_greater", "", true, Result::kBool},
    {k_greater_equal, "_npi_greater_equal", "", true, Result::kBool},
    {k_lesser, "_npi_less", "", true, Result::kBool},
    {k_lesser_equal, "_npi_less_equal", "", true, Result::kBool},
    {k_logical_and, "_npi_logical_and", "", true, Result::kBool},
    {k_logical_or, "_npi_logical_or", "", true, Result::kBool},
    {k_logical_xor, "_npi_logical_xor", "", true, Result::kBool},
    {k_bitwise_and, "_npi_bitwise_and", "", true, Result::kSame},
    {k_bitwise_or, "_npi_bitwise_or", "", true, Result::kSame},
    {k_bitwise_xor, "_npi_bitwise_xor", "", true, Result::kSame},
    {k_left_shift, "_npi_bitwise_left_shift", "", true, Result::kSame},
    {k_right_shift, "_npi_bitwise_right_shift", "", true, Result::kSame},
    {k_gcd, "_npi_gcd", "", true, Result::kSame},
    {k_lcm, "_npi_lcm", "", true, Result::kSame},
};

int ResultType(Result result, int a, int b) {
  if (result == Result::kSame || result == Result::kBool) return a;
  const int t = PromoteTypes(a, b);
  return result == Result::kTrueDivide && t != kDTypeUnknown && !IsFloating(t) ? int{kFloat32} : t;
}

InferTypeFn PromotedType(Result result, bool bool_allowed) {
  return [result, bool_allowed](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
    int &a = (*in)[0], &b = (*in)[1];
    if (a == kDTypeUnknown) a = b;
    if (b == kDTypeUnknown) b = a;
    if (a == kDTypeUnknown) {
      if ((*out)[0] == kDTypeUnknown || (result == Result::kTrueDivide && !IsFloating((*out)[0]))) return false;
      a = b = (*out)[0];
    }
    const int t = ResultType(result, a, b);
    MXNET_CHECK_KIND(t != kDTypeUnknown && (bool_allowed || t != kBool), Type)
        << "[" << attrs.op->name << "] inputs are " << DTypeName(a) << " and " << DTypeName(b)
        << "; accepted: pairs with a common type among " << DTypeList(bool_allowed ? NumberOrBoolTypes() : NumberTypes());
    AssignType(attrs, "output", &(*out)[0], t);
    return true;
  };
}

bool IsComparisonOrLogic(int row) { return row >= k_equal && row <= k_logical_xor; }

// Gradient of both inputs; `fit` sums what was broadcast.
// promotes: the operands may have different dtypes, and so may the gradient and they.
GradientFn BinaryGradient(int id, bool broadcast, bool promotes) {
  const Row& row = GetRow(id);
  const std::string side_names[2] = {std::string("_backward_") + row.name + "_lhs", std::string("_backward_") + row.name + "_rhs"};
  if (row.uses[0] == 'L') {
    bool
        wants[2]
             [2];  // by side: which operands the derivative depends on. The gradient stands in for others, so that nobody keeps them for it
    for (int side = 0; side < 2; ++side)
      for (int operand = 0; operand < 2; ++operand) wants[side][operand] = Mentions(Parse(row.derivative[side]), operand ? "b" : "a");
    return [side_names, broadcast, wants](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      std::vector<NodeEntry> grads;
      for (int side = 0; side < 2; ++side) {
        NodeEntry g = Simple(side_names[side],
                             {ograds[0], wants[side][0] ? node->inputs[0] : ograds[0], wants[side][1] ? node->inputs[1] : ograds[0]});
        grads.push_back(broadcast ? Simple("_sum_like", {g, node->inputs[side]}) : g);
      }
      return grads;
    };
  }
  if (id == k_mul && promotes)
    return [](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      std::vector<NodeEntry> grads;
      for (int side = 0; side < 2; ++side)
        grads.push_back(Simple("_sum_like", {Simple("_npi_multiply", {ograds[0], node->inputs[1 - side]}), node->inputs[side]}));
      return grads;
    };
  const ExprPtr d[2] = {Parse(row.derivative[0]), Parse(row.derivative[1])};
  return [d0 = d[0], d1 = d[1], broadcast](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
    const Bindings bindings = {{"a", Value::Of(node->inputs[0])}, {"b", Value::Of(node->inputs[1])}};
    std::vector<NodeEntry> grads;
    for (int side = 0; side < 2; ++side) {
      NodeEntry g = EmitMultiply(Value::Of(ograds[0]), Emit(side ? d1 : d0, bindings, ograds[0])).entry;
      grads.push_back(broadcast ? Simple("_sum_like", {g, node->inputs[side]}) : g);
    }
    return grads;
  };
}

// (ograd, a, b) -> ograd * derivative, in the shape of ograd.
void RegisterSide(int id, int side) {
  const Row& row = GetRow(id);
  Op& op = Op::Register(std::string("_backward_") + row.name + (side ? "_rhs" : "_lhs"));
  op.describe("gradient * (" + std::string(row.derivative[side]) + ")");
  op.set_inputs({"ograd", "a", "b"}).set_infer_shape(BroadcastInputsShape).set_inplace({{0, 0}, {1, 0}, {2, 0}}).set_supports_add();
  // mixed inputs of promoting operators: the gradient has the promoted type
  op.set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
    for (int i = 1; i < 3; ++i)
      if ((*in)[i] == kDTypeUnknown) (*in)[i] = (*in)[0];
    AssignType(attrs, "output", &(*out)[0], (*in)[0]);
    if ((*in)[0] == kDTypeUnknown) (*in)[0] = (*out)[0];
    return (*out)[0] != kDTypeUnknown && (*in)[1] != kDTypeUnknown && (*in)[2] != kDTypeUnknown;
  });
  op.set_gradient([id, side](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
    return GradientOfBackward(node, ograds[0], GetRow(id).derivative[side], {"a", "b"}, {}, true);
  });
  op.set_kernel([id, side](KernelArgs& a) {
    const int compute = ComputeFor(a.out[0].dtype, false);
    const Operand in[3] = {a.in[0], a.in[1], a.in[2]};
    Execute(a.run, Gradient(id, side), compute, in, 3, kGradientMasks, nullptr, a.out[0], a.req[0]);
  });
  Recipe recipe;
  recipe.kind = Recipe::kGradient, recipe.row = id, recipe.side = side, recipe.count = 3, recipe.masks = kGradientMasks;
  op.set_trait(FusionRecipe{recipe});
}

const bool kRegistered = [] {
  std::vector<char> sides(kEndInteger, 0);
  for (const Entry& e : kEntries) {
    const Row& row = GetRow(e.row);
    Op& op = Op::Register(e.name);
    AddAliases(&op, e.aliases);
    op.describe("Computes " + std::string(row.expression) + " for every pair of elements" +
                (e.broadcast ? ", broadcasting the inputs." : " of two equally shaped inputs."));
    op.set_inputs({e.inputs[0], e.inputs[1]}).set_infer_shape(e.broadcast ? BroadcastInputsShape : ElemwiseShape);
    op.set_inplace({{0, 0}, {1, 0}}).set_supports_add().set_trait(RoleOfRow(e.row));
    if (!e.broadcast) op.set_layout(LayoutRule::kAgnostic);
    const bool promotes = e.result == Result::kPromote || e.result == Result::kTrueDivide;
    const bool no_bool = e.row == k_sub || e.row == k_mod || e.row == k_fmod || e.row == k_floor_divide;
    if (promotes)
      op.set_infer_type(PromotedType(e.result, !no_bool));
    else if (e.result == Result::kBool)
      op.set_infer_type(BoolOutputType);
    else
      op.set_infer_type(SameType);
    if (row.types == 'B')
      op.set_dtypes(IntegerTypes());
    else if (promotes || IsComparisonOrLogic(e.row))
      op.set_dtypes(NumberOrBoolTypes());
    else
      op.set_dtypes(NumberTypes());
    op.set_precision(e.precision);

    const int id = e.row;
    const Result result = e.result;
    const bool exact = row.exact();
    op.set_kernel([id, result, exact](KernelArgs& a) {
      const int compute = ComputeFor(ResultType(result, a.in[0].dtype, a.in[1].dtype), exact);
      const Operand in[2] = {a.in[0], a.in[1]};
      Execute(a.run, Forward(id), compute, in, 2, kBinaryMasks, nullptr, a.out[0], a.req[0]);
    });
    if (row.types != 'B' && result != Result::kBool) {
      Recipe recipe;
      recipe.row = id, recipe.count = 2, recipe.masks = kBinaryMasks;
      op.set_trait(FusionRecipe{recipe});
    }

    if (row.uses[0] == 'Z') {
      op.set_zero_gradient();
      continue;
    }
    op.set_gradient(BinaryGradient(id, e.broadcast, promotes));
    if (row.uses[0] == 'L' && !sides[id]) {
      sides[id] = 1;
      RegisterSide(id, 0);
      RegisterSide(id, 1);
    }
  }
  return true;
}();

}  // namespace
}  // namespace pointwise
}  // namespace mxnet
