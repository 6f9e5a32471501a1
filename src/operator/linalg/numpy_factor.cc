// NumPy's factorizations: singular values, QR, eigenvalues.
#include <algorithm>

#include "operator/linalg/dense.h"
#include "operator/linalg/matmul.h"
#include "operator/linalg/real_inputs.h"
#include "operator/linalg/shapes.h"
#include "operator/matrix/move.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/shared/on_host.h"

namespace mxnet {
namespace linalg {
namespace {

std::function<double(const Attrs&, Span<const TBlob>, Span<const TBlob>)> Cubes(double factor) {
  return [factor](const Attrs&, Span<const TBlob> in, Span<const TBlob>) {
    const Shape& s = in[0].shape;
    return factor * static_cast<double>(s.Size()) * static_cast<double>(std::min(s[s.ndim() - 2], s[s.ndim() - 1]));
  };
}

NodeEntry Times(const NodeEntry& a, const NodeEntry& b) { return MakeOp("elemwise_mul", {a, b}); }
NodeEntry Plus(const NodeEntry& a, const NodeEntry& b) { return MakeOp("elemwise_add", {a, b}); }
NodeEntry Minus(const NodeEntry& a, const NodeEntry& b) { return MakeOp("elemwise_sub", {a, b}); }
// x with its columns, respectively rows, times the numbers.
NodeEntry ColumnsTimes(const NodeEntry& x, const NodeEntry& numbers) {
  return MakeOp("broadcast_mul", {x, MakeOp("expand_dims", {numbers}, {{"axis", "-2"}})});
}
NodeEntry RowsTimes(const NodeEntry& numbers, const NodeEntry& x) {
  return MakeOp("broadcast_mul", {MakeOp("expand_dims", {numbers}, {{"axis", "-1"}}), x});
}
NodeEntry Diagonal(const NodeEntry& numbers) { return MakeOp("_linalg_makediag", {numbers}); }
NodeEntry Gaps(const NodeEntry& w) { return MakeOp("_backward_linalg_gaps", {w}); }

// to = the matrices of from, transposed: `rows` of `columns` numbers, whose rows lie `pitch`
// numbers apart and whose matrices `step`.
struct Place {
  int64_t pitch, step;
};
void Transpose(KernelArgs& args, int64_t count, int64_t rows, int64_t columns, const void* from, const Place& f, void* to, const Place& t) {
  if (count * rows * columns == 0) return;
  const int64_t shape[3] = {count, columns, rows}, source[3] = {f.step, 1, f.pitch}, target[3] = {t.step, t.pitch, 1};
  CopyStrided(args.run, from, source, to, target, shape, 3, DTypeSize(args.in[0].dtype));
}

// ---- singular values

bool SingularShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& a = (*in)[0];
  NeedMatrices(attrs, "A", a);
  if (!a.known()) return false;
  const int64_t m = a[a.ndim() - 2], n = a[a.ndim() - 1], k = std::min(m, n);
  AssignShape(attrs, "UT", &(*out)[0], Leading(a, 2, {m, k}));
  AssignShape(attrs, "L", &(*out)[1], Leading(a, 2, {k}));
  AssignShape(attrs, "V", &(*out)[2], Leading(a, 2, {k, n}));
  return true;
}

void SingularKernel(KernelArgs& given) {
  AsReal(given, [](KernelArgs& args) {
    const Matrices a(args.in[0].shape);
    void *u = OutputMemory(args, 0), *w = OutputMemory(args, 1), *v = OutputMemory(args, 2);
    SingularValues(args, a.count, a.rows, a.columns, args.in[0].dptr, u, w, v);
  });
}

void SingularValuesKernel(KernelArgs& given) {
  AsReal(given, [](KernelArgs& args) {
    const Matrices a(args.in[0].shape);
    SingularValues(args, a.count, a.rows, a.columns, args.in[0].dptr, nullptr, OutputMemory(args, 0), nullptr);
  });
}

bool SingularValuesShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& a = (*in)[0];
  NeedMatrices(attrs, "A", a);
  if (!a.known()) return false;
  AssignShape(attrs, "the singular values", &(*out)[0], Leading(a, 2, {std::min(a[a.ndim() - 2], a[a.ndim() - 1])}));
  return true;
}

std::vector<NodeEntry> SingularValuesGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodePtr vectors = MakeNode("_npi_svd", {node->inputs[0]});
  return {Product(ColumnsTimes(Output(vectors, 0), ograds[0]), false, Output(vectors, 2), false)};
}

