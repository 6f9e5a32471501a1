#include <algorithm>
#include <sstream>

#include "operator/pointwise/execute.h"
#include "operator/pointwise/expression.h"
#include "operator/pointwise/recipe.h"
#include "operator/pointwise/records.h"
#include "operator/record/dtypes.h"
#include "operator/record/numpy_types.h"

namespace mxnet {
namespace pointwise {

void AddAliases(Op* op, const char* names) {
  std::istringstream in(names ? names : "");
  for (std::string name; in >> name;) op->alias(name);
}

void FinishRecord(Op* op, const RowRecord& record) {
  for (size_t i = 1; i < record.names.size(); ++i) op->alias(record.names[i]);
  if (record.full) op->set_precision(Precision::kFull);
}

void UnknownRecord(int row, const RowRecord& record) {
  MXNET_THROW(Generic) << "[pointwise] row " << GetRow(row).name << " has records of kind `" << record.how
                       << "`, which table.h does not list";
}

bool BoolOutputType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  int all = kDTypeUnknown;
  for (int t : *in) AssignType(attrs, "an input", &all, t);
  for (int& t : *in) t = all;
  AssignType(attrs, "output", &(*out)[0], kBool);
  return all != kDTypeUnknown;
}

bool BroadcastInputsShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  Shape all = (*in)[0];
  for (size_t i = 1; i < in->size(); ++i) all = BroadcastShape(attrs.op->name, all, (*in)[i]);
  if (all.ndim_known()) AssignShape(attrs, "output", &(*out)[0], all);
  bool known = (*out)[0].known();
  for (const Shape& s : *in) known = known && s.known();
  return known;
}

std::vector<NodeEntry> GradientOfBackward(const NodePtr& node, const NodeEntry& ograd, const char* text,
                                          const std::vector<const char*>& operands,
                                          const std::vector<std::pair<const char*, double>>& constants, bool broadcast) {
  auto fit = [&](const NodeEntry& e, const NodeEntry& like) { return broadcast ? Simple("_sum_like", {e, like}) : e; };
  std::vector<NodeEntry> grads(node->inputs.size());
  std::vector<NodeEntry> again = node->inputs;
  again[0] = ograd;
  auto linear = std::make_shared<Node>();  // the node is linear in its gradient
  linear->attrs = node->attrs;
  linear->inputs = again;
  grads[0] = fit({linear, 0, 0}, node->inputs[0]);
  if (operands.empty()) return grads;
  Bindings bindings;
  for (size_t i = 0; i < operands.size(); ++i) bindings[operands[i]] = Value::Of(node->inputs[i + 1]);
  for (const auto& c : constants) bindings[c.first] = Value::Of(c.second);
  const ExprPtr expression = Parse(text);
  NodeEntry product;
  for (size_t i = 0; i < operands.size(); ++i) {
    const ExprPtr d = Derivative(expression, operands[i]);
    if (IsNumber(d, 0)) continue;
    const Value v = Emit(d, bindings, node->inputs[i + 1]);
    if (v.is_number && v.number == 0) continue;
    if (!product) product = Simple("broadcast_mul", {ograd, node->inputs[0]});
    grads[i + 1] = fit(EmitMultiply(Value::Of(product), v).entry, node->inputs[i + 1]);
  }
  return grads;
}

namespace {

std::vector<const char*> Operands(const char* uses) {
  switch (uses[0]) {
    case 'X': return uses[1] == 'Y' ? std::vector<const char*>{"x", "y"} : std::vector<const char*>{"x"};
    case 'Y': return {"y"};
    default: return {};
  }
}

std::vector<NodeEntry> BackwardInputs(const Row& row, const NodePtr& node, const NodeEntry& ograd) {
  std::vector<NodeEntry> inputs = {ograd};
  for (const char* operand : Operands(row.uses)) inputs.push_back(operand[0] == 'x' ? node->inputs[0] : NodeEntry{node, 0, 0});
  return inputs;
}

// Gradients are floating; an integer row's loops do not exist, so integers are computed in double.
int GradientCompute(int dtype) { return ComputeFor(dtype, false); }

void DescribeBackward(Op* op, const Row& row) {
  op->describe("gradient * (" + std::string(row.derivative[0]) + ")");
  std::vector<std::string> names = {"ograd"};
  for (const char* operand : Operands(row.uses)) names.push_back(operand);
  op->set_inputs(names)
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(ElemwiseShape)
      .set_infer_type(numpy::GradientType)
      .set_inplace({{0, 0}})
      .set_layout(LayoutRule::kAgnostic)
      .set_supports_add();
}

}  // namespace

