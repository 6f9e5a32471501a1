// broadcast_to, broadcast_axis, broadcast_like: repeat dimensions of size 1.
#include "operator/pointwise/expression.h"
#include "operator/pointwise/recipe.h"
#include "operator/record/dtypes.h"
#include "operator/reduce/records.h"

namespace mxnet {
namespace reduce {

struct BroadcastToParam : public Parameter<BroadcastToParam> {
  Shape shape;
  MXNET_DECLARE_PARAM(BroadcastToParam) {
    MXNET_FIELD(shape).set_default(Shape(0)).describe("The wanted shape; in broadcast_to, 0 keeps a dimension, in NumPy's function -2.");
  }
};
struct BroadcastAxisParam : public Parameter<BroadcastAxisParam> {
  Shape axis, size;
  MXNET_DECLARE_PARAM(BroadcastAxisParam) {
    MXNET_FIELD(axis).set_default(Shape(0)).describe("Axes of size 1 to repeat.");
    MXNET_FIELD(size).set_default(Shape(0)).describe("Their new sizes.");
  }
};
struct BroadcastLikeParam : public Parameter<BroadcastLikeParam> {
  std::optional<Shape> lhs_axes, rhs_axes;
  MXNET_DECLARE_PARAM(BroadcastLikeParam) {
    MXNET_FIELD(lhs_axes).set_default(std::optional<Shape>()).describe("Axes of lhs to repeat; None: all.");
    MXNET_FIELD(rhs_axes).set_default(std::optional<Shape>()).describe("Axes of rhs that give the sizes, one for each of lhs_axes.");
  }
};
MXNET_REGISTER_PARAM(BroadcastToParam);
MXNET_REGISTER_PARAM(BroadcastAxisParam);
MXNET_REGISTER_PARAM(BroadcastLikeParam);

namespace {

void Kernel(KernelArgs& a) { BroadcastReduced(a.run, a.in[0], a.in[0].shape, a.out[0], a.req[0]); }

GradientFn Gradient(bool two_inputs) {
  return [two_inputs](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
    std::vector<NodeEntry> grads = {pointwise::Simple("_sum_like", {ograds[0], node->inputs[0]})};
    if (two_inputs) grads.push_back(pointwise::Simple("zeros_like", {node->inputs[1]}));
    return grads;
  };
}

void CheckDim(const Attrs& attrs, const Shape& from, int axis, int64_t size) {
  MXNET_CHECK_KIND(from[axis] == size || from[axis] == 1, Value) << "[" << attrs.op->name << "] axis " << axis << " of shape " << from
                                                                 << " cannot become " << size << "; only axes of size 1 are repeated";
}

bool ToShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& s = (*in)[0];
  if (!s.known()) return false;
  Shape target = attrs.get<BroadcastToParam>().shape;
  MXNET_CHECK_KIND(target.ndim() == s.ndim(), Value)
      << "[" << attrs.op->name << "] data has shape " << s << ", shape is " << target << "; both must have the same number of dimensions";
  for (int d = 0; d < s.ndim(); ++d) {
    if (target[d] == 0) target[d] = s[d];
    CheckDim(attrs, s, d, target[d]);
  }
  AssignShape(attrs, "output", &(*out)[0], target);
  return true;
}

// NumPy: aligned at the right, any number of leading dimensions added
bool NpToShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& s = (*in)[0];
  if (!s.known()) return false;
  Shape target = attrs.get<BroadcastToParam>().shape;
  for (int d = 0, added = target.ndim() - s.ndim(); d < target.ndim(); ++d)
    if (target[d] == -2 && d >= added && added >= 0) target[d] = s[d - added];  // the input's own, as in 1.9.1
  MXNET_CHECK_KIND(target.ndim() >= s.ndim() && BroadcastShape(attrs.op->name, s, target) == target, Value)
      << "[" << attrs.op->name << "] shape " << s << " does not broadcast to " << target;
  AssignShape(attrs, "output", &(*out)[0], target);
  return true;
}

bool AxisShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& s = (*in)[0];
  if (!s.known()) return false;
  const BroadcastAxisParam& p = attrs.get<BroadcastAxisParam>();
  MXNET_CHECK_KIND(p.axis.ndim() == p.size.ndim(), Value)
      << "[" << attrs.op->name << "] axis " << p.axis << " and size " << p.size << "; one size for each axis";
  Shape target = s;
  for (int i = 0; i < p.axis.ndim(); ++i) {
    const int64_t axis = p.axis[i];
    MXNET_CHECK_KIND(axis >= -s.ndim() && axis < s.ndim(), Value)
        << "[" << attrs.op->name << "] axis " << axis << " of shape " << s << " is out of range";
    const int d = static_cast<int>(axis < 0 ? axis + s.ndim() : axis);
    MXNET_CHECK_KIND(s[d] == 1, Value) << "[" << attrs.op->name << "] axis " << d << " of shape " << s << " has size " << s[d]
                                       << "; only size 1 is repeated";
    target[d] = p.size[i];
  }
  AssignShape(attrs, "output", &(*out)[0], target);
  return true;
}

