// Legacy reductions: sum, mean, prod, nansum, nanprod, max, min, norm, and their gradients.
#include "operator/reduce/records.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "operator/nodes/make_nodes.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/expression.h"
#include "operator/pointwise/recipe.h"
#include "operator/pointwise/records.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"

namespace mxnet {
namespace reduce {

MXNET_REGISTER_PARAM(ReduceParam);
MXNET_REGISTER_PARAM(NormParam);

using pointwise::Simple;

std::vector<char> ReducedDims(const std::string& op, const std::optional<Shape>& axis, bool exclude, bool empty_is_all, int ndim) {
  const bool all = !axis.has_value() || axis.value().ndim() < 0 || (empty_is_all && axis.value().ndim() == 0);
  if (all) return std::vector<char>(ndim, 1);
  std::vector<char> reduced(ndim, exclude ? 1 : 0);
  if (ndim == 0 && axis.value().ndim() == 1) {  // an array without dimensions counts as one of shape (1,), as in NumPy
    NormalizeAxes(op, axis.value(), 1);
    return reduced;
  }
  for (int d : NormalizeAxes(op, axis.value(), ndim)) reduced[d] = exclude ? 0 : 1;
  return reduced;
}

Shape ReducedShape(const Shape& in, const std::vector<char>& reduced, bool keepdims, bool legacy) {
  std::vector<int64_t> dims;
  for (int d = 0; d < in.ndim(); ++d) {
    if (!reduced[d])
      dims.push_back(in[d]);
    else if (keepdims)
      dims.push_back(1);
  }
  if (dims.empty() && legacy) dims.push_back(1);  // 1.x has no zero-dimensional results here
  return Shape(dims);
}

bool OnlyPlaces(const std::optional<Shape>& axis) {
  return axis.has_value() && axis.value().ndim() > 0 &&
         std::all_of(axis.value().begin(), axis.value().end(), [](int64_t a) { return a >= 2; });
}

Role RoleOfReduction(const ReductionRow& row) {
  if (row.end == End::kRoot) return Role::kNone;
  switch (row.fold) {
    case kSum: return row.end == End::kMean ? Role::kMean : Role::kSum;
    case kMax: return Role::kMax;
    case kMin: return Role::kMin;
    default: return Role::kNone;
  }
}

void CheckNotEmpty(const std::string& op, const Shape& in, const std::vector<char>& reduced) {
  int64_t results = 1;
  bool empty = false;
  for (int d = 0; d < in.ndim(); ++d) {
    if (!reduced[d])
      results *= in[d];
    else
      empty = empty || in[d] == 0;
  }
  MXNET_CHECK_KIND(!empty || results == 0, Value)
      << "[" << op << "] an array of shape " << in << " has nothing to reduce; axes that are reduced must not be empty";
}

void BroadcastReduced(const RunContext& run, const TBlob& reduced_data, const Shape& kept, const TBlob& out, OpReq req) {
  TBlob source = reduced_data;
  source.shape = kept;
  const int compute = pointwise::ComputeFor(source.dtype, true);
  const pointwise::Operand in(source);
  pointwise::Execute(run, pointwise::Forward(pointwise::k_identity), compute, &in, 1, pointwise::kUnaryMasks, nullptr, out, req);
}

NodeEntry EqualMask(const NodeEntry& a, const NodeEntry& b) { return Simple("_equal", {a, b}); }
// Whole numbers leave integers what they are.
NodeEntry Scalar(const char* op, const NodeEntry& x, double s) {
  return MakeOp(op, {x}, {{"scalar", ExactText(s)}, {"is_int", s == std::floor(s) ? "1" : "0"}});
}
NodeEntry Mul(const NodeEntry& a, const NodeEntry& b) { return Simple("elemwise_mul", {a, b}); }

// ograd times the product of all factors but the element itself.
static NodeEntry ProductGradient(const NodeEntry& ograd, const NodeEntry& factors, const Axes& axes) {
  NodeEntry zero = Scalar("_equal_scalar", factors, 0);
  NodeEntry safe = Simple("elemwise_add", {factors, zero});
  NodeEntry zeros = axes.sum(zero);
  NodeEntry weighted = Mul(ograd, axes.prod(safe));
  const auto where_zeros_are = [&](double n) {  // chosen, not multiplied by 0: a product may be infinite
    return axes.spread(Simple("where", {Scalar("_equal_scalar", zeros, n), weighted, Simple("zeros_like", {weighted})}));
  };
  return Simple("where", {zero, where_zeros_are(1), Simple("elemwise_div", {where_zeros_are(0), safe})});
}

const char* AttainedName(Kind fold) { return fold == kMin ? "_backward_min" : "_backward_max"; }

NodeEntry ReductionGradient(const ReductionRow& reduction, const NodeEntry& ograd, const NodeEntry& x, const NodeEntry& y,
                            const Axes& axes) {
  if (std::string(reduction.derivative) == "product") {
    if (reduction.fold == kProd) return ProductGradient(ograd, x, axes);
    const NodeEntry number = EqualMask(x, x);  // NaN counts as 1, and gets no gradient
    const NodeEntry gradient = ProductGradient(ograd, Simple("where", {number, x, Simple("ones_like", {x})}), axes);
    return Simple("where", {number, gradient, Simple("zeros_like", {x})});
  }
  const pointwise::ExprPtr derivative = pointwise::Parse(reduction.derivative);
  pointwise::Bindings bindings = {{"x", pointwise::Value::Of(x)}};
  if (pointwise::Mentions(derivative, "y")) {
    if (axes.attained) return axes.attained(ograd);
    bindings["y"] = pointwise::Value::Of(axes.spread(y));
  }
  return pointwise::EmitMultiply(pointwise::Value::Of(axes.share(ograd)), pointwise::Emit(derivative, bindings, x)).entry;
}

void EachRecord(const char* names, const std::function<void(Op*)>& fill) {
  std::istringstream groups(names);
  for (std::string group, name; std::getline(groups, group, '|');) {
    std::istringstream words(group);
    words >> name;
    const bool full = name == "full" && words >> name;
    Op& op = Op::Register(name);
    if (full) op.set_precision(Precision::kFull);
    while (words >> name) op.alias(name);
    fill(&op);
  }
}

double CountOf(const Shape& shape, const std::vector<char>& reduced) {
  double n = 1;
  for (int d = 0; d < shape.ndim(); ++d) n *= reduced[d] ? static_cast<double>(shape[d]) : 1.0;
  return n;
}

AttrDict AxesDict(const std::optional<Shape>& axis, bool keepdims) {
  std::ostringstream text;
  if (axis.has_value()) text << axis.value();
  return {{"axis", axis.has_value() ? text.str() : "None"}, {"keepdims", keepdims ? "1" : "0"}};
}

namespace {

std::vector<char> Reduced(const Attrs& attrs, int ndim) {
  const ReduceParam& p = attrs.get<ReduceParam>();
  return ReducedDims(attrs.op->name, p.axis, p.exclude, true, ndim);
}

Shape KeptShape(const Shape& shape, const std::vector<char>& reduced) { return ReducedShape(shape, reduced, true, false); }

InferShapeFn ReduceShape(bool refuses_empty) {
  return [refuses_empty](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
    const Shape& s = (*in)[0];
    if (!s.ndim_known()) return false;
    const ReduceParam& p = attrs.get<ReduceParam>();
    const std::vector<char> reduced = Reduced(attrs, s.ndim());
    AssignShape(attrs, "output", &(*out)[0], ReducedShape(s, reduced, p.keepdims, true));
    if (!s.known()) return false;
    if (refuses_empty) CheckNotEmpty(attrs.op->name, s, reduced);
    return (*out)[0].known();
  };
}

// Node of another reduction with the same axes.
NodeEntry Like(const char* op, const NodePtr& node, std::vector<NodeEntry> inputs) {
  return {MakeNodeLike(op, *node, std::move(inputs)), 0, 0};
}
std::vector<NodeEntry> ReduceGradient(const ReductionRow& row, const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const char* backward = row.end == End::kMean ? "_backward_mean" : "_backward_sum";
  const Axes axes = {[&](const NodeEntry& v) { return Like("sum", node, {v}); },
                     [&](const NodeEntry& v) { return Like("prod", node, {v}); },
                     [&](const NodeEntry& v) {
                       return Like("_backward_sum", node, {v, node->inputs[0]});
                     },
                     [&](const NodeEntry& v) {
                       return Like(backward, node, {v, node->inputs[0]});
                     },
                     [&](const NodeEntry& v) {
                       return Like(AttainedName(row.fold), node, {v, node->inputs[0], NodeEntry{node, 0, 0}});
                     }};
  return {ReductionGradient(row, ograds[0], node->inputs[0], NodeEntry{node, 0, 0}, axes)};
}

void Register(const ReductionRow& row, Op* op) {
  op->describe(row.description).set_param<ReduceParam>().set_inputs({"data"}).set_dtypes(dtypes::kClassic).set_supports_add();
  op->set_infer_shape(ReduceShape(GetFold(row.fold).range == Range::Compares));
  op->set_trait(RoleOfReduction(row)).set_trait(Reduction{[](const Attrs& attrs, int ndim) {
    return ReductionView{Reduced(attrs, ndim), attrs.get<ReduceParam>().keepdims, false};
  }});
  op->set_trait(ImagesOnCpu{[](const Attrs& attrs) {
    const ReduceParam& p = attrs.get<ReduceParam>();
    return !p.exclude && OnlyPlaces(p.axis);
  }});
  op->set_kernel([&row](KernelArgs& a) {
    const std::vector<char> reduced = Reduced(*a.attrs, a.in[0].shape.ndim());
    Finish finish;
    finish.sqrt = row.end == End::kRoot;
    if (row.end == End::kMean) finish.divisor = CountOf(a.in[0].shape, reduced);
    Reduce(a, row.fold, a.in[0], reduced, finish, row.end != End::kPlain, a.out[0], a.req[0]);
  });
  if (!row.derivative) op->set_zero_gradient();
  if (row.derivative)
    op->set_gradient([&row](const NodePtr& node, const std::vector<NodeEntry>& ograds) { return ReduceGradient(row, node, ograds); });
}

// (ograd, data, ...) -> the shape of data; what stands behind data has the shape of ograd.
bool SpreadShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape data = (*in)[1];
  AssignShape(attrs, "output", &(*out)[0], data);
  if (!data.known()) return false;
  const ReduceParam& p = attrs.get<ReduceParam>();
  const std::vector<char> reduced = Reduced(attrs, data.ndim());
  const Shape expected = ReducedShape(data, reduced, p.keepdims, true);
  // Of all axes () and (1,) both occur, as NumPy's reductions share this node: the shape comes
  // from the reduction then.
  const bool certain = p.keepdims || std::count(reduced.begin(), reduced.end(), 0) > 0;
  for (size_t i = 0; i < in->size(); ++i) {
    if (i == 1) continue;
    if (certain && !(*in)[i].known()) AssignShape(attrs, i ? "result" : "gradient", &(*in)[i], expected);
    MXNET_CHECK_KIND(!(*in)[i].known() || (*in)[i].Size() == expected.Size(), Value)
        << "[" << attrs.op->name << "] the " << (i ? "result" : "gradient") << " has shape " << (*in)[i] << "; expected " << expected;
  }
  return true;
}

bool SpreadType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "output", &(*out)[0], (*in)[0]);
  if ((*in)[0] == kDTypeUnknown) (*in)[0] = (*out)[0];
  for (size_t i = 1; i < in->size(); ++i)
    if ((*in)[i] == kDTypeUnknown) (*in)[i] = (*in)[0];
  return (*out)[0] != kDTypeUnknown;
}

