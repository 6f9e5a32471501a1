// Binary operators on two arrays: elementwise (equal shapes), broadcasting, and NumPy names with
// their dtype rules.
#include "operator/pointwise/execute.h"
#include "operator/pointwise/expression.h"
#include "operator/pointwise/recipe.h"
#include "operator/pointwise/records.h"
#include "operator/record/dtypes.h"
#include "operator/record/numpy_types.h"

namespace mxnet {
namespace pointwise {
namespace {

enum class Result {
  kSame,     // both inputs and the output share one dtype
  kBool,     // compared in what holds both; the output is bool
  kPromote,  // NumPy's promotion of mixed inputs
  kDivide,   // promotion, then the default float for integers
  kFloat     // promotion, then a float for integers
};

// How the rows' records compute (table.h).
struct How {
  const char* name;
  bool broadcast;
  Result result;
  const char* inputs[2] = {"lhs", "rhs"};
};
const How kHows[] = {
    {"same", false, Result::kSame},
    {"broadcast", true, Result::kSame},
    {"promote", true, Result::kPromote},
    {"divide", true, Result::kDivide},
    {"float", true, Result::kFloat, {"x1", "x2"}},
    {"lhs_float", true, Result::kFloat},
    {"bool", true, Result::kBool},
};
bool HasScalar(const RowRecord& record) { return record.how.find("scalar") != std::string::npos; }  // records_scalar.cc
const How& HowOf(int row, const RowRecord& record) {
  for (const How& how : kHows)
    if (record.how == how.name) return how;
  UnknownRecord(row, record);
}

int ResultType(Result result, int a, int b, const InferSwitches& s) {
  const int t = numpy::Promote(a, b, s);
  if (result == Result::kDivide) return numpy::Quotient(t, s);
  return result == Result::kFloat && !IsFloating(t) ? numpy::Promote(numpy::FloatResult(a, s), numpy::FloatResult(b, s), s) : t;
}

InferTypeBySwitchesFn NumpyType(Result result, bool whole) {
  return [result, whole](const Attrs& attrs, const InferSwitches& switches, std::vector<int>* in, std::vector<int>* out) {
    int &a = (*in)[0], &b = (*in)[1];
    if (a == kDTypeUnknown) a = b;
    if (b == kDTypeUnknown) b = a;
    if (result == Result::kBool) {
      AssignType(attrs, "output", &(*out)[0], kBool);
      return a != kDTypeUnknown;
    }
    if (a == kDTypeUnknown) {
      const bool telling = result == Result::kPromote ? (*out)[0] != kDTypeUnknown : IsFloating((*out)[0]);
      if (!telling) return false;
      a = b = (*out)[0];
    }
    const int t = ResultType(result, a, b, switches);
    MXNET_CHECK_KIND(!whole || !IsFloating(t), Type) << "[" << attrs.op->name << "] inputs are " << DTypeName(a) << " and " << DTypeName(b)
                                                     << "; accepted: bool and integers that have a common integer type";
    AssignType(attrs, "output", &(*out)[0], t);
    return true;
  };
}

// NumPy subtracts no bools.
bool DifferenceType(const Attrs& attrs, const InferSwitches& switches, std::vector<int>* in, std::vector<int>* out) {
  static const InferTypeBySwitchesFn type = NumpyType(Result::kPromote, false);
  const bool known = type(attrs, switches, in, out);
  MXNET_CHECK_KIND((*out)[0] != kBool, Type) << "[" << attrs.op->name
                                             << "] both inputs are bool, which cannot be subtracted; accepted: at most "
                                             << "one, or bitwise_xor (^) and logical_xor";
  return known;
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
  op.set_inputs({"ograd", "a", "b"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(BroadcastInputsShape)
      .set_inplace({{0, 0}, {1, 0}, {2, 0}})
      .set_supports_add();
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

void Register(int id, const RowRecord& record) {
  const Row& row = GetRow(id);
  const How& how = HowOf(id, record);
  Op& op = Op::Register(record.names[0]);
  FinishRecord(&op, record);
  op.describe("Computes " + std::string(row.expression) + " for every pair of elements" +
              (how.broadcast ? ", broadcasting the inputs." : " of two equally shaped inputs."));
  op.set_inputs({how.inputs[0], how.inputs[1]}).set_infer_shape(how.broadcast ? BroadcastInputsShape : ElemwiseShape);
  op.set_inplace({{0, 0}, {1, 0}}).set_supports_add().set_trait(RoleOfRow(id));
  op.set_layout(how.broadcast ? LayoutRule::kBroadcast : LayoutRule::kAgnostic);
  const bool numpy = how.result != Result::kSame, promotes = numpy && how.result != Result::kBool;
  if (numpy)
    op.set_infer_type(id == k_sub && promotes ? DifferenceType : NumpyType(how.result, row.types == 'B'))
        .set_dtypes(row.types == 'B' ? dtypes::kIntegersAndBool : dtypes::kAll);
  else
    op.set_infer_type(SameType).set_dtypes(IsComparisonOrLogic(id) ? dtypes::kClassic : dtypes::kClassicNumbers);

  const Result result = how.result;
  const bool exact = row.exact();
  op.set_kernel([id, result, exact](KernelArgs& a) {
    const int dtype = result == Result::kBool   ? numpy::PromoteExactly(a.in[0].dtype, a.in[1].dtype)
                      : result == Result::kSame ? a.in[0].dtype
                                                : a.out[0].dtype;
    const Operand in[2] = {a.in[0], a.in[1]};
    Execute(a.run, Forward(id), ComputeFor(dtype, exact), in, 2, kBinaryMasks, nullptr, a.out[0], a.req[0]);
  });
  if (row.types != 'B' && result != Result::kBool) {
    Recipe recipe;
    recipe.row = id, recipe.count = 2, recipe.masks = kBinaryMasks;
    op.set_trait(FusionRecipe{recipe});
  }

  if (row.uses[0] == 'Z')
    op.set_zero_gradient();
  else
    op.set_gradient(BinaryGradient(id, how.broadcast, promotes));
}

const bool kRegistered = [] {
  for (int id = kFirstBinary + 1; id < kEndInteger; ++id) {
    for (const RowRecord& record : RecordsOf(id))
      if (!HasScalar(record)) Register(id, record);
    if (GetRow(id).uses[0] != 'L') continue;
    RegisterSide(id, 0);
    RegisterSide(id, 1);
  }
  return true;
}();

}  // namespace
}  // namespace pointwise
}  // namespace mxnet
