// Checks of calls against their records.
#include "operator/check.h"

#include <cstring>

#include "mxnet/op.h"
#include "operator/numpy_types.h"

namespace mxnet {
namespace {

template <typename T, typename Text>
void Compare(const Attrs& attrs, const char* side, const std::vector<T>& given, const std::vector<T>& needed, Error::Kind kind, Text text) {
  for (size_t i = 0; i < given.size(); ++i)
    if (!(given[i] == needed[i]))
      throw Error(kind, "[" + attrs.op->name + "] " + side + " " + std::to_string(i) + " is " + text(given[i]) + "; the operator needs " +
                            text(needed[i]));
}

// Of an operator that gradients are made of, however deep ("_contrib_backward_gradientmultiplier"
// is one too).
bool OnlyInGradients(const Op& op) { return std::strstr(op.name.c_str(), "_backward_") != nullptr; }

bool AllAlike(const Op& op) {
  using ShapeFn = bool (*)(const Attrs&, ShapeVector*, ShapeVector*);
  using TypeFn = bool (*)(const Attrs&, std::vector<int>*, std::vector<int>*);
  const ShapeFn* shape = op.infer_shape.target<ShapeFn>();
  const TypeFn* type = op.infer_type.target<TypeFn>();
  const bool one_type = !op.infer_type || (type != nullptr && (*type == SameType || *type == numpy::GradientType));
  return shape != nullptr && *shape == ElemwiseShape && one_type && !op.array_fn;
}

}  // namespace

void CheckDType(const Attrs& attrs, const std::vector<int>& in, const std::vector<int>& out) {
  const Op* op = attrs.op;
  if (op->dtypes.empty()) return;
  const int given = !in.empty() ? in[0] : out.empty() ? int{kDTypeUnknown} : out[0];
  for (int d : op->dtypes)
    if (d == given) return;
  std::string accepted;
  for (int d : op->dtypes) accepted += std::string(accepted.empty() ? "" : ", ") + DTypeName(d);
  MXNET_THROW(Type) << "[" << op->name << "] dtype " << DTypeName(given) << " is not supported; accepted: " << accepted;
}

void CheckCall(const Attrs& attrs, const ShapeVector& in_shapes, const ShapeVector& out_shapes, const std::vector<int>& in_types,
               const std::vector<int>& out_types) {
  const Op* op = attrs.op;
  const int inputs = op->NumInputs(attrs), outputs = op->NumOutputs(attrs);
  MXNET_CHECK_KIND(static_cast<int>(in_shapes.size()) == inputs, Value)
      << "[" << op->name << "] got " << in_shapes.size() << " inputs; it takes " << inputs;
  MXNET_CHECK_KIND(static_cast<int>(out_shapes.size()) == outputs, Value)
      << "[" << op->name << "] got room for " << out_shapes.size() << " outputs; it makes " << outputs;
  if (op->infer_shape) {
    ShapeVector in = in_shapes, out = out_shapes;
    op->infer_shape(attrs, &in, &out);
    const auto text = [](const Shape& s) { return s.str(); };
    Compare(attrs, "the shape of input", in_shapes, in, Error::Kind::kValue, text);
    Compare(attrs, "the shape of output", out_shapes, out, Error::Kind::kValue, text);
  }
  std::vector<int> in = in_types, out = out_types;
  if (op->infer_type)
    op->infer_type(attrs, &in, &out);
  else
    SameType(attrs, &in, &out);
  const auto text = [](int t) { return std::string(DTypeName(t)); };
  Compare(attrs, "the dtype of input", in_types, in, Error::Kind::kType, text);
  Compare(attrs, "the dtype of output", out_types, out, Error::Kind::kType, text);
  CheckDType(attrs, in_types, out_types);
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
