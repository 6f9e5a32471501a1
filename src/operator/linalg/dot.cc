// dot and batch_dot. Both reduce to batches of matrix products, and so do their gradients and the
// gradients of those.
#include "operator/linalg/dot_param.h"
#include "operator/linalg/matmul.h"
#include "operator/nodes/make_nodes.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/traits.h"

namespace mxnet {

MXNET_REGISTER_PARAM(DotParam);

namespace {

// lhs and rhs as batches of matrices, and the shape of the result.
struct Views {
  bool ta, tb;
  MatmulSize size;
  Shape out;
};

Views DotViews(const Attrs& attrs, const Shape& a, const Shape& b) {
  const auto& p = attrs.get<DotParam>();
  MXNET_CHECK_KIND(a.ndim() > 0 && b.ndim() > 0, Value)
      << "[" << attrs.op->name << "] lhs has shape " << a << ", rhs " << b << "; both need at least 1 dimension";
  Views v;
  // of a vector there is only one dimension to sum over
  v.ta = p.transpose_a && a.ndim() > 1;
  v.tb = p.transpose_b && b.ndim() > 1;
  MXNET_CHECK_KIND(a.ndim() > 1 || b.ndim() > 1 || !(p.transpose_a || p.transpose_b), Value)
      << "[" << attrs.op->name << "] vectors cannot be transposed";
  const int an = a.ndim(), bn = b.ndim();
  const int64_t ka = v.ta ? a[0] : a[an - 1], kb = v.tb ? b[bn - 1] : b[0];
  MXNET_CHECK_KIND(ka == kb, Value) << "[" << attrs.op->name << "] lhs of shape " << a << (v.ta ? " (transposed)" : "")
                                    << " and rhs of shape " << b << (v.tb ? " (transposed)" : "") << ": sizes " << ka << " and " << kb
                                    << " of the summed dimensions must be equal";
  std::vector<int64_t> dims;
  for (int i = 0; i < an; ++i)
    if (i != (v.ta ? 0 : an - 1)) dims.push_back(a[i]);
  for (int i = 0; i < bn; ++i)
    if (i != (v.tb ? bn - 1 : 0)) dims.push_back(b[i]);
  v.size.k = ka;
  v.size.m = v.ta ? a.Prod(1, an) : a.Prod(0, an - 1);
  v.size.n = v.tb ? b.Prod(0, bn - 1) : b.Prod(1, bn);
  if (dims.empty()) dims.push_back(1);  // 1.x had no scalars
  v.out = Shape(dims);
  return v;
}

Views BatchDotViews(const Attrs& attrs, const Shape& a, const Shape& b) {
  const auto& p = attrs.get<DotParam>();
  const int n = a.ndim();
  MXNET_CHECK_KIND(n >= 3 && n == b.ndim(), Value)
      << "[" << attrs.op->name << "] lhs has shape " << a << ", rhs " << b << "; both need the same number of dimensions, at least 3";
  for (int i = 0; i < n - 2; ++i)
    MXNET_CHECK_KIND(a[i] == b[i], Value) << "[" << attrs.op->name << "] lhs has shape " << a << ", rhs " << b
                                          << "; all dimensions but the last two must be equal";
  Views v;
  v.ta = p.transpose_a;
  v.tb = p.transpose_b;
  v.size.batch = a.Prod(0, n - 2);
  v.size.m = v.ta ? a[n - 1] : a[n - 2];
  v.size.k = v.ta ? a[n - 2] : a[n - 1];
  v.size.n = v.tb ? b[n - 2] : b[n - 1];
  const int64_t kb = v.tb ? b[n - 1] : b[n - 2];
  MXNET_CHECK_KIND(v.size.k == kb, Value) << "[" << attrs.op->name << "] lhs of shape " << a << (v.ta ? " (transposed)" : "")
                                          << " and rhs of shape " << b << (v.tb ? " (transposed)" : "") << ": sizes " << v.size.k << " and "
                                          << kb << " of the summed dimensions must be equal";
  v.out = a;
  v.out[n - 2] = v.size.m;
  v.out[n - 1] = v.size.n;
  return v;
}

using ViewFn = Views (*)(const Attrs&, const Shape&, const Shape&);

// What is known of the result while sizes of the inputs are open; their numbers of dimensions are
// known.
Shape OpenDot(const Attrs& attrs, const Shape& a, const Shape& b) {
  const auto& p = attrs.get<DotParam>();
  const int an = a.ndim(), bn = b.ndim();
  if (an == 0 || bn == 0) return Shape();
  std::vector<int64_t> dims;
  for (int i = 0; i < an; ++i)
    if (i != (p.transpose_a && an > 1 ? 0 : an - 1)) dims.push_back(a[i]);
  for (int i = 0; i < bn; ++i)
    if (i != (p.transpose_b && bn > 1 ? bn - 1 : 0)) dims.push_back(b[i]);
  if (dims.empty()) dims.push_back(1);
  return Shape(dims);
}

Shape OpenBatchDot(const Attrs& attrs, const Shape& a, const Shape& b) {
  const auto& p = attrs.get<DotParam>();
  const int n = a.ndim();
  if (n < 3 || b.ndim() != n) return Shape();
  Shape out(n);
  for (int i = 0; i < n - 2; ++i) out[i] = a[i] >= 0 ? a[i] : b[i];
  out[n - 2] = a[p.transpose_a ? n - 1 : n - 2];
  out[n - 1] = b[p.transpose_b ? n - 2 : n - 1];
  return out;
}

template <ViewFn kViews>
bool DotShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  if (!(*in)[0].known() || !(*in)[1].known()) {
    if ((*in)[0].ndim_known() && (*in)[1].ndim_known())
      AssignShape(attrs, "the result", &(*out)[0], (kViews == DotViews ? OpenDot : OpenBatchDot)(attrs, (*in)[0], (*in)[1]));
    return false;
  }
  AssignShape(attrs, "the result", &(*out)[0], kViews(attrs, (*in)[0], (*in)[1]).out);
  return true;
}

template <ViewFn kViews>
void Dot(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const Views v = kViews(*a.attrs, a.in[0].shape, a.in[1].shape);
  Matmul(a.run, a.in[0].dtype, v.ta, v.tb, v.size, a.in[0].dptr, a.in[1].dptr, a.out[0].dptr, a.workspace);
}

template <ViewFn kViews>
double DotFlops(const Attrs& attrs, Span<const TBlob> in, Span<const TBlob>) {
  const Views v = kViews(attrs, in[0].shape, in[1].shape);
  return 2.0 * static_cast<double>(v.size.batch) * static_cast<double>(v.size.m) * static_cast<double>(v.size.n) *
         static_cast<double>(v.size.k);
}

// [ograd, lhs, rhs] -> gradients of lhs and rhs
template <ViewFn kViews>
void DotBackward(KernelArgs& a) {
  const TBlob &g = a.in[0], &lhs = a.in[1], &rhs = a.in[2];
  const Views v = kViews(*a.attrs, lhs.shape, rhs.shape);
  const MatmulSize& s = v.size;
  auto size = [&](int64_t m, int64_t n, int64_t k) { return MatmulSize{s.batch, m, n, k}; };
  if (a.req[0] != OpReq::kNull) {
    if (!v.ta)
      Matmul(a.run, g.dtype, false, !v.tb, size(s.m, s.k, s.n), g.dptr, rhs.dptr, a.out[0].dptr, a.workspace);
    else
      Matmul(a.run, g.dtype, v.tb, true, size(s.k, s.m, s.n), rhs.dptr, g.dptr, a.out[0].dptr, a.workspace);
  }
  if (a.req[1] != OpReq::kNull) {
    if (!v.tb)
      Matmul(a.run, g.dtype, !v.ta, false, size(s.k, s.n, s.m), lhs.dptr, g.dptr, a.out[1].dptr, a.workspace);
    else
      Matmul(a.run, g.dtype, true, v.ta, size(s.n, s.k, s.m), g.dptr, lhs.dptr, a.out[1].dptr, a.workspace);
  }
}

template <ViewFn kViews>
double BackwardFlops(const Attrs& attrs, Span<const TBlob> in, Span<const TBlob> out) {
  const TBlob pair[2] = {in[1], in[2]};
  return 2 * DotFlops<kViews>(attrs, Span<const TBlob>(pair, 2), out);
}

ViewOf<MatrixProductView> ReadView() {
  return {[](const Attrs& a) {
    const auto& p = a.get<DotParam>();
    return MatrixProductView{p.transpose_a, p.transpose_b};
  }};
}

template <ViewFn kViews>
Op& DotRecord(const std::string& name, const std::string& backward, const char* text) {
  // The product is linear in either input: with u, w the gradients that reach those of lhs and rhs,
  // the result is d(u, rhs) + d(lhs, w) for the gradient, and the same backward operator on (g, u,
  // w) for lhs and rhs.
  Op::Register(backward)
      .describe("Gradients of " + name + ".")
      .set_param<DotParam>()
      .set_inputs({"ograd", "lhs", "rhs"})
      .set_dtypes(dtypes::kAll)
      .set_outputs({"lhs_grad", "rhs_grad"})
      .set_infer_shape(LikeInputsShape(1))
      .set_flops(BackwardFlops<kViews>)
      .set_gradient([name, backward](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        const auto& in = node->inputs;
        NodeEntry left{MakeNodeLike(name, *node, {ograds[0], in[2]}), 0, 0}, right{MakeNodeLike(name, *node, {in[1], ograds[1]}), 0, 0};
        NodePtr both = MakeNodeLike(backward, *node, {in[0], ograds[0], ograds[1]});
        return std::vector<NodeEntry>{MakeOp("elemwise_add", {left, right}), NodeEntry{both, 0, 0}, NodeEntry{both, 1, 0}};
      })
      .set_kernel(DotBackward<kViews>);
  return Op::Register(name)
      .describe(text)
      .set_param<DotParam>()
      .set_inputs({"lhs", "rhs"})
      .set_dtypes(dtypes::kFloats)
      .set_infer_shape(DotShape<kViews>)
      .set_flops(DotFlops<kViews>)
      .set_expensive_to_recompute()
      .set_gradient(BackwardNode(Op::Register(backward).name.c_str(), kGradInputs))
      .set_kernel(Dot<kViews>);
}

[[maybe_unused]] const bool registered = [] {
  DotRecord<DotViews>(
      "dot", "_backward_dot",
      "Product of matrices. Of arrays with more dimensions the last of lhs and the first of rhs are summed over, of vectors the only one.")
      .alias("_sparse_dot")
      .set_trait(Role::kMatrixProduct)
      .set_trait(ReadView());
  DotRecord<BatchDotViews>("batch_dot", "_backward_batch_dot",
                           "Products of the matrices in the last two dimensions, one for each index of the others.")
      .alias("_npx_batch_dot")
      .set_trait(Role::kBatchedMatrixProduct)
      .set_trait(ReadView());
  return true;
}();

}  // namespace

NodePtr MakeMatrixProduct(bool transpose_a, bool transpose_b, std::vector<NodeEntry> operands, const std::string& name) {
  return MakeNode("batch_dot", std::move(operands),
                  {{"transpose_a", transpose_a ? "True" : "False"}, {"transpose_b", transpose_b ? "True" : "False"}}, name);
}

}  // namespace mxnet
