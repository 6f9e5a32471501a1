// Checks of calls against their records.
#include "operator/record/check.h"

#include <cstring>

#include "mxnet/op.h"
#include "operator/record/dtypes.h"
#include "operator/record/numpy_types.h"

namespace mxnet {
namespace {

void Compare(const Attrs& attrs, const char* side, const TensorTypes& given, const TensorTypes& needed) {
  for (size_t i = 0; i < given.size(); ++i) {
    const auto differ = [&](Error::Kind kind, const char* what, const std::string& is, const std::string& needs) {
      throw Error(kind, "[" + attrs.op->name + "] the " + what + " of " + side + " " + std::to_string(i) + " is " + is +
                            "; the operator needs " + needs);
    };
    const TensorType &g = given[i], &n = needed[i];
    if (g.shape != n.shape) differ(Error::Kind::kValue, "shape", g.shape.str(), n.shape.str());
    if (g.dtype != n.dtype) differ(Error::Kind::kType, "dtype", DTypeName(g.dtype), DTypeName(n.dtype));
  }
}

// Of an operator that gradients are made of, however deep ("_contrib_backward_gradientmultiplier"
// is one too).
bool OnlyInGradients(const Op& op) { return std::strstr(op.name.c_str(), "_backward_") != nullptr; }

bool AllAlike(const Op& op) {
  using ShapeFn = bool (*)(const Attrs&, ShapeVector*, ShapeVector*);
  using TypeFn = bool (*)(const Attrs&, std::vector<int>*, std::vector<int>*);
  const ShapeFn* shape = op.infer_shape.target<ShapeFn>();
  const TypeFn* type = op.infer_type.target<TypeFn>();
  const bool one_type = (!op.infer_type && !op.infer_type_by) || (type != nullptr && (*type == SameType || *type == numpy::GradientType));
  return shape != nullptr && *shape == ElemwiseShape && one_type && op.runs != RunBy::kArrays;
}

}  // namespace

void CheckDType(const Attrs& attrs, const TensorTypes& in, const TensorTypes& out) {
  const Op* op = attrs.op;
  if (in.empty() && out.empty()) return;
  const int given = !in.empty() ? in[0].dtype : out[0].dtype;
  for (int d : op->dtypes)
    if (d == given) return;
  MXNET_THROW(Type) << "[" << op->name << "] dtype " << DTypeName(given) << " is not supported; accepted: " << dtypes::List(op->dtypes);
}

void CheckCall(const Attrs& attrs, const InferSwitches& switches, const TensorTypes& in, const TensorTypes& out) {
  const Op* op = attrs.op;
  const int inputs = op->NumInputs(attrs), outputs = op->NumOutputs(attrs);
  MXNET_CHECK_KIND(static_cast<int>(in.size()) == inputs, Value)
      << "[" << op->name << "] got " << in.size() << " inputs; it takes " << inputs;
  MXNET_CHECK_KIND(static_cast<int>(out.size()) == outputs, Value)
      << "[" << op->name << "] got room for " << out.size() << " outputs; it makes " << outputs;
  TensorTypes needed_in = in, needed_out = out;
  InferCall(attrs, switches, &needed_in, &needed_out);
  Compare(attrs, "input", in, needed_in);
  Compare(attrs, "output", out, needed_out);
  CheckDType(attrs, in, out);
}

void CheckPublic(const Attrs& attrs) {
  constexpr int kMost = 1 << 20;  // of inputs or outputs
  const Op& op = *attrs.op;
  MXNET_CHECK_KIND(!OnlyInGradients(op) || AllAlike(op), Value) << "[" << op.name
                                                                << "] is made by gradients alone; accepted in files and by name: the "
                                                                   "operator that it belongs to, differentiated by autograd or an executor";
  if (!op.num_inputs && !op.num_outputs) return;
  const int inputs = op.NumInputs(attrs), outputs = op.NumOutputs(attrs);
  MXNET_CHECK_KIND(inputs >= 0 && inputs <= kMost && outputs >= 0 && outputs <= kMost, Value)
      << "[" << op.name << "] its parameters ask for " << inputs << " inputs and " << outputs << " outputs; accepted: 0 to " << kMost;
}

}  // namespace mxnet