// `_backward_NAME` of a row without parameters, made once per row.
static std::string BackwardName(int id) {
  const Row& row = GetRow(id);
  const std::string name = std::string("_backward_") + row.name;
  static std::vector<char> done(kEndInteger, 0);
  if (done[id]) return name;
  done[id] = 1;
  Op& op = Op::Register(name);
  DescribeBackward(&op, row);
  const int count = static_cast<int>(Operands(row.uses).size()) + 1;
  op.set_gradient([id](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
    const Row& r = GetRow(id);
    return GradientOfBackward(node, ograds[0], r.derivative[0], Operands(r.uses), {}, false);
  });
  op.set_kernel([id, count](KernelArgs& a) {
    const int compute = GradientCompute(a.out[0].dtype);
    const Operand in[3] = {a.in[0], count > 1 ? Operand(a.in[1]) : Operand(), count > 2 ? Operand(a.in[2]) : Operand()};
    Execute(a.run, Gradient(id, 0), compute, in, count, kUnaryMasks, nullptr, a.out[0], a.req[0]);
  });
  Recipe recipe;
  recipe.kind = Recipe::kGradient, recipe.row = id, recipe.count = count;
  op.set_trait(FusionRecipe{recipe});
  return name;
}

Op& RegisterUnary(const std::string& name, int id, const char* input_name) {
  const Row& row = GetRow(id);
  Op& op = Op::Register(name);
  op.describe("Computes " + std::string(row.expression) + " for every element x.");
  op.set_inputs({input_name})
      .set_infer_shape(ElemwiseShape)
      .set_infer_type(SameType)
      .set_inplace({{0, 0}})
      .set_dtypes(dtypes::kClassicNumbers);
  op.set_layout(LayoutRule::kAgnostic).set_supports_add().set_trait(RoleOfRow(id));
  const bool exact = row.exact();
  op.set_kernel([id, exact](KernelArgs& a) {
    const int compute = ComputeFor(a.in[0].dtype, exact);
    const Operand in(a.in[0]);
    Execute(a.run, Forward(id), compute, &in, 1, kUnaryMasks, nullptr, a.out[0], a.req[0]);
  });
  Recipe recipe;
  recipe.row = id;
  op.set_trait(FusionRecipe{recipe});
  switch (row.uses[0]) {
    case 'Z': op.set_zero_gradient(); break;
    case 'N': break;
    case 'P': op.set_gradient([](const NodePtr&, const std::vector<NodeEntry>& ograds) { return ograds; }); break;
    default: {
      const std::string backward = BackwardName(id);
      op.set_gradient([id, backward](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{Simple(backward, BackwardInputs(GetRow(id), node, ograds[0]))};
      });
    }
  }
  return op;
}

ParamOps RegisterUnaryParam(const std::string& name, int id, ParamsFn params) {
  const Row& row = GetRow(id);
  Op& op = Op::Register(name);
  op.describe("Computes " + std::string(row.expression) + " for every element x.");
  op.set_inputs({"data"}).set_infer_shape(ElemwiseShape).set_infer_type(SameType).set_inplace({{0, 0}}).set_dtypes(dtypes::kClassicNumbers);
  op.set_layout(LayoutRule::kAgnostic).set_supports_add();
  const bool exact = row.exact();
  op.set_kernel([id, exact, params](KernelArgs& a) {
    const int compute = ComputeFor(a.in[0].dtype, exact);
    double p[3] = {0, 0, 0};
    params(*a.attrs, a.out[0].dtype, p);
    const Operand in(a.in[0]);
    Execute(a.run, Forward(id), compute, &in, 1, kUnaryMasks, p, a.out[0], a.req[0]);
  });
  Recipe recipe;
  recipe.row = id, recipe.has_params = true;
  const RecipeFn fill = [params](const Attrs& attrs, int dtype, Recipe* r) { return params(attrs, dtype, r->params), true; };
  op.set_trait(FusionRecipe{recipe, fill});
  if (row.uses[0] == 'Z') {
    op.set_zero_gradient();
    return {&op, nullptr};
  }
  std::string stem = name;
  while (stem[0] == '_') stem.erase(0, 1);
  const std::string backward_name = "_backward_" + stem;
  op.set_gradient([id, backward_name](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
    return std::vector<NodeEntry>{{MakeNodeLike(backward_name, *node, BackwardInputs(GetRow(id), node, ograds[0])), 0, 0}};
  });
  Op& backward = Op::Register(backward_name);
  DescribeBackward(&backward, row);
  backward.set_gradient([id, params](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
    const Row& r = GetRow(id);
    double p[3] = {0, 0, 0};
    params(*node->attrs, kDTypeUnknown, p);
    return GradientOfBackward(node, ograds[0], r.derivative[0], Operands(r.uses), {{"p", p[0]}, {"q", p[1]}, {"r", p[2]}}, false);
  });
  const int count = static_cast<int>(Operands(row.uses).size()) + 1;
  backward.set_kernel([id, params, count](KernelArgs& a) {
    const int compute = GradientCompute(a.out[0].dtype);
    double p[3] = {0, 0, 0};
    params(*a.attrs, a.out[0].dtype, p);
    const Operand in[2] = {a.in[0], count > 1 ? Operand(a.in[1]) : Operand()};
    Execute(a.run, Gradient(id, 0), compute, in, count, kUnaryMasks, p, a.out[0], a.req[0]);
  });
  recipe.kind = Recipe::kGradient, recipe.count = count;
  backward.set_trait(FusionRecipe{recipe, fill});
  return {&op, &backward};
}

}  // namespace pointwise
}  // namespace mxnet
