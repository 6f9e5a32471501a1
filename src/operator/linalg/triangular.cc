// Products and systems of equations with triangular matrices.
#include "mxnet/op.h"
#include "operator/linalg/dense.h"
#include "operator/linalg/shapes.h"
#include "operator/matrix/move.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"

namespace mxnet {
namespace linalg {
namespace {

struct TriangularParam : public Parameter<TriangularParam> {
  bool transpose, rightside, lower;
  double alpha;
  MXNET_DECLARE_PARAM(TriangularParam) {
    MXNET_FIELD(transpose).set_default(false).describe("Use the triangular matrices transposed.");
    MXNET_FIELD(rightside).set_default(false).describe("The triangular matrices stand right of the others instead of left.");
    MXNET_FIELD(lower).set_default(true).describe("The lower triangles of A are used, else the upper ones.");
    MXNET_FIELD(alpha).set_default(1.0).describe("Factor of the result.");
  }
};
MXNET_REGISTER_PARAM(TriangularParam);

bool TriangularShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  Shape *a = &(*in)[0], *b = &(*in)[1];
  AssignShape(attrs, "the result", &(*out)[0], *b);
  AssignShape(attrs, "B", b, (*out)[0]);
  if (!SameRank(attrs, {{"A", a}, {"B", b}, {"the result", &(*out)[0]}}, 2)) return false;
  NeedSquare(attrs, "A", *a);
  const int n = a->ndim(), side = attrs.get<TriangularParam>().rightside ? n - 1 : n - 2;
  for (int i = 0; i < n - 2; ++i) Unify(attrs, "A", a, i, "B", b, i);
  for (int i : {n - 2, n - 1, n - 2}) Unify(attrs, "A", a, i, "B", b, side);
  AssignShape(attrs, "the result", &(*out)[0], *b);
  return a->known() && b->known();
}

template <bool solve>
void TriangularKernel(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const auto& p = args.param<TriangularParam>();
  const Matrices b(args.in[1].shape);
  const TBlob& out = args.out[0];
  if (out.Size() == 0) return;
  CopyBytes(args.run, args.in[1].dptr, out.dptr, static_cast<int64_t>(out.Bytes()));
  (solve ? SolveTriangle : MultiplyTriangle)(args, {p.lower, p.transpose, p.rightside}, p.alpha, b.count, b.rows, b.columns,
                                             args.in[0].dptr, out.dptr);
}

double TriangularFlops(const Attrs& attrs, Span<const TBlob> in, Span<const TBlob>) {
  const Shape& b = in[1].shape;
  return static_cast<double>(b.Size()) * static_cast<double>(b[b.ndim() - (attrs.get<TriangularParam>().rightside ? 1 : 2)]);
}

AttrDict SideDict(const TriangularParam& p, bool transpose, const std::string& alpha) {
  return {{"transpose", transpose ? "1" : "0"}, {"rightside", p.rightside ? "1" : "0"}, {"lower", p.lower ? "1" : "0"}, {"alpha", alpha}};
}
std::string AlphaText(const Node& node) {
  const auto alpha = node.attrs->dict.find("alpha");
  return alpha == node.attrs->dict.end() ? "1" : alpha->second;
}
NodeEntry TriangleOf(const TriangularParam& p, const NodeEntry& x) { return PartOf(x, p.lower ? Part::kLower : Part::kUpper); }

// The gradient of B is the same product with the other transposition; that of A the triangle of a
// product of the result's gradient and B.
std::vector<NodeEntry> TrmmGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const auto& p = node->attrs->get<TriangularParam>();
  const NodeEntry &a = node->inputs[0], &b = node->inputs[1], &g = ograds[0];
  NodeEntry whole;
  if (p.rightside)
    whole = p.transpose ? Product(g, true, b, false, p.alpha) : Product(b, true, g, false, p.alpha);
  else
    whole = p.transpose ? Product(b, false, g, true, p.alpha) : Product(g, false, b, true, p.alpha);
  return {TriangleOf(p, whole), MakeOp("_linalg_trmm", {a, g}, SideDict(p, !p.transpose, AlphaText(*node)))};
}

// With h = op(A)^-T g, alpha * h is the gradient of B, and -h X^T that of op(A); X is the result.
std::vector<NodeEntry> TrsmGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const auto& p = node->attrs->get<TriangularParam>();
  const NodeEntry x = Output(node, 0), h = MakeOp("_linalg_trsm", {node->inputs[0], ograds[0]}, SideDict(p, !p.transpose, "1"));
  NodeEntry whole;
  if (p.rightside)
    whole = p.transpose ? Product(h, true, x, false, -1) : Product(x, true, h, false, -1);
  else
    whole = p.transpose ? Product(x, false, h, true, -1) : Product(h, false, x, true, -1);
  const NodeEntry of_b = p.alpha == 1 ? h : MakeOp("_mul_scalar", {h}, {{"scalar", AlphaText(*node)}});
  return {TriangleOf(p, whole), of_b};
}

template <bool solve>
Op& TriangularRecord(const char* name) {
  return Op::Register(std::string("_") + name)
      .alias(name)
      .set_param<TriangularParam>()
      .set_inputs({"A", "B"})
      .set_dtypes(dtypes::kReals)
      .set_precision(Precision::kFull)
      .set_infer_shape(TriangularShape)
      .set_flops(TriangularFlops)
      .set_expensive_to_recompute()
      .set_inplace({{1, 0}})
      .set_gradient(solve ? TrsmGradient : TrmmGradient)
      .set_kernel(TriangularKernel<solve>);
}

[[maybe_unused]] const bool registered = [] {
  TriangularRecord<false>("linalg_trmm")
      .describe(
          "Products with triangular matrices: alpha * op(A) * B, or alpha * B * op(A) with `rightside`, where op may transpose.\n\n"
          "A and B have equal dimensions but for the last two; those of A are equal. The other triangle of A is not read and gets gradient "
          "0. float32 and float64. The routine trmm of BLAS.");
  TriangularRecord<true>("linalg_trsm")
      .describe(
          "Solves systems of equations with triangular matrices: X with op(A) * X = alpha * B, or X * op(A) = alpha * B with `rightside`, "
          "where op may transpose.\n\n"
          "A and B have equal dimensions but for the last two; those of A are equal. The other triangle of A is not read and gets gradient "
          "0. With a 0 on a diagonal the result has infinities and NaN. float32 and float64. The routine trsm of BLAS.");
  return true;
}();

}  // namespace
}  // namespace linalg
}  // namespace mxnet
