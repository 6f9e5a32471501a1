// Factorizations: Cholesky, LQ, eigenvalues; and what belongs to Cholesky's factors.
#include <algorithm>
#include <cmath>

#include "base/cpu_dispatch.h"
#include "base/threads/omp.h"
#include "mxnet/op.h"
#include "operator/linalg/dense.h"
#include "operator/linalg/shapes.h"
#include "operator/matrix/move.h"
#include "operator/random/density.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "rtc/loop.h"

namespace mxnet {
namespace linalg {
namespace {

Op& Record(const std::string& name) {
  return Op::Register(name).set_inputs({"A"}).set_dtypes(dtypes::kReals).set_precision(Precision::kFull).set_expensive_to_recompute();
}

// For matrices of order n (the last dimension but one): factor * n * the size of the input.
std::function<double(const Attrs&, Span<const TBlob>, Span<const TBlob>)> Cubes(double factor) {
  return [factor](const Attrs&, Span<const TBlob> in, Span<const TBlob>) {
    const Shape& s = in[0].shape;
    return factor * static_cast<double>(s.Size()) * static_cast<double>(s[s.ndim() - 2]);
  };
}

// ---- Cholesky

struct CholeskyParam : public Parameter<CholeskyParam> {
  bool lower;
  MXNET_DECLARE_PARAM(CholeskyParam) {
    MXNET_FIELD(lower).set_default(true).describe("The factors are lower triangular, and so are the triangles that are read; else upper.");
  }
};
MXNET_REGISTER_PARAM(CholeskyParam);

bool Lower(const Attrs& a) { return !a.param || a.get<CholeskyParam>().lower; }

void CholeskyKernel(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const Matrices a(args.in[0].shape);
  Cholesky(args, Lower(*args.attrs), a.count, a.rows, args.in[0].dptr, args.out[0].dptr);
}

// Murray, Differentiation of the Cholesky decomposition, arXiv:1602.07527, section 4: with l the
// factor and g its gradient, half of l^-T m l^-1, where m is the lower triangle of l^T g, mirrored.
std::vector<NodeEntry> CholeskyGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const bool lower = Lower(*node->attrs);
  const AttrDict swap{{"dim1", "-1"}, {"dim2", "-2"}};
  const NodeEntry u = Output(node, 0), l = lower ? u : MakeOp("SwapAxis", {u}, swap),
                  g = lower ? ograds[0] : MakeOp("SwapAxis", {ograds[0]}, swap);
  const NodeEntry m = PartOf(MakeOp("_linalg_trmm", {l, g}, {{"transpose", "1"}}), Part::kMirror);
  return {Solution(l, Solution(l, m, true, false, 0.5), false, true)};
}

void CholeskyInverseKernel(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const Matrices a(args.in[0].shape);
  CholeskyInverse(args, Lower(*args.attrs), a.count, a.rows, args.in[0].dptr, args.out[0].dptr);
}

// b = (l l^T)^-1: the gradient of l l^T is -b g b, that of l the lower triangle of
// -b (g + g^T) b l, and b l is l^-T.
std::vector<NodeEntry> CholeskyInverseGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const bool lower = Lower(*node->attrs);
  auto turned = [&](const NodeEntry& e) { return lower ? e : MakeOp("SwapAxis", {e}, {{"dim1", "-1"}, {"dim2", "-2"}}); };
  const NodeEntry product = Product(Output(node, 0), false, PartOf(ograds[0], Part::kSymmetric), false, -2);
  return {turned(PartOf(Solution(turned(node->inputs[0]), product, true, true), Part::kLower))};
}

// ---- sums of logarithms of diagonals

bool NumbersShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& a = (*in)[0];
  NeedSquare(attrs, "A", a);
  if (!a.ndim_known()) return false;
  AssignShape(attrs, "the result", &(*out)[0], NumberShape(a, false));
  return a.known();
}