// As Townsend, Differentiating the Singular Value Decomposition (2016), for a = u diag(s) v. With f
// the reciprocals of the differences of squared singular values, what u and v get within their
// spaces is f * (u^T gu) and f * (v gv^T); outside of them, their gradients over s.
std::vector<NodeEntry> SingularGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry u = Output(node, 0), s = Output(node, 1), v = Output(node, 2), &gu = ograds[0], &gs = ograds[1], &gv = ograds[2];
  const NodeEntry f = Gaps(MakeOp("square", {s}));
  const NodeEntry j = PartOf(Times(f, Product(u, true, gu, false, 2)), Part::kSymmetric);
  const NodeEntry k = PartOf(Times(f, Product(v, false, gv, true, 2)), Part::kSymmetric);
  const NodeEntry inside = Plus(Plus(ColumnsTimes(j, s), RowsTimes(s, k)), Diagonal(gs));
  const NodeEntry none = MakeOp("_backward_linalg_is_zero", {s});
  const NodeEntry over = Minus(MakeOp("reciprocal", {Plus(s, none)}), none);  // 1 / s, or 0
  const NodeEntry left = ColumnsTimes(gu, over), right = RowsTimes(over, gv);
  const NodeEntry beside_u = ProductPlus(u, false, Product(u, true, left, false), false, left, -1);
  const NodeEntry beside_v = ProductPlus(Product(right, false, v, true), false, v, false, right, -1);
  return {Plus(Product(u, false, ProductPlus(inside, false, v, false, beside_v), false), Product(beside_u, false, v, false))};
}

// ---- QR

bool QrShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& a = (*in)[0];
  NeedMatrices(attrs, "A", a);
  if (!a.known()) return false;
  const int64_t m = a[a.ndim() - 2], n = a[a.ndim() - 1], k = std::min(m, n);
  AssignShape(attrs, "Q", &(*out)[0], Leading(a, 2, {m, k}));
  AssignShape(attrs, "R", &(*out)[1], Leading(a, 2, {k, n}));
  return true;
}

// The transpose of the first columns, at most as many as there are rows, is l q; the rest of r is
// q times the other columns.
void QrKernel(KernelArgs& given) {
  AsReal(given, [](KernelArgs& args) {
    const Matrices a(args.in[0].shape);
    const int64_t m = a.rows, n = a.columns, k = std::min(m, n), bytes = static_cast<int64_t>(DTypeSize(args.in[0].dtype));
    if (a.count * k == 0) return;
    void *q = OutputMemory(args, 0), *r = OutputMemory(args, 1);
    void *turned = args.workspace(static_cast<size_t>(a.count * k * m * bytes)),
         *l = args.workspace(static_cast<size_t>(a.count * k * k * bytes));
    Transpose(args, a.count, m, k, args.in[0].dptr, {n, m * n}, turned, {m, m * k});
    FactorLq(args, a.count, k, m, turned, l);
    Transpose(args, a.count, k, m, turned, {m, m * k}, q, {k, m * k});
    if (n > k) Matmul(args.run, args.in[0].dtype, false, false, MatmulSize{a.count, k, n, m}, turned, args.in[0].dptr, r, args.workspace);
    Transpose(args, a.count, k, k, l, {k, k * k}, r, {n, k * n});
  });
}

// Walter, Lehmann and Lamour, On evaluating higher-order derivatives of the QR decomposition
// (2012), for the first columns x with q and the square part u of r:
// (gq + q m) u^-T, where m is the lower triangle of u gu^T - gq^T q, mirrored. The other columns y,
// which q^T y is made of, get q gr and add y gr^T to gq. Matrices with zeros in the place of the
// first columns stand for the other columns.
std::vector<NodeEntry> QrGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry q = Output(node, 0), r = Output(node, 1), &gq = ograds[0], &gr = ograds[1], &a = node->inputs[0];
  const AttrDict last{{"axes", "(-1,)"}};
  auto first = [&](const NodeEntry& x) { return MakeOp("slice_like", {x, q}, last); };
  auto padded = [&](const NodeEntry& x, const NodeEntry& like) { return MakeOp("_backward_slice_like", {x, like, q}, last); };
  const NodeEntry u = first(r), gu = first(gr), gy = Minus(gr, padded(gu, r)), y = Minus(a, padded(first(a), a));
  const NodeEntry all = ProductPlus(y, false, gy, true, gq);
  const NodeEntry m = PartOf(ProductPlus(all, true, q, false, Product(u, false, gu, true), -1), Part::kMirror);
  const NodeEntry gx = Solution(u, ProductPlus(q, false, m, false, all), true, true, 1, false);
  return {ProductPlus(q, false, gy, false, padded(gx, a))};
}

// ---- eigenvalues