// (ograd, data, result of max or min) -> ograd where an element of data is the result, else 0: the
// derivative of the maximum of data and the result.
void RegisterAttained(const char* name, int row) {
  Op::Register(name)
      .describe("The gradient of an extreme goes to every element that attains it.")
      .set_param<ReduceParam>()
      .set_inputs({"ograd", "data", "result"})
      .set_dtypes(dtypes::kAll)
      .set_supports_add()
      .set_infer_shape(SpreadShape)
      .set_infer_type(SpreadType)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {  // linear in ograd
        const NodeEntry mask = {
            MakeNodeLike(node->op()->name, *node, {Simple("ones_like", {node->inputs[0]}), node->inputs[1], node->inputs[2]}), 0, 0};
        const NodeEntry sum = Like("sum", node, {Mul(ograds[0], mask)});
        return std::vector<NodeEntry>{node->attrs->get<ReduceParam>().keepdims ? sum : Simple("reshape_like", {sum, node->inputs[0]}),
                                      NodeEntry(), NodeEntry()};
      })
      .set_kernel([row](KernelArgs& a) {
        const Shape kept = KeptShape(a.out[0].shape, Reduced(*a.attrs, a.out[0].shape.ndim()));
        TBlob ograd = a.in[0], result = a.in[2];
        ograd.shape = result.shape = kept;
        const int compute = pointwise::ComputeFor(IsFloating(a.in[1].dtype) ? a.out[0].dtype : a.in[1].dtype, false);
        const pointwise::Operand in[3] = {ograd, a.in[1], result};
        pointwise::Execute(a.run, pointwise::Gradient(row), compute, in, 3, pointwise::kGradientMasks, nullptr, a.out[0], a.req[0]);
      });
}