// Of matrices [begin, end); logarithms are taken together, for few at a time fill no vectors.
template <typename T>
void SumLogs(const Matrices& a, int64_t begin, int64_t end, const T* from, T* to) {
  constexpr int64_t block = 512;
  double diagonal[block], logs[block];
  const int64_t rows = std::min(a.rows, block), together = block / std::max<int64_t>(rows, 1);
  for (int64_t first = begin; first < end; first += together) {
    const int64_t count = std::min(together, end - first);
    double sums[block] = {};
    for (int64_t row = 0; row < a.rows; row += rows) {
      const int64_t n = std::min(rows, a.rows - row);
      for (int64_t i = 0; i < count; ++i)
        for (int64_t k = 0; k < n; ++k)
          diagonal[i * n + k] = static_cast<double>(from[((first + i) * a.rows + row + k) * a.rows + row + k]);
      MXNET_CPU_CALL(LogAll)(diagonal, logs, count * n);
      for (int64_t i = 0; i < count; ++i)
        for (int64_t k = 0; k < n; ++k) sums[i] += logs[i * n + k];
    }
    for (int64_t i = 0; i < count; ++i) to[first + i] = static_cast<T>(sums[i]);
  }
}

void SumLogDiagonal(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const Matrices a(args.in[0].shape);
  if (args.run.ctx.is_gpu()) {
    rtc::Arguments given;
    given.Add(args.in[0].dptr).Add(args.out[0].dptr).Add(a.rows);
    return rtc::LaunchItems(args.run, {"operator/linalg/gpu_parts.cuh", "linalg_sum_log", {args.out[0].dtype}}, a.count, &given);
  }
  auto run = [&](auto number) {
    using T = decltype(number);
    ParallelFor(a.count, std::max<int64_t>(1, 2048 / (a.rows + 1)),
                [&](int64_t begin, int64_t end) { SumLogs(a, begin, end, args.in[0].data<T>(), args.out[0].data<T>()); });
  };
  args.in[0].dtype == kFloat64 ? run(double{}) : run(float{});
}

std::vector<NodeEntry> SumLogDiagonalGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry diagonal = MakeOp("_linalg_extractdiag", {node->inputs[0]});
  return {Scaled(ograds[0], MakeOp("_linalg_makediag", {MakeOp("reciprocal", {diagonal})}))};
}

// ---- LQ

bool LqShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  Shape *a = &(*in)[0], *q = &(*out)[0], *l = &(*out)[1];
  AssignShape(attrs, "Q", q, *a);
  AssignShape(attrs, "A", a, *q);
  if (!SameRank(attrs, {{"A", a}, {"Q", q}, {"L", l}}, 2)) return false;
  const int n = a->ndim();
  for (int i = 0; i < n - 2; ++i) Unify(attrs, "A", a, i, "L", l, i);
  for (int i : {n - 2, n - 1, n - 2}) Unify(attrs, "A", a, n - 2, "L", l, i);
  AssignShape(attrs, "Q", q, *a);
  MXNET_CHECK_KIND((*a)[n - 2] < 0 || (*a)[n - 1] < 0 || (*a)[n - 2] <= (*a)[n - 1], Value)
      << "[" << attrs.op->name << "] A has shape " << *a << "; matrices with at most as many rows as columns are accepted";
  return a->known() && l->known();
}

/* f(matrices, first, second) with memory for both results; the first one holds the input. */
template <typename F>
void FactorInPlace(KernelArgs& args, F&& f) {
  void* parts[2];
  for (int i = 0; i < 2; ++i) {
    const bool wanted = args.req[i] != OpReq::kNull;
    parts[i] = wanted ? args.out[i].dptr : args.workspace(std::max<size_t>(args.out[i].Bytes(), 1));
  }
  if (args.in[0].Size() == 0) return;
  CopyBytes(args.run, args.in[0].dptr, parts[0], static_cast<int64_t>(args.in[0].Bytes()));
  f(Matrices(args.in[0].shape), parts[0], parts[1]);
}

void LqKernel(KernelArgs& args) {
  FactorInPlace(args, [&](const Matrices& a, void* q, void* l) { FactorLq(args, a.count, a.rows, a.columns, q, l); });
}