struct TriangleParam : public Parameter<TriangleParam> {
  char UPLO;
  MXNET_DECLARE_PARAM(TriangleParam) {
    MXNET_FIELD(UPLO).set_default('L').describe("The triangle that is read: L, the lower one, or U, the upper one.");
  }
};
MXNET_REGISTER_PARAM(TriangleParam);

bool Upper(const Attrs& attrs) {
  const char c = attrs.get<TriangleParam>().UPLO;
  MXNET_CHECK_KIND(c == 'L' || c == 'l' || c == 'U' || c == 'u', Value)
      << "[" << attrs.op->name << "] UPLO is '" << c << "'; accepted: 'L', 'U'";
  return c == 'U' || c == 'u';
}

bool EigenShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& a = (*in)[0];
  NeedSquare(attrs, "A", a);
  if (!a.known()) return false;
  AssignShape(attrs, "the eigenvalues", &(*out)[0], Leading(a, 1, {}));
  if (out->size() > 1) AssignShape(attrs, "the eigenvectors", &(*out)[1], a);
  return true;
}

bool SymmetricShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  Upper(attrs);
  return EigenShape(attrs, in, out);
}

void SymmetricKernel(KernelArgs& given) {
  AsReal(given, [](KernelArgs& args) {
    const TBlob& a = args.in[0];
    const Matrices s(a.shape);
    const int64_t n = s.rows;
    if (a.Size() == 0) return;
    void *u = args.workspace(a.Bytes()), *w = OutputMemory(args, 0);
    if (Upper(*args.attrs))
      Transpose(args, s.count, n, n, a.dptr, {n, n * n}, u, {n, n * n});
    else
      CopyBytes(args.run, a.dptr, u, static_cast<int64_t>(a.Bytes()));
    const bool vectors = args.out.size() > 1 && args.req[1] != OpReq::kNull;
    EigenSymmetric(args, s.count, n, u, w, vectors);
    if (vectors) Transpose(args, s.count, n, n, u, {n, n * n}, args.out[1].dptr, {n, n * n});
  });
}

// Seeger et al., Auto-Differentiating Linear Algebra, arXiv:1710.08717, section 4.4, for columns.
std::vector<NodeEntry> SymmetricGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry w = Output(node, 0), v = Output(node, 1);
  const NodeEntry turned = PartOf(Times(Product(v, true, ograds[1], false), Gaps(w)), Part::kSymmetric);
  return {Product(Product(v, false, Plus(turned, Diagonal(ograds[0])), false), false, v, true)};
}

std::vector<NodeEntry> SymmetricValuesGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry v = Output(MakeNodeLike("_npi_eigh", *node, {node->inputs[0]}), 1);
  return {Product(ColumnsTimes(v, ograds[0]), false, v, true)};
}

void GeneralKernel(KernelArgs& given) {
  AsReal(given, [](KernelArgs& args) {
    const Matrices a(args.in[0].shape);
    EigenGeneral(args, a.count, a.rows, args.in[0].dptr, OutputMemory(args, 0), args.out.size() > 1 ? OutputMemory(args, 1) : nullptr);
  });
}

// Boeddeker et al., On the computation of complex-valued gradients, arXiv:1701.00392, section 4.18,
// for vectors of length 1: v^-T (diag(gw) + (v^T gv - v^T v d) / e) v^T, d the diagonal of v^T gv
// and e the differences of the eigenvalues.
std::vector<NodeEntry> GeneralGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry w = Output(node, 0), v = Output(node, 1), across = Product(v, true, ograds[1], false);
  const NodeEntry d = MakeOp("_linalg_extractdiag", {across});
  const NodeEntry turned = Times(Gaps(w), Minus(across, ColumnsTimes(Product(v, true, v, false), d)));
  const NodeEntry inverse = MakeOp("_linalg_inverse", {v});
  return {Product(Product(inverse, true, Plus(turned, Diagonal(ograds[0])), false), false, v, true)};
}

std::vector<NodeEntry> GeneralValuesGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry v = Output(MakeNode("_npi_eig", {node->inputs[0]}), 1);
  return {Product(Product(MakeOp("_linalg_inverse", {v}), true, Diagonal(ograds[0]), false), false, v, true)};
}