const bool kRegistered = [] {
  RegisterAttained(AttainedName(kMax), pointwise::k_maximum);
  RegisterAttained(AttainedName(kMin), pointwise::k_minimum);
  for (const ReductionRow& row : kReductions) EachRecord(row.legacy, [&row](Op* op) { Register(row, op); });

  // (ograd, data) -> ograd repeated in the shape of data, divided by the number of repetitions for
  // mean
  for (const char* name : {"_backward_sum", "_backward_mean"}) {
    const bool mean = std::string(name) == "_backward_mean";
    Op& op = Op::Register(name);
    op.describe("Repeats the gradient of a reduction in the shape of the data.")
        .set_param<ReduceParam>()
        .set_inputs({"ograd", "data"})
        .set_dtypes(dtypes::kAll)
        .set_supports_add()
        .set_shape_only_from(1);
    op.set_infer_shape(SpreadShape);
    op.set_infer_type(SpreadType);
    op.set_gradient([mean](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      const NodeEntry reduced = Like(mean ? "mean" : "sum", node, {ograds[0]});  // of all axes (1,), where the gradient may have been ()
      return std::vector<NodeEntry>{node->attrs->get<ReduceParam>().keepdims ? reduced : Simple("reshape_like", {reduced, node->inputs[0]}),
                                    NodeEntry()};
    });
    pointwise::FusionRecipe recipe = pointwise::RecipeOfKind(pointwise::Recipe::kCopy);
    recipe.prepared.mean = mean;
    recipe.prepared.seen_as = [](const Attrs& attrs, const Shape& result) { return KeptShape(result, Reduced(attrs, result.ndim())); };
    op.set_trait(recipe);
    op.set_kernel([mean](KernelArgs& a) {
      const Shape& shape = a.out[0].shape;
      const std::vector<char> reduced = Reduced(*a.attrs, shape.ndim());
      TBlob g = a.in[0];
      g.shape = KeptShape(shape, reduced);
      if (!mean) return BroadcastReduced(a.run, g, g.shape, a.out[0], a.req[0]);
      const int compute = pointwise::ComputeFor(g.dtype, false);
      const double p[3] = {1.0 / CountOf(shape, reduced), 0, 0};
      const pointwise::Operand in(g);
      pointwise::Execute(a.run, pointwise::Forward(pointwise::k_scale), compute, &in, 1, pointwise::kUnaryMasks, p, a.out[0], a.req[0]);
    });
  }
  return true;
}();