// Seeger et al., Auto-Differentiating Linear Algebra, arXiv:1710.08717, section 4.3:
// l^-T (gq + m q), where m is the lower triangle of l^T gl - gq q^T, mirrored.
std::vector<NodeEntry> LqGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry q = Output(node, 0), l = Output(node, 1), &gq = ograds[0], &gl = ograds[1];
  const NodeEntry m = PartOf(ProductPlus(gq, false, q, true, Product(l, true, gl, false), -1), Part::kMirror);
  return {Solution(l, ProductPlus(m, false, q, false, gq), true, false)};
}

// ---- eigenvalues

bool EigenShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  Shape *a = &(*in)[0], *u = &(*out)[0], *w = &(*out)[1];
  AssignShape(attrs, "U", u, *a);
  AssignShape(attrs, "A", a, *u);
  NeedSquare(attrs, "A", *a);
  if (!a->ndim_known()) return false;
  AssignShape(attrs, "L", w, Leading(*a, 2, {(*a)[a->ndim() - 1]}));
  return a->known();
}

void EigenKernel(KernelArgs& args) {
  FactorInPlace(args, [&](const Matrices& a, void* u, void* w) { EigenSymmetric(args, a.count, a.rows, u, w); });
}

// As above, section 4.4: u^T (diag(gw) + symmetric part of f * (u gu^T)) u with f the reciprocals
// of the differences of eigenvalues.
std::vector<NodeEntry> EigenGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry u = Output(node, 0), w = Output(node, 1);
  const NodeEntry turned = MakeOp("elemwise_mul", {Product(u, false, ograds[0], true), MakeOp("_backward_linalg_gaps", {w})});
  const NodeEntry inside = MakeOp("elemwise_add", {PartOf(turned, Part::kSymmetric), MakeOp("_linalg_makediag", {ograds[1]})});
  return {Product(Product(u, true, inside, false), false, u, false)};
}

bool GapsShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& w = (*in)[0];
  if (!w.ndim_known()) return false;
  MXNET_CHECK_KIND(w.ndim() >= 1, Value) << "[" << attrs.op->name << "] the eigenvalues have shape (); at least 1 dimension is needed";
  const int64_t n = w[w.ndim() - 1];
  AssignShape(attrs, "the result", &(*out)[0], Leading(w, 1, {n, n}));
  return w.known();
}

void Gaps(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const Matrices f(args.out[0].shape);
  const int64_t n = f.rows;
  if (args.run.ctx.is_gpu()) {
    rtc::Arguments given;
    given.Add(args.in[0].dptr).Add(args.out[0].dptr).Add(n);
    return rtc::LaunchItems(args.run, {"operator/linalg/gpu_parts.cuh", "linalg_gaps", {args.out[0].dtype}}, args.out[0].Size(), &given);
  }
  auto run = [&](auto number) {
    using T = decltype(number);
    ParallelFor(f.count * n, std::max<int64_t>(1, 8192 / (n + 1)), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T *w = args.in[0].data<T>() + row / n * n, mine = w[row % n];
        T* to = args.out[0].data<T>() + row * n;
        for (int64_t c = 0; c < n; ++c) to[c] = w[c] == mine ? T(0) : T(1) / (w[c] - mine);
      }
    });
  };
  args.in[0].dtype == kFloat64 ? run(double{}) : run(float{});
}

// f[r, c] = 1 / (w[c] - w[r]): with h = g * f * f, the sums of the rows of h less those of its
// columns.
std::vector<NodeEntry> GapsGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry h = MakeOp("elemwise_mul", {ograds[0], MakeOp("square", {Output(node, 0)})});
  return {MakeOp("elemwise_sub", {MakeOp("sum", {h}, {{"axis", "-1"}}), MakeOp("sum", {h}, {{"axis", "-2"}})})};
}