bool LikeShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape &lhs = (*in)[0], &rhs = (*in)[1];
  if (!lhs.known() || !rhs.ndim_known()) return false;
  const BroadcastLikeParam& p = attrs.get<BroadcastLikeParam>();
  Shape target = lhs;
  if (!p.lhs_axes.has_value() || !p.rhs_axes.has_value()) {  // one alone is not looked at, as in 1.9.1
    MXNET_CHECK_KIND(lhs.ndim() == rhs.ndim(), Value)
        << "[" << attrs.op->name << "] lhs has shape " << lhs << ", rhs " << rhs
        << "; unless lhs_axes and rhs_axes are given, both need the same number of dimensions";
    target = rhs;
  } else {
    MXNET_CHECK_KIND(p.lhs_axes.value().ndim() == p.rhs_axes.value().ndim(), Value)
        << "[" << attrs.op->name << "] lhs_axes has " << p.lhs_axes.value().ndim() << " axes and rhs_axes " << p.rhs_axes.value().ndim()
        << "; accepted: as many in both";
    for (int i = 0; i < p.lhs_axes.value().ndim(); ++i) {
      int64_t l = p.lhs_axes.value()[i], r = p.rhs_axes.value()[i];
      MXNET_CHECK_KIND(l >= -lhs.ndim() && l < lhs.ndim() && r >= -rhs.ndim() && r < rhs.ndim(), Value)
          << "[" << attrs.op->name << "] axes " << l << " of " << lhs << " and " << r << " of " << rhs << ": out of range";
      if (l < 0) l += lhs.ndim();
      if (r < 0) r += rhs.ndim();
      target[static_cast<int>(l)] = rhs[static_cast<int>(r)];
    }
  }
  for (int d = 0; d < lhs.ndim(); ++d) {
    if (target[d] < 0 && lhs[d] != 1) target[d] = lhs[d];  // only dimensions of size 1 are repeated
    if (target[d] >= 0) CheckDim(attrs, lhs, d, target[d]);
  }
  AssignShape(attrs, "output", &(*out)[0], target);
  return (*out)[0].known() && rhs.known();
}

bool LhsType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "output", &(*out)[0], (*in)[0]);
  if ((*in)[0] == kDTypeUnknown) (*in)[0] = (*out)[0];
  if ((*in)[1] == kDTypeUnknown) (*in)[1] = (*in)[0];
  return (*in)[0] != kDTypeUnknown;
}

MXNET_REGISTER_OP(broadcast_to)
    .describe("Repeats dimensions of size 1 up to the given shape.")
    .set_param<BroadcastToParam>()
    .set_inputs({"data"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(ToShape)
    .set_trait(Role::kBroadcast)
    .set_trait(GivesInput{})
    .set_supports_add()
    .set_gradient(Gradient(false))
    .set_trait(pointwise::RecipeOfKind(pointwise::Recipe::kCopy))
    .set_kernel(Kernel);
MXNET_REGISTER_OP(_npi_broadcast_to)
    .describe("Repeats dimensions of size 1, and adds leading ones, up to the given shape.")
    .set_param<BroadcastToParam>()
    .set_inputs({"array"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(NpToShape)
    .set_trait(Role::kBroadcast)
    .set_trait(GivesInput{})
    .set_supports_add()
    .set_gradient(Gradient(false))
    .set_trait(pointwise::RecipeOfKind(pointwise::Recipe::kCopy))
    .set_kernel(Kernel);
MXNET_REGISTER_OP(broadcast_axis)
    .describe("Repeats the given axes of size 1.")
    .alias("broadcast_axes")
    .set_param<BroadcastAxisParam>()
    .set_inputs({"data"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(AxisShape)
    .set_trait(Role::kBroadcast)
    .set_trait(GivesInput{})
    .set_supports_add()
    .set_gradient(Gradient(false))
    .set_trait(pointwise::RecipeOfKind(pointwise::Recipe::kCopy))
    .set_kernel(Kernel);
MXNET_REGISTER_OP(broadcast_like)
    .describe("Repeats dimensions of size 1 of lhs up to the shape of rhs, or of some of its axes.")
    .alias("_npx_broadcast_like")
    .set_param<BroadcastLikeParam>()
    .set_inputs({"lhs", "rhs"})
    .set_dtypes(dtypes::kAll)
    .set_shape_only_from(1)
    .set_infer_shape(LikeShape)
    .set_trait(Role::kBroadcast)
    .set_trait(GivesInput{})
    .set_infer_type(LhsType)
    .set_supports_add()
    .set_gradient(Gradient(true))
    .set_trait(pointwise::RecipeOfKind(pointwise::Recipe::kCopy))
    .set_kernel(Kernel);

MXNET_REGISTER_OP(sum).alias("_broadcast_backward");  // what graphs of 1.x call the gradient of a broadcast

}  // namespace
}  // namespace reduce
}  // namespace mxnet