// ---- norm
bool NormType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const auto& given = attrs.get<NormParam>().out_dtype;
  AssignType(attrs, "output", &(*out)[0], given.has_value() ? given.value() : (*in)[0]);
  if (!given.has_value() && (*in)[0] == kDTypeUnknown) (*in)[0] = (*out)[0];
  return (*in)[0] != kDTypeUnknown && (*out)[0] != kDTypeUnknown;
}

std::vector<char> NormReduced(const Attrs& attrs, int ndim) {
  return ReducedDims(attrs.op->name, attrs.get<NormParam>().axis, false, true, ndim);
}

MXNET_REGISTER_OP(norm)
    .describe("L1 or L2 norm over axes; sums of integers are taken exactly and rounded down.")
    .alias("_npx_norm")
    .alias("_sparse_norm")
    .set_param<NormParam>()
    .set_inputs({"data"})
    .set_precision(Precision::kFull)
    .set_dtypes(dtypes::kClassic)
    .set_supports_add()
    .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
      const Shape& s = (*in)[0];
      const NormParam& p = attrs.get<NormParam>();
      MXNET_CHECK_KIND(p.ord == 1 || p.ord == 2, Value) << "[norm] ord is " << p.ord << "; accepted: 1, 2";
      if (!s.ndim_known()) return false;
      AssignShape(attrs, "output", &(*out)[0], ReducedShape(s, NormReduced(attrs, s.ndim()), p.keepdims, true));
      return s.known();
    })
    .set_infer_type(NormType)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      const NormParam& p = node->attrs->get<NormParam>();
      const NodeEntry& x = node->inputs[0];
      const NodeEntry y{node, 0, 0};
      const AttrDict axes = AxesDict(p.axis, p.keepdims);
      auto spread = [&](const NodeEntry& e) {
        NodeEntry wide = MakeOp("_backward_sum", {e, x}, axes);
        return p.out_dtype.has_value() ? Simple("_backward_cast", {wide, x}) : wide;
      };
      if (p.ord == 1) return std::vector<NodeEntry>{Mul(spread(ograds[0]), Simple("sign", {x}))};
      // at 0 the gradient is 0, not NaN
      NodeEntry safe = Simple("elemwise_add", {y, Scalar("_equal_scalar", y, 0)});
      return std::vector<NodeEntry>{Mul(spread(Simple("elemwise_div", {ograds[0], safe})), x)};
    })
    .set_kernel([](KernelArgs& a) {
      Finish finish;
      finish.sqrt = a.param<NormParam>().ord == 2;
      Reduce(a, finish.sqrt ? kSumSquare : kSumAbs, a.in[0], NormReduced(*a.attrs, a.in[0].shape.ndim()), finish, finish.sqrt, a.out[0],
             a.req[0]);
    });