void RegisterCholesky() {
  Record("_linalg_potrf")
      .alias("linalg_potrf")
      .describe(
          "Cholesky factors of positive definite matrices: lower triangular L with A = L * L^T, or upper triangular U with A = U^T * U.\n\n"
          "A has shape (..., n, n) and so has the result. The triangles of A that the factors have are read. A matrix that is not positive "
          "definite is an error. The gradient is symmetric (Murray, Differentiation of the Cholesky decomposition, 2016). float32 and "
          "float64.")
      .set_param<CholeskyParam>()
      .set_infer_shape(SquareShape)
      .set_flops(Cubes(1.0 / 3))
      .set_inplace({{0, 0}})
      .set_gradient(CholeskyGradient)
      .set_kernel(CholeskyKernel);
  Record("_npi_cholesky")
      .describe(
          "Cholesky factors of positive definite matrices: lower triangular L with A = L * L^T, or upper triangular U with A = U^T * U.\n\n"
          "A has shape (..., n, n) and so has the result. The triangles of A that the factors have are read. A matrix that is not positive "
          "definite is an error. The gradient is symmetric. float32 and float64.")
      .set_param<CholeskyParam>()
      .set_infer_shape(SquareShape)
      .set_flops(Cubes(1.0 / 3))
      .set_inplace({{0, 0}})
      .set_gradient(CholeskyGradient)
      .set_kernel(CholeskyKernel);
  Record("_linalg_potri")
      .alias("linalg_potri")
      .describe(
          "Inverses of positive definite matrices from their Cholesky factors: (A * A^T)^-1 with A lower triangular, or (A^T * A)^-1 with "
          "A "
          "upper triangular.\n\n"
          "A has shape (..., n, n) and so has the result. The named triangles of A are read. A 0 on a diagonal is an error. float32 and "
          "float64. The routine potri of LAPACK.")
      .set_param<CholeskyParam>()
      .set_infer_shape(SquareShape)
      .set_flops(Cubes(2.0 / 3))
      .set_inplace({{0, 0}})
      .set_gradient(CholeskyInverseGradient)
      .set_kernel(CholeskyInverseKernel);
  Record("_linalg_sumlogdiag")
      .alias("linalg_sumlogdiag")
      .describe(
          "Sums of the logarithms of the diagonals of square matrices: of a Cholesky factor, half of the logarithm of the determinant.\n\n"
          "A has shape (..., n, n), the result (...), or (1,) for a single matrix. NaN where a diagonal has a negative element, minus "
          "infinity where it has a 0. float32 and float64.")
      .set_infer_shape(NumbersShape)
      .set_gradient(SumLogDiagonalGradient)
      .set_kernel(SumLogDiagonal);
}

void RegisterOthers() {
  Record("_linalg_gelqf")
      .alias("linalg_gelqf")
      .describe(
          "LQ factors of matrices with at most as many rows as columns: A = L * Q, with L lower triangular and orthonormal rows in Q.\n\n"
          "A has shape (..., m, n) with m <= n. The results are Q, of the same shape, and L, of shape (..., m, m). The gradient exists "
          "where "
          "the rows of A are independent; elsewhere it has infinities and NaN. float32 and float64. Householder's reflections (Golub and "
          "Van Loan, Matrix Computations).")
      .set_outputs({"output0", "output1"})
      .set_infer_shape(LqShape)
      .set_flops(Cubes(4))
      .set_gradient(LqGradient)
      .set_kernel(LqKernel);
  Record("_linalg_syevd")
      .describe(
          "Eigenvalues and eigenvectors of symmetric matrices: A = U^T * diag(L) * U, with the eigenvectors as rows of U.\n\n"
          "A has shape (..., n, n); only its lower triangles are read. The results are U, of the same shape, and L, of shape (..., n), in "
          "ascending order. The element of largest absolute value of each eigenvector is positive. A matrix with NaN or infinity gives "
          "NaN. "
          "The gradient is symmetric; pairs of equal eigenvalues, whose eigenvectors are not determined, add nothing to it. float32 and "
          "float64.")
      .set_outputs({"output0", "output1"})
      .set_infer_shape(EigenShape)
      .set_flops(Cubes(20))
      .set_gradient(EigenGradient)
      .set_kernel(EigenKernel);
  Op::Register("_backward_linalg_gaps")
      .describe("1 / (A[c] - A[r]), or 0 where that is a division by 0, for gradients.")
      .set_inputs({"A"})
      .set_dtypes(dtypes::kReals)
      .set_infer_shape(GapsShape)
      .set_gradient(GapsGradient)
      .set_kernel(Gaps);
}

[[maybe_unused]] const bool registered = (RegisterCholesky(), RegisterOthers(), true);

}  // namespace
}  // namespace linalg
}  // namespace mxnet
