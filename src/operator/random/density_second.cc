#include "operator/random/density_second.h"

#include "operator/nodes/graph_operators.h"
#include "operator/nodes/make_nodes.h"
#include "operator/record/check.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/param.h"
#include "operator/runtime/subgraph.h"

namespace mxnet {
namespace {

// ---- parameters for every sample, and sums over the samples of a parameter

struct SpreadParam : public Parameter<SpreadParam> {
  bool keep_last;
  MXNET_DECLARE_PARAM(SpreadParam) {
    MXNET_FIELD(keep_last).set_default(false).describe("Both arrays have the last dimension; the others are matched.");
  }
};
MXNET_REGISTER_PARAM(SpreadParam);

/* (rows, samples of a row, numbers of a sample) */
TBlob Viewed(const TBlob& of, int64_t rows, int64_t numbers) {
  TBlob view = of;
  const int64_t apart = rows * numbers;
  view.shape = Shape{rows, apart > 0 ? of.Size() / apart : 0, numbers};
  return view;
}

void Call(const KernelArgs& args, const AttrsPtr& attrs, Span<const TBlob> in, const TBlob& out) {
  const OpReq write = OpReq::kWrite;
  KernelArgs call = args;
  call.attrs = attrs.get();
  call.in = in;
  call.out = Span<const TBlob>(&out, 1);
  call.req = Span<const OpReq>(&write, 1);
  (*attrs->op->KernelFor(args.run.ctx.dev_type))(call);
}

bool Nothing(const KernelArgs& args) { return args.req[0] == OpReq::kNull || args.out[0].Size() == 0; }
int64_t Numbers(const KernelArgs& args, const Shape& s) { return args.param<SpreadParam>().keep_last ? s[s.ndim() - 1] : 1; }

void Spread(KernelArgs& args) {
  static const AttrsPtr& add = *new AttrsPtr(MakeAttrs(Op::Get("broadcast_add"), {}));
  if (Nothing(args)) return;
  const int64_t numbers = Numbers(args, args.in[0].shape), rows = args.in[0].Size() / numbers;
  TBlob zeros = Viewed(args.out[0], rows, numbers);
  zeros.dptr = args.workspace(zeros.Bytes());
  Call(args, graph_ops::Zeros(), {}, zeros);
  const TBlob in[2] = {Viewed(args.in[0], rows, numbers), zeros};
  Call(args, add, Span<const TBlob>(in, 2), Viewed(args.out[0], rows, numbers));
}

void Gather(KernelArgs& args) {
  static const AttrsPtr& sum = *new AttrsPtr(MakeAttrs(Op::Get("sum"), {{"axis", "1"}, {"keepdims", "True"}}));
  if (Nothing(args)) return;
  if (args.in[0].Size() == 0) return Call(args, graph_ops::Zeros(), {}, args.out[0]);
  const int64_t numbers = Numbers(args, args.out[0].shape), rows = args.out[0].Size() / numbers;
  const TBlob in = Viewed(args.in[0], rows, numbers);
  Call(args, sum, Span<const TBlob>(&in, 1), Viewed(args.out[0], rows, numbers));
}

GradientFn OtherWay(const char* other) {
  return [other](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
    return std::vector<NodeEntry>{{MakeNodeLike(other, *node, {ograds[0], node->inputs[0]}), 0, 0}, NodeEntry{}};
  };
}

MXNET_REGISTER_OP(_backward_pdf_spread)
    .describe("Each element of lhs for all elements of rhs behind it, as densities have their parameters.")
    .set_param<SpreadParam>()
    .set_inputs({"lhs", "rhs"})
    .set_dtypes(dtypes::kAll)
    .set_shape_only_from(1)
    .set_infer_shape(LikeInputsShape(1))
    .set_gradient(OtherWay("_backward_pdf_gather"))
    .set_kernel(Spread);

MXNET_REGISTER_OP(_backward_pdf_gather)
    .describe("The sums of lhs that belong to the elements of rhs: the reverse of _backward_pdf_spread.")
    .set_param<SpreadParam>()
    .set_inputs({"lhs", "rhs"})
    .set_dtypes(dtypes::kAll)
    .set_shape_only_from(1)
    .set_infer_shape(LikeInputsShape(1))
    .set_gradient(OtherWay("_backward_pdf_spread"))
    .set_kernel(Gather);

// ---- logarithms of densities, in nodes

NodeEntry With(const char* op, const NodeEntry& x, double scalar) { return MakeOp(op, {x}, {{"scalar", ExactText(scalar)}}); }
NodeEntry operator+(const NodeEntry& a, const NodeEntry& b) { return MakeOp("elemwise_add", {a, b}); }
NodeEntry operator-(const NodeEntry& a, const NodeEntry& b) { return MakeOp("elemwise_sub", {a, b}); }
NodeEntry operator*(const NodeEntry& a, const NodeEntry& b) { return MakeOp("elemwise_mul", {a, b}); }
NodeEntry operator/(const NodeEntry& a, const NodeEntry& b) { return MakeOp("elemwise_div", {a, b}); }
NodeEntry operator+(const NodeEntry& a, double b) { return With("_plus_scalar", a, b); }
NodeEntry operator*(const NodeEntry& a, double b) { return With("_mul_scalar", a, b); }
NodeEntry Log(const NodeEntry& x) { return MakeOp("log", {x}); }
NodeEntry LogGamma(const NodeEntry& x) { return MakeOp("gammaln", {x}); }
NodeEntry SumOfLast(const NodeEntry& x) { return MakeOp("sum", {x}, {{"axis", "-1"}}); }
/* x where `where` is 1, and 1 elsewhere, with no gradient there. */
NodeEntry Inside(const NodeEntry& where, const NodeEntry& x) { return MakeOp("where", {where, x, graph_ops::OnesLike(x)}); }

struct Formula {
  NodeEntry inside;     // 1 where the density is not 0 by definition; none: everywhere
  NodeEntry logarithm;  // of the density there
};

Formula NegativeBinomial(const NodeEntry& where, const NodeEntry& x, const NodeEntry& k, const NodeEntry& log_p, const NodeEntry& log_q) {
  const NodeEntry some = With("_not_equal_scalar", x, 0);  // 0 * log(0) is 0
  return {where,
          LogGamma(x + k) - LogGamma(x + 1.0) - LogGamma(k) + k * log_p + x * MakeOp("where", {some, log_q, graph_ops::ZerosLike(x)})};
}

/* `p`: the parameters, for every sample. */
Formula Write(const std::string& name, NodeEntry x, const std::vector<NodeEntry>& p) {
  if (name == "uniform") {
    const NodeEntry within = MakeOp("_greater_equal", {x, p[0]}) * MakeOp("_lesser_equal", {x, p[1]});
    return {within, Log(p[1] - p[0]) * -1.0};
  }
  if (name == "normal") {
    const NodeEntry z = (x - p[0]) / p[1];
    return {{}, z * z * -0.5 - Log(p[1]) + -0.91893853320467274};
  }
  const NodeEntry within = With("_greater_equal_scalar", x, 0);
  if (name == "gamma") {
    x = Inside(within, x);
    return {within, p[0] * Log(p[1]) + (p[0] + -1.0) * Log(x) - p[1] * x - LogGamma(p[0])};
  }
  if (name == "exponential") return {within, Log(p[0]) - p[0] * x};
  x = Inside(within, MakeOp("BlockGrad", {x}));
  const NodeEntry some = With("_not_equal_scalar", x, 0);
  if (name == "poisson") return {within, x * Log(Inside(some, p[0])) - p[0] - LogGamma(x + 1.0)};
  if (name == "negative_binomial") return NegativeBinomial(within, x, p[0], Log(p[1]), Log(Inside(some, p[1] * -1.0 + 1.0)));
  const NodeEntry product = p[0] * p[1], log_p = MakeOp("log1p", {product}) * -1.0;  // mu, alpha
  return NegativeBinomial(within, x, MakeOp("reciprocal", {p[1]}), log_p, Log(Inside(some, product)) + log_p);
}

Formula WriteDirichlet(const NodeEntry& x, const NodeEntry& alpha) {
  const NodeEntry within = MakeOp("min", {With("_greater_equal_scalar", x, 0)}, {{"axis", "-1"}});
  const NodeEntry positive = Inside(With("_greater_scalar", x, 0), x);
  return {within, SumOfLast((alpha + -1.0) * Log(positive)) + LogGamma(SumOfLast(alpha)) - SumOfLast(LogGamma(alpha))};
}

}  // namespace

std::vector<NodeEntry> DensitySecondGradient(const std::string& name, bool is_log, const NodePtr& node,
                                             const std::vector<NodeEntry>& ograds) {
  const bool dirichlet = name == "dirichlet";
  std::vector<NodeEntry> xs;  // gradient, sample, parameters: nothing before these is differentiated here
  for (size_t i = 0; i + 1 < node->inputs.size(); ++i) xs.push_back(graph_ops::CopyOf(node->inputs[i]));
  std::vector<NodeEntry> spread;
  for (size_t i = 2; i < xs.size(); ++i)
    spread.push_back(MakeOp("_backward_pdf_spread", {xs[i], xs[1]}, {{"keep_last", dirichlet ? "True" : "False"}}));
  const Formula f = dirichlet ? WriteDirichlet(xs[1], spread[0]) : Write(name, xs[1], spread);
  NodeEntry y = is_log ? f.logarithm : MakeOp("exp", {f.logarithm});
  if (f.inside) y = MakeOp("where", {f.inside, y, graph_ops::ZerosLike(y)});
  const std::vector<NodeEntry> first = OfSubgraphs().gradient({y}, std::vector<NodeEntry>(xs.begin() + 1, xs.end()), {xs[0]});
  std::vector<NodeEntry> ys, heads, grads(node->inputs.size());
  for (size_t i = 0; i < first.size(); ++i) {
    if (!first[i]) continue;
    ys.push_back(first[i]);
    heads.push_back(ograds[i]);
  }
  if (ys.empty()) return grads;
  const std::vector<NodeEntry> second = OfSubgraphs().gradient(ys, xs, heads);
  std::copy(second.begin(), second.end(), grads.begin());
  return grads;
}

}  // namespace mxnet
