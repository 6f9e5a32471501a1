// NumPy's reductions: zero-dimensional results, dtype and initial arguments; variance and standard
// deviation; any and all.
#include <algorithm>

#include "operator/nodes/make_nodes.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/expression.h"
#include "operator/pointwise/records.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/numpy_types.h"
#include "operator/record/optional_number.h"
#include "operator/reduce/moments.h"
#include "operator/reduce/records.h"

namespace mxnet {
namespace reduce {

struct NpSumParam : public Parameter<NpSumParam> {
  std::optional<Shape> axis;
  std::optional<int> dtype;
  bool keepdims;
  OptionalNumber initial;
  MXNET_DECLARE_PARAM(NpSumParam) {
    MXNET_FIELD(axis).set_default(std::optional<Shape>()).describe("Axes to reduce; None: all, (): none.");
    MXNET_DTYPE_FIELD(dtype)
        .set_default(std::optional<int>())
        .describe("Of the result; None: that of the input, int64 for sums of bool, the default float for means of integers.");
    MXNET_FIELD(keepdims).set_default(false).describe("Whether reduced axes stay with size 1.");
    MXNET_FIELD(initial).set_default(OptionalNumber()).describe("Starting value.");
  }
};
struct NpMaxParam : public Parameter<NpMaxParam> {
  std::optional<Shape> axis;
  bool keepdims;
  OptionalNumber initial;
  MXNET_DECLARE_PARAM(NpMaxParam) {
    MXNET_FIELD(axis).set_default(std::optional<Shape>()).describe("Axes to reduce; None: all, (): none.");
    MXNET_FIELD(keepdims).set_default(false).describe("Whether reduced axes stay with size 1.");
    MXNET_FIELD(initial).set_default(OptionalNumber()).describe("A number that takes part; allows empty axes.");
  }
};
struct NpAnyParam : public Parameter<NpAnyParam> {
  std::optional<Shape> axis;
  bool keepdims;
  MXNET_DECLARE_PARAM(NpAnyParam) {
    MXNET_FIELD(axis).set_default(std::optional<Shape>()).describe("Axes to reduce; None: all, (): none.");
    MXNET_FIELD(keepdims).set_default(false).describe("Whether reduced axes stay with size 1.");
  }
};
struct NpVarParam : public Parameter<NpVarParam> {
  std::optional<Shape> axis;
  std::optional<int> dtype;
  int ddof;
  bool keepdims;
  MXNET_DECLARE_PARAM(NpVarParam) {
    MXNET_FIELD(axis).set_default(std::optional<Shape>()).describe("Axes to reduce; None: all, (): none.");
    MXNET_DTYPE_FIELD(dtype)
        .set_default(std::optional<int>())
        .describe("Of the result; None: that of the input, the default float for integers.");
    MXNET_FIELD(ddof).set_default(0).describe("The sum of squares is divided by N - ddof.");
    MXNET_FIELD(keepdims).set_default(false).describe("Whether reduced axes stay with size 1.");
  }
};
MXNET_REGISTER_PARAM(NpSumParam);
MXNET_REGISTER_PARAM(NpMaxParam);
MXNET_REGISTER_PARAM(NpAnyParam);
MXNET_REGISTER_PARAM(NpVarParam);

namespace {

using pointwise::Simple;

template <typename P>
std::vector<char> Reduced(const Attrs& attrs, int ndim) {
  return ReducedDims(attrs.op->name, attrs.get<P>().axis, false, false, ndim);
}

template <typename P>
bool NpShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& s = (*in)[0];
  if (!s.ndim_known()) return false;
  AssignShape(attrs, "output", &(*out)[0], ReducedShape(s, Reduced<P>(attrs, s.ndim()), attrs.get<P>().keepdims, false));
  return s.known();
}

bool NpMaxShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  if (!NpShape<NpMaxParam>(attrs, in, out)) return false;
  if (!attrs.get<NpMaxParam>().initial.has_value()) CheckNotEmpty(attrs.op->name, (*in)[0], Reduced<NpMaxParam>(attrs, (*in)[0].ndim()));
  return true;
}

// None: the input's own; bool is counted in int64; means of integers are floats.
template <bool Mean>
bool NpSumType(const Attrs& attrs, const InferSwitches& s, std::vector<int>* in, std::vector<int>* out) {
  const auto& dtype = attrs.get<NpSumParam>().dtype;
  const int t = (*in)[0];
  const int natural = Mean ? numpy::Quotient(t, s) : t == kBool ? int{kInt64} : t;
  AssignType(attrs, "output", &(*out)[0], dtype.has_value() ? dtype.value() : natural);
  if (t == kDTypeUnknown && IsFloating((*out)[0]) && !dtype.has_value()) (*in)[0] = (*out)[0];
  return (*in)[0] != kDTypeUnknown;
}

template <typename P>
bool AxisIsEmpty(const P& p) {
  return p.axis.has_value() && p.axis.value().ndim() == 0;
}

// A reduced entry repeated in the shape (and dtype) of the data.
template <typename P>
NodeEntry Spread(const NodePtr& node, const NodeEntry& e, const char* op = "_backward_sum") {
  const P& p = node->attrs->get<P>();
  return AxisIsEmpty(p) ? e : MakeOp(op, {e, node->inputs[0]}, AxesDict(p.axis, p.keepdims));
}
NodeEntry CastLike(const NodeEntry& e, const NodeEntry& like) { return Simple("_backward_cast", {e, like}); }

template <typename P>
ReductionView ReadReduction(const Attrs& attrs, int ndim) {
  return {Reduced<P>(attrs, ndim), attrs.get<P>().keepdims, attrs.get<P>().initial.has_value()};
}

void RegisterSum(const ReductionRow& row, Op* record) {
  Op& op = *record;
  const Kind kind = row.fold;
  const bool mean = row.end == End::kMean, root = row.end == End::kRoot;
  op.describe(row.description).set_param<NpSumParam>().set_inputs({"a"}).set_dtypes(dtypes::kAll).set_supports_add();
  op.set_infer_shape(NpShape<NpSumParam>).set_infer_type(mean ? NpSumType<true> : NpSumType<false>);
  op.set_trait(RoleOfReduction(row)).set_trait(Reduction{ReadReduction<NpSumParam>});
  op.set_trait(ImagesOnCpu{[](const Attrs& attrs) { return OnlyPlaces(attrs.get<NpSumParam>().axis); }});
  op.set_kernel([kind, mean, root](KernelArgs& a) {
    const NpSumParam& p = a.param<NpSumParam>();
    const std::vector<char> reduced = Reduced<NpSumParam>(*a.attrs, a.in[0].shape.ndim());
    Finish finish;
    finish.sqrt = root;
    if (mean) finish.divisor = CountOf(a.in[0].shape, reduced);
    finish.has_initial = p.initial.has_value();
    if (finish.has_initial) finish.initial = p.initial.value();
    Reduce(a, kind, a.in[0], reduced, finish, mean || root || IsFloating(a.out[0].dtype), a.out[0], a.req[0]);
  });
  op.set_gradient([&row, kind, mean](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
    const NpSumParam& p = node->attrs->get<NpSumParam>();
    const NodeEntry& x = node->inputs[0];
    const NodeEntry g = p.dtype.has_value() ? CastLike(ograds[0], x) : ograds[0];
    if (AxisIsEmpty(p))
      return std::vector<NodeEntry>{kind == kProd && p.initial.has_value() ? Scalar("_mul_scalar", g, p.initial.value()) : g};
    AttrDict axes = AxesDict(p.axis, p.keepdims), with_initial = axes;
    if (p.initial.has_value()) with_initial["initial"] = ExactText(p.initial.value());
    return std::vector<NodeEntry>{ReductionGradient(
        row, g, x, NodeEntry{node, 0, 0},
        {[&](const NodeEntry& v) { return MakeOp("_np_sum", {v}, axes); },
         [&](const NodeEntry& v) { return MakeOp("_np_prod", {v}, with_initial); },
         [&](const NodeEntry& v) { return Spread<NpSumParam>(node, v); },
         [&](const NodeEntry& v) { return Spread<NpSumParam>(node, v, mean ? "_backward_mean" : "_backward_sum"); }, nullptr})};
  });
}

void RegisterMax(const ReductionRow& row, Op* record) {
  Op& op = *record;
  const Kind kind = row.fold;
  op.describe(row.description)
      .set_param<NpMaxParam>()
      .set_inputs({"a"})
      .set_dtypes(dtypes::kAll)
      .set_supports_add()
      .set_infer_shape(NpMaxShape)
      .set_trait(RoleOfReduction(row))
      .set_trait(ImagesOnCpu{[](const Attrs& attrs) { return OnlyPlaces(attrs.get<NpMaxParam>().axis); }})
      .set_trait(Reduction{ReadReduction<NpMaxParam>});
  op.set_kernel([kind](KernelArgs& a) {
    const NpMaxParam& p = a.param<NpMaxParam>();
    Finish finish;
    finish.has_initial = p.initial.has_value();
    if (finish.has_initial) finish.initial = p.initial.value();
    Reduce(a, kind, a.in[0], Reduced<NpMaxParam>(*a.attrs, a.in[0].shape.ndim()), finish, false, a.out[0], a.req[0]);
  });
  op.set_gradient([&row](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
    const MapFn spread = [&](const NodeEntry& v) { return Spread<NpMaxParam>(node, v); };
    const NpMaxParam& p = node->attrs->get<NpMaxParam>();
    const MapFn attained = [&](const NodeEntry& v) {
      return MakeOp(AttainedName(row.fold), {v, node->inputs[0], NodeEntry{node, 0, 0}}, AxesDict(p.axis, p.keepdims));
    };
    const Axes axes = {nullptr, nullptr, spread, spread, AxisIsEmpty(p) ? nullptr : attained};
    return std::vector<NodeEntry>{ReductionGradient(row, ograds[0], node->inputs[0], NodeEntry{node, 0, 0}, axes)};
  });
}

void RegisterTruth(const ReductionRow& row, Op* record) {
  Op& op = *record;
  const Kind kind = row.fold;
  op.describe(row.description).set_param<NpAnyParam>().set_inputs({"data"}).set_dtypes(dtypes::kAll).set_supports_add();
  op.set_infer_shape(NpShape<NpAnyParam>).set_infer_type(pointwise::BoolOutputType).set_zero_gradient();
  op.set_kernel([kind](KernelArgs& a) {
    Reduce(a, kind, a.in[0], Reduced<NpAnyParam>(*a.attrs, a.in[0].shape.ndim()), Finish(), false, a.out[0], a.req[0]);
  });
}

// ---- variance
bool VarType(const Attrs& attrs, const InferSwitches& s, std::vector<int>* in, std::vector<int>* out) {
  const auto& dtype = attrs.get<NpVarParam>().dtype;
  AssignType(attrs, "output", &(*out)[0], dtype.has_value() ? dtype.value() : numpy::Quotient((*in)[0], s));
  if (!dtype.has_value() && (*in)[0] == kDTypeUnknown && IsFloating((*out)[0])) (*in)[0] = (*out)[0];
  return (*in)[0] != kDTypeUnknown;
}

// divisor of the sum of squares: 0 for too few elements, which gives NaN or infinity
double VarDivisor(const Attrs& attrs, const Shape& shape) {
  return std::max(0.0, CountOf(shape, Reduced<NpVarParam>(attrs, shape.ndim())) - attrs.get<NpVarParam>().ddof);
}

void RegisterVar(const char* name, bool root) {
  Op& op = Op::Register(name);
  op.describe(root ? "Standard deviation over axes." : "Variance over axes.");
  op.set_param<NpVarParam>().set_inputs({"a"}).set_dtypes(dtypes::kAll).set_supports_add();
  op.set_infer_shape(NpShape<NpVarParam>).set_infer_type(VarType).set_precision(Precision::kFull);
  if (!root) op.set_trait(RoleByParameters{[](const Attrs& a) { return a.get<NpVarParam>().ddof == 0 ? Role::kVariance : Role::kNone; }});
  op.set_trait(Reduction{[](const Attrs& a, int ndim) {
    return ReductionView{Reduced<NpVarParam>(a, ndim), a.get<NpVarParam>().keepdims, false};
  }});
  op.set_kernel([root](KernelArgs& a) {
    Finish finish;
    finish.divisor = VarDivisor(*a.attrs, a.in[0].shape);
    finish.sqrt = root;
    Variance(a, a.in[0], Reduced<NpVarParam>(*a.attrs, a.in[0].shape.ndim()), finish, nullptr, OpReq::kNull, a.out[0], a.req[0]);
  });
  op.set_gradient([root](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
    const NpVarParam& p = node->attrs->get<NpVarParam>();
    const NodeEntry& x = node->inputs[0];
    NodeEntry g = ograds[0];
    if (root) {
      const NodeEntry y{node, 0, 0};
      g = Simple("elemwise_div", {g, Simple("elemwise_add", {y, Scalar("_equal_scalar", y, 0)})});
    } else {
      g = Scalar("_mul_scalar", g, 2);
    }
    if (p.dtype.has_value()) g = CastLike(g, x);
    if (AxisIsEmpty(p)) return std::vector<NodeEntry>{Simple("zeros_like", {x})};
    const AttrDict axes = AxesDict(p.axis, true);
    NodeEntry centred = Simple("broadcast_sub", {x, MakeOp("_npi_mean", {x}, axes)});
    NodeEntry wide{MakeNodeLike("_backward_var_spread", *node, {g, x}), 0, 0};
    return std::vector<NodeEntry>{Mul(wide, centred)};
  });
}

const bool kRegistered = [] {
  for (const ReductionRow& row : kReductions)
    EachRecord(row.numpy, [&row](Op* op) {
      const Range range = GetFold(row.fold).range;
      if (range == Range::Truths) return RegisterTruth(row, op);
      range == Range::Compares ? RegisterMax(row, op) : RegisterSum(row, op);
      if (!row.derivative) op->set_zero_gradient();
    });
  RegisterVar("_npi_var", false);
  RegisterVar("_npi_std", true);
  return true;
}();

// (ograd, data) -> ograd / (N - ddof) in the shape of data; and back.
MXNET_REGISTER_OP(_backward_var_spread)
    .describe("Repeats the gradient of a variance in the shape of the data and divides it by N - ddof.")
    .set_param<NpVarParam>()
    .set_inputs({"ograd", "data"})
    .set_dtypes(dtypes::kAll)
    .set_shape_only_from(1)
    .set_infer_shape(LikeInputsShape(1))
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return std::vector<NodeEntry>{{MakeNodeLike("_backward_var_gather", *node, {ograds[0]}), 0, 0}, NodeEntry()};
    })
    .set_kernel([](KernelArgs& a) {
      const Shape& shape = a.out[0].shape;
      TBlob g = a.in[0];
      g.shape = ReducedShape(shape, Reduced<NpVarParam>(*a.attrs, shape.ndim()), true, false);
      const int compute = pointwise::ComputeFor(g.dtype, false);
      const double p[3] = {1.0 / VarDivisor(*a.attrs, shape), 0, 0};
      const pointwise::Operand in(g);
      pointwise::Execute(a.run, pointwise::Forward(pointwise::k_scale), compute, &in, 1, pointwise::kUnaryMasks, p, a.out[0], a.req[0]);
    });

MXNET_REGISTER_OP(_backward_var_gather)
    .describe("Sums and divides by N - ddof.")
    .set_param<NpVarParam>()
    .set_inputs({"data"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(NpShape<NpVarParam>)
    .set_supports_add()
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return std::vector<NodeEntry>{{MakeNodeLike("_backward_var_spread", *node, {ograds[0], node->inputs[0]}), 0, 0}};
    })
    .set_kernel([](KernelArgs& a) {
      Finish finish;
      finish.divisor = VarDivisor(*a.attrs, a.in[0].shape);
      Reduce(a, kSum, a.in[0], Reduced<NpVarParam>(*a.attrs, a.in[0].shape.ndim()), finish, true, a.out[0], a.req[0]);
    });

}  // namespace
}  // namespace reduce
}  // namespace mxnet