// ---- the gradient of broadcasting
// (data, like) -> data summed over the dimensions that broadcasting `like` to data's shape repeats.
std::vector<char> Repeated(const Shape& data, const Shape& like) {
  std::vector<char> reduced(data.ndim(), 0);
  const int extra = data.ndim() - like.ndim();
  for (int d = 0; d < data.ndim(); ++d) reduced[d] = d < extra || (like[d - extra] == 1 && data[d] != 1);
  return reduced;
}

MXNET_REGISTER_OP(_sum_like)
    .set_shape_only_from(1)
    .set_trait(GivesInput{})
    .describe("Sums the first input down to the shape of the second, undoing broadcasting; a copy when the shapes are equal.")
    .set_inputs({"data", "like"})
    .set_dtypes(dtypes::kAll)
    .set_inplace({{0, 0}})
    .set_supports_add()
    .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
      AssignShape(attrs, "output", &(*out)[0], (*in)[1]);
      if (!(*in)[0].known() || !(*in)[1].known()) return false;
      MXNET_CHECK_KIND(BroadcastShape(attrs.op->name, (*in)[0], (*in)[1]) == (*in)[0], Value)
          << "[_sum_like] shape " << (*in)[1] << " does not broadcast to " << (*in)[0];
      return true;
    })
    .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
      // NumPy operators mix dtypes; a gradient has the dtype of what it belongs to
      if ((*in)[1] == kDTypeUnknown) (*in)[1] = (*in)[0];
      if ((*in)[0] == kDTypeUnknown) (*in)[0] = (*in)[1];
      AssignType(attrs, "output", &(*out)[0], (*in)[1]);
      return (*out)[0] != kDTypeUnknown;
    })
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return std::vector<NodeEntry>{Simple("_backward_sum_like", {ograds[0], node->inputs[0]}), NodeEntry()};
    })
    .set_kernel([](KernelArgs& a) {
      if (a.in[0].shape == a.out[0].shape) {
        if (a.req[0] == OpReq::kWriteInplace && a.in[0].dptr == a.out[0].dptr) return;
        return pointwise::ExecuteCast(a.run, a.in[0], a.out[0], a.req[0]);
      }
      Reduce(a, kSum, a.in[0], Repeated(a.in[0].shape, a.out[0].shape), Finish(), false, a.out[0], a.req[0]);
    });

// (data, like) -> data broadcast to the shape of like
MXNET_REGISTER_OP(_backward_sum_like)
    .set_shape_only_from(1)
    .set_trait(Role::kBroadcast)
    .set_trait(GivesInput{})
    .describe("Broadcasts the first input to the shape of the second.")
    .set_inputs({"data", "like"})
    .set_dtypes(dtypes::kAll)
    .set_supports_add()
    .set_infer_shape(LikeInputsShape(1))
    .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
      if ((*in)[1] == kDTypeUnknown) (*in)[1] = (*in)[0];
      if ((*in)[0] == kDTypeUnknown) (*in)[0] = (*in)[1];
      AssignType(attrs, "output", &(*out)[0], (*in)[1]);
      return (*out)[0] != kDTypeUnknown;
    })
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return std::vector<NodeEntry>{Simple("_sum_like", {ograds[0], node->inputs[0]}), NodeEntry()};
    })
    .set_trait(pointwise::RecipeOfKind(pointwise::Recipe::kCopy))
    .set_kernel([](KernelArgs& a) { BroadcastReduced(a.run, a.in[0], a.in[0].shape, a.out[0], a.req[0]); });

}  // namespace
}  // namespace reduce
}  // namespace mxnet