void RegisterSingular() {
  RealRecord("_npi_svd", {"A"})
      .describe(
          "Singular values and vectors: A = UT * diag(L) * V with orthonormal columns in UT and orthonormal rows in V.\n\n"
          "A has shape (..., m, n). With k the smaller of m and n, the results are UT (..., m, k), L (..., k), in descending order, and V "
          "(..., k, n). The element of largest absolute value of each row of V is positive. A matrix with NaN or infinity gives NaN. Pairs "
          "of equal singular values, whose vectors are not determined, add "
          "nothing to the gradient. float32 and float64; integers are computed in float64. On a GPU the arrays are copied to the host, "
          "where LAPACK's iteration runs.")
      .set_outputs({"UT", "L", "V"})
      .set_infer_shape(SingularShape)
      .set_flops(Cubes(20))
      .set_gradient(SingularGradient)
      .set_kernel([](KernelArgs& a) { OnHost(a, SingularKernel); });
  RealRecord("_npi_svdvals", {"A"})
      .describe(
          "Singular values of matrices, in descending order.\n\n"
          "A has shape (..., m, n), the result (..., k), with k the smaller of m and n. A matrix with NaN or infinity gives NaN. float32 "
          "and "
          "float64; integers are computed in float64. On a GPU the arrays are copied to the host, where LAPACK's iteration runs.")
      .set_infer_shape(SingularValuesShape)
      .set_flops(Cubes(8))
      .set_gradient(SingularValuesGradient)
      .set_kernel([](KernelArgs& a) { OnHost(a, SingularValuesKernel); });
  Op::Register("_backward_linalg_is_zero")
      .describe("1 where the number is 0, else 0, for gradients.")
      .set_inputs({"data"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(ElemwiseShape)
      .set_zero_gradient()
      .set_kernel([](KernelArgs& args) {
        if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
        const pointwise::Operand operands[2] = {args.in[0], pointwise::Operand(0.0)};
        pointwise::Execute(args.run, pointwise::Forward(pointwise::k_equal), pointwise::ComputeFor(args.out[0].dtype, false), operands, 2,
                           pointwise::kBinaryMasks, nullptr, args.out[0], OpReq::kWrite);
      });
}

[[maybe_unused]] const bool registered = [] {
  RegisterSingular();
  RealRecord("_npi_qr", {"A"})
      .describe(
          "QR factors: A = Q * R with orthonormal columns in Q and an upper triangular R.\n\n"
          "A has shape (..., m, n). With k the smaller of m and n, the results are Q (..., m, k) and R (..., k, n). The gradient exists "
          "where the first k columns of A are independent. float32 and float64; integers are computed in float64. Householder's "
          "reflections.")
      .set_outputs({"Q", "R"})
      .set_infer_shape(QrShape)
      .set_flops(Cubes(4))
      .set_gradient(QrGradient)
      .set_kernel(QrKernel);
  const std::string triangle =
      "A has shape (..., n, n); only the triangle UPLO of each matrix is read. The eigenvalues have shape (..., n) and ascend. A matrix "
      "with NaN or infinity gives NaN. The gradient is symmetric. float32 and float64; integers are computed in float64.";
  RealRecord("_npi_eigh", {"A"})
      .describe(
          "Eigenvalues and eigenvectors of symmetric matrices: A * v = v * diag(w).\n\n" + triangle +
          " The eigenvectors are the columns of v; the element of largest absolute value of each is positive. Pairs of equal eigenvalues, "
          "whose vectors are not determined, add nothing to the gradient.")
      .set_param<TriangleParam>()
      .set_outputs({"w", "v"})
      .set_infer_shape(SymmetricShape)
      .set_flops(Cubes(20))
      .set_gradient(SymmetricGradient)
      .set_kernel(SymmetricKernel);
  RealRecord("_npi_eigvalsh", {"A"})
      .describe("Eigenvalues of symmetric matrices.\n\n" + triangle)
      .set_param<TriangleParam>()
      .set_infer_shape(SymmetricShape)
      .set_flops(Cubes(20))
      .set_gradient(SymmetricValuesGradient)
      .set_kernel(SymmetricKernel);
  const std::string general =
      "A has shape (..., n, n), the eigenvalues (..., n), in no particular order. Eigenvalues that are not real are an error. A matrix "
      "with "
      "NaN or infinity gives NaN. float32 and float64; integers are computed in float64. On a GPU the arrays are "
      "copied to the host, where LAPACK's iteration runs.";
  RealRecord("_npi_eig", {"A"})
      .describe("Eigenvalues and eigenvectors of square matrices: A * v = v * diag(w), with columns of length 1 in v.\n\n" + general)
      .set_outputs({"w", "v"})
      .set_infer_shape(EigenShape)
      .set_flops(Cubes(25))
      .set_gradient(GeneralGradient)
      .set_kernel([](KernelArgs& a) { OnHost(a, GeneralKernel); });
  RealRecord("_npi_eigvals", {"A"})
      .describe("Eigenvalues of square matrices.\n\n" + general)
      .set_infer_shape(EigenShape)
      .set_flops(Cubes(10))
      .set_gradient(GeneralValuesGradient)
      .set_kernel([](KernelArgs& a) { OnHost(a, GeneralKernel); });
  return true;
}();

}  // namespace
}  // namespace linalg
}  // namespace mxnet
