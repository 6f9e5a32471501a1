// What NumPy computes from singular values: pseudo-inverses, ranks, least squares.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/dtype.h"
#include "mxnet/ndarray.h"
#include "operator/linalg/dense.h"
#include "operator/linalg/factors/decompose.h"
#include "operator/linalg/factors/lapack.h"
#include "operator/linalg/matmul.h"
#include "operator/linalg/real_inputs.h"
#include "operator/linalg/shapes.h"
#include "operator/record/param.h"
#include "operator/shared/gemm.h"
#include "operator/shared/host_scratch.h"
#include "operator/shared/on_host.h"

namespace mxnet {
namespace linalg {
namespace {

constexpr const char* kHostText = " On a GPU the arrays are copied to the host, where LAPACK's iteration runs.";

struct PinvParam : public Parameter<PinvParam> {
  bool hermitian;
  MXNET_DECLARE_PARAM(PinvParam) {
    MXNET_FIELD(hermitian).set_default(false).describe("The matrices are symmetric; only their lower triangles are read.");
  }
};

struct PinvScalarParam : public Parameter<PinvScalarParam> {
  double rcond;
  bool hermitian;
  MXNET_DECLARE_PARAM(PinvScalarParam) {
    MXNET_FIELD(rcond).set_default(1e-15).describe("Singular values up to this part of the largest one count as 0.");
    MXNET_FIELD(hermitian).set_default(false).describe("The matrices are symmetric; only their lower triangles are read.");
  }
};

struct RankParam : public Parameter<RankParam> {
  bool hermitian;
  MXNET_DECLARE_PARAM(RankParam) {
    MXNET_FIELD(hermitian).set_default(false).describe("The matrices are symmetric; only their lower triangles are read.");
  }
};

struct RankNoTolParam : public Parameter<RankNoTolParam> {
  float finfoEps32;
  double finfoEps64;
  bool hermitian;
  MXNET_DECLARE_PARAM(RankNoTolParam) {
    MXNET_FIELD(finfoEps32).set_default(0).describe("The relative rounding error of float32.");
    MXNET_FIELD(finfoEps64).set_default(0).describe("That of float64.");
    MXNET_FIELD(hermitian).set_default(false).describe("The matrices are symmetric; only their lower triangles are read.");
  }
};

struct LstsqParam : public Parameter<LstsqParam> {
  double rcond;
  float finfoEps32;
  double finfoEps64;
  bool new_default;
  MXNET_DECLARE_PARAM(LstsqParam) {
    MXNET_FIELD(rcond).set_default(-1).describe(
        "Singular values up to this part of the largest one count as 0; negative: the rounding error.");
    MXNET_FIELD(finfoEps32).set_default(0).describe("The relative rounding error of float32, for new_default.");
    MXNET_FIELD(finfoEps64).set_default(0).describe("That of float64.");
    MXNET_FIELD(new_default)
        .set_default(false)
        .describe("The part is the rounding error times the larger number of rows and columns, whatever rcond is.");
  }
};
MXNET_REGISTER_PARAM(PinvParam);
MXNET_REGISTER_PARAM(PinvScalarParam);
MXNET_REGISTER_PARAM(RankParam);
MXNET_REGISTER_PARAM(RankNoTolParam);
MXNET_REGISTER_PARAM(LstsqParam);

// `numbers` broadcast to one for each matrix of a.
void NeedNumbers(const Attrs& attrs, const char* what, const Shape& numbers, const Shape& a) {
  const Shape batch = a.ndim() < 2 ? Shape(0) : Leading(a, 2, {});
  MXNET_CHECK_KIND(numbers.ndim() <= batch.ndim() && BroadcastShape(attrs.op->name, batch, numbers) == batch, Value)
      << "[" << attrs.op->name << "] the matrices have shape " << a << ", " << what << " has shape " << numbers
      << "; accepted: shapes that are broadcast to " << batch;
}

std::vector<double> Numbers(KernelArgs& args, const TBlob& numbers, const Shape& a) {
  const Shape batch = a.ndim() < 2 ? Shape(0) : Leading(a, 2, {});
  std::vector<double> values(static_cast<size_t>(batch.Size()));
  TBlob wide{values.data(), batch, kFloat64, args.run.ctx};
  const pointwise::Operand operands[2] = {numbers, pointwise::Operand(1.0)};
  if (!values.empty())
    pointwise::Execute(args.run, pointwise::Forward(pointwise::k_mul), pointwise::kF64, operands, 2, pointwise::kBinaryMasks, nullptr, wide,
                       OpReq::kWrite);
  return values;
}

// The matrices, with `hermitian` their lower triangles onto the upper ones.
const void* Whole(KernelArgs& args, bool hermitian) {
  const TBlob& a = args.in[0];
  if (!hermitian || a.Size() == 0) return a.dptr;
  void* whole = args.workspace(a.Bytes());
  const Matrices s(a.shape);
  auto mirror = [&](auto number) {
    using T = decltype(number);
    const T* from = a.data<T>();
    T* to = static_cast<T*>(whole);
    for (int64_t i = 0; i < s.count * s.rows; ++i)
      for (int64_t c = 0; c < s.rows; ++c) {
        const int64_t base = i / s.rows * s.rows * s.rows, r = i % s.rows;
        to[base + r * s.rows + c] = c <= r ? from[base + r * s.rows + c] : from[base + c * s.rows + r];
      }
  };
  a.dtype == kFloat64 ? mirror(double{}) : mirror(float{});
  return whole;
}

// ---- pinv

bool Hermitian(const Attrs& attrs, const Shape& a, bool hermitian) {
  if (hermitian) NeedSquare(attrs, "A", a);
  return hermitian;
}

bool PinvShapes(const Attrs& attrs, ShapeVector* in, ShapeVector* out, bool hermitian) {
  const Shape& a = (*in)[0];
  NeedMatrices(attrs, "A", a);
  Hermitian(attrs, a, hermitian);
  if (!a.known()) return false;
  if (in->size() > 1) {
    if (!(*in)[1].known()) return false;
    NeedNumbers(attrs, "rcond", (*in)[1], a);
  }
  AssignShape(attrs, "the result", &(*out)[0], Leading(a, 2, {a[a.ndim() - 1], a[a.ndim() - 2]}));
  return true;
}

// v^T u^T, after u's columns were divided by the singular values that are not too small.
void Pseudo(KernelArgs& args, bool hermitian, const std::vector<double>& rcond) {
  const TBlob& a = args.in[0];
  const Matrices s(a.shape);
  const int64_t m = s.rows, n = s.columns, k = std::min(m, n), bytes = static_cast<int64_t>(DTypeSize(a.dtype));
  if (args.out[0].Size() == 0) return;
  void *u = args.workspace(static_cast<size_t>(s.count * m * k * bytes)), *v = args.workspace(static_cast<size_t>(s.count * k * n * bytes));
  void* w = args.workspace(static_cast<size_t>(s.count * k * bytes));
  SingularValues(args, s.count, m, n, Whole(args, hermitian), u, w, v);
  auto divide = [&](auto number) {
    using T = decltype(number);
    for (int64_t i = 0; i < s.count; ++i) {
      const T* values = static_cast<const T*>(w) + i * k;
      const T least = static_cast<T>(rcond.size() == 1 ? rcond[0] : rcond[static_cast<size_t>(i)]) * values[0];
      T* columns = static_cast<T*>(u) + i * m * k;
      for (int64_t r = 0; r < m; ++r)
        for (int64_t c = 0; c < k; ++c)
          columns[r * k + c] = values[c] > least ? columns[r * k + c] / values[c] : values[c] == values[c] ? T(0) : values[c];
    }
  };
  a.dtype == kFloat64 ? divide(double{}) : divide(float{});
  Matmul(args.run, a.dtype, true, true, MatmulSize{s.count, n, m, k}, v, u, args.out[0].dptr, args.workspace);
}

void PinvKernel(KernelArgs& given) {
  if (given.req[0] == OpReq::kNull) return;
  const std::vector<double> rcond = Numbers(given, given.in[1], given.in[0].shape);
  KernelArgs first = given;
  first.in.count = 1;
  AsReal(first, [&](KernelArgs& args) { Pseudo(args, args.param<PinvParam>().hermitian, rcond); });
}

void PinvScalarKernel(KernelArgs& given) {
  if (given.req[0] == OpReq::kNull) return;
  AsReal(given, [](KernelArgs& args) {
    const auto& p = args.param<PinvScalarParam>();
    Pseudo(args, p.hermitian, {p.rcond});
  });
}

// Golub and Pereyra, The differentiation of pseudo-inverses (1973): with p the result and g its
// gradient, -p^T g p^T + (1 - a p) g^T p p^T + p^T p g^T (1 - p a).
std::vector<NodeEntry> PinvGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry &a = node->inputs[0], &g = ograds[0], p = Output(node, 0);
  const NodeEntry left = Product(g, true, Product(p, false, p, true), false), right = Product(Product(p, true, p, false), false, g, true);
  const NodeEntry beside_left = ProductPlus(a, false, Product(p, false, left, false), false, left, -1);
  const NodeEntry beside_right = ProductPlus(Product(right, false, p, false), false, a, false, right, -1);
  const NodeEntry inside = ProductPlus(Product(p, true, g, false, -1), false, p, true, MakeOp("elemwise_add", {beside_left, beside_right}));
  std::vector<NodeEntry> grads(node->inputs.size());
  grads[0] = inside;
  return grads;
}

bool FirstRealType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const int real = RealOf(attrs, {(*in)[0]});
  if (real == kDTypeUnknown) return false;
  AssignType(attrs, "the result", &(*out)[0], real);
  return in->size() == 1 || (*in)[1] != kDTypeUnknown;
}

// ---- matrix_rank

bool RankShapes(const Attrs& attrs, ShapeVector* in, ShapeVector* out, bool hermitian) {
  const Shape& a = (*in)[0];
  if (!a.known()) return false;
  if (a.ndim() >= 2) Hermitian(attrs, a, hermitian);
  if (in->size() > 1) {
    if (!(*in)[1].known()) return false;
    NeedNumbers(attrs, "tol", (*in)[1], a);
  }
  AssignShape(attrs, "the result", &(*out)[0], a.ndim() < 2 ? Shape(0) : Leading(a, 2, {}));
  return true;
}

bool RankType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "the result", &(*out)[0], kInt64);
  return RealOf(attrs, {(*in)[0]}) != kDTypeUnknown && (in->size() == 1 || (*in)[1] != kDTypeUnknown);
}

// How many singular values are larger than tol[i], or, without tol, than `relative` of the largest.
void Rank(KernelArgs& args, bool hermitian, const std::vector<double>* tol, double relative) {
  const TBlob& a = args.in[0];
  int64_t* rank = args.out[0].data<int64_t>();
  auto count = [&](auto number) {
    using T = decltype(number);
    if (a.shape.ndim() < 2) {
      rank[0] = std::any_of(a.data<T>(), a.data<T>() + a.Size(), [](T v) { return v != T(0); });
      return;
    }
    const Matrices s(a.shape);
    const int64_t k = std::min(s.rows, s.columns);
    if (s.count == 0) return;
    T* w = static_cast<T*>(args.workspace(std::max<size_t>(static_cast<size_t>(s.count * k) * sizeof(T), 1)));
    SingularValues(args, s.count, s.rows, s.columns, Whole(args, hermitian), nullptr, w, nullptr);
    for (int64_t i = 0; i < s.count; ++i) {
      const T* values = w + i * k;
      const double limit = tol      ? (*tol)[static_cast<size_t>(i)]
                           : k == 0 ? 0
                                    : relative * static_cast<double>(std::max(s.rows, s.columns)) * static_cast<double>(values[0]);
      rank[i] = std::count_if(values, values + k, [&](T v) { return static_cast<double>(v) > limit; });
    }
  };
  a.dtype == kFloat64 ? count(double{}) : count(float{});
}

void RankKernel(KernelArgs& given) {
  if (given.req[0] == OpReq::kNull) return;
  const std::vector<double> tol = Numbers(given, given.in[1], given.in[0].shape);
  KernelArgs first = given;
  first.in.count = 1;
  AsReal(first, [&](KernelArgs& args) { Rank(args, args.param<RankParam>().hermitian, &tol, 0); });
}

void RankNoTolKernel(KernelArgs& given) {
  if (given.req[0] == OpReq::kNull) return;
  AsReal(given, [](KernelArgs& args) {
    const auto& p = args.param<RankNoTolParam>();
    Rank(args, p.hermitian, nullptr, args.in[0].dtype == kFloat64 ? p.finfoEps64 : static_cast<double>(p.finfoEps32));
  });
}

// ---- lstsq

bool LstsqShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape &a = (*in)[0], &b = (*in)[1];
  if (!a.known() || !b.known()) return false;
  MXNET_CHECK_KIND(a.ndim() == 2 && (b.ndim() == 1 || b.ndim() == 2) && a[0] == b[0], Value)
      << "[" << attrs.op->name << "] A has shape " << a << ", B has shape " << b << "; accepted: (m, n) and (m,) or (m, k)";
  AssignShape(attrs, "x", &(*out)[0], b.ndim() == 1 ? Shape({a[1]}) : Shape({a[1], b[1]}));
  AssignShape(attrs, "residuals", &(*out)[1], Shape({Shape::kUnknownDim}));
  AssignShape(attrs, "rank", &(*out)[2], Shape(0));
  AssignShape(attrs, "s", &(*out)[3], Shape({std::min(a[0], a[1])}));
  return (*out)[1].known();
}

bool LstsqType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const int real = RealOf(attrs, *in);
  if (real == kDTypeUnknown) return false;
  for (int i : {0, 1, 3}) AssignType(attrs, "the result", &(*out)[static_cast<size_t>(i)], real);
  AssignType(attrs, "rank", &(*out)[2], kInt64);
  return true;
}

// Columns of the matrix, one after the other, each with room for `room` numbers.
template <typename T>
void CopyNumbers(const Attrs& attrs, const NDArray& array, T* out) {
  const int64_t n = array.shape().Size();
  const HostScratch<char> bytes(n * static_cast<int64_t>(DTypeSize(array.dtype())));
  array.CopyBytesTo(bytes.get(), static_cast<size_t>(n) * DTypeSize(array.dtype()));
  ConvertElements(bytes.get(), array.dtype(), out, DTypeOf<T>::value, n);
  MXNET_CHECK_KIND(std::all_of(out, out + n, [](T e) { return std::isfinite(e); }), Value)
      << "[" << attrs.op->name << "] A or B has NaN or infinity; accepted: finite numbers";
}

void Give(const Attrs& attrs, NDArray* out, const Shape& shape, Context ctx, int dtype, const void* data) {
  if (out->is_none()) *out = NDArray(shape, ctx, dtype, true);
  MXNET_CHECK_KIND(out->shape() == shape && out->dtype() == dtype, Value)
      << "[" << attrs.op->name << "] an output has shape " << out->shape() << " and dtype " << DTypeName(out->dtype()) << "; the result is "
      << shape << " of " << DTypeName(dtype);
  out->CopyBytesFrom(data, static_cast<size_t>(shape.Size()) * DTypeSize(dtype));
}

// x, n x columns, = v^T diag(w)^-1 u^T b without the singular values of at most rcond times the
// largest; their number is returned, and w gets all of them.
template <typename T>
int64_t SolveLeast(const Attrs& attrs, int64_t m, int64_t n, int64_t columns, const T* a, const T* b, double rcond, T* w, T* x) {
  const int64_t k = std::min(m, n);
  const HostScratch<T> u(m * k), v(k * n), along(k * columns);
  const int64_t failed = SingularVectors(m, n, a, u.get(), w, v.get());
  MXNET_CHECK_KIND(failed == 0, Value) << "[" << attrs.op->name << "] the iteration did not find all singular values";
  const T least = static_cast<T>(rcond < 0 ? static_cast<double>(std::numeric_limits<T>::epsilon()) : rcond) * w[0];
  int64_t rank = 0;
  while (rank < k && w[rank] > least) ++rank;
  Gemm(true, false, rank, columns, m, T(1), u.get(), k, b, columns, T(0), along.get(), columns);
  for (int64_t i = 0; i < rank * columns; ++i) along[i] /= w[i / columns];
  Gemm(true, false, n, columns, rank, T(1), v.get(), n, along.get(), columns, T(0), x, columns);
  return rank;
}

template <typename T>
void LstsqOf(const Attrs& attrs, const NDArray& a, const NDArray& b, const std::vector<NDArray*>& out) {
  const auto& p = attrs.get<LstsqParam>();
  const bool vector = b.shape().ndim() == 1, wide = sizeof(T) == 8;
  const int64_t m = a.shape()[0], n = a.shape()[1], columns = vector ? 1 : b.shape()[1], k = std::min(m, n);
  lapack::CheckSize(attrs.op->name.c_str(), std::max({SingularNumbers(m, n), m, n, columns}));
  const HostScratch<T> matrix(m * n), right(m * columns);
  CopyNumbers(attrs, a, matrix.get());
  CopyNumbers(attrs, b, right.get());
  std::vector<T> w(static_cast<size_t>(k)), x(static_cast<size_t>(n * columns), T(0)), residuals;
  double rcond = p.rcond;
  if (p.new_default) rcond = (wide ? p.finfoEps64 : static_cast<double>(p.finfoEps32)) * static_cast<double>(std::max(m, n));
  int64_t rank = 0;
  if (k > 0 && columns > 0) rank = SolveLeast(attrs, m, n, columns, matrix.get(), right.get(), rcond, w.data(), x.data());
  if (rank == n && m > n) {
    Gemm(false, false, m, columns, n, T(-1), matrix.get(), n, x.data(), columns, T(1), right.get(), columns);
    residuals.assign(static_cast<size_t>(columns), T(0));
    for (int64_t i = 0; i < m * columns; ++i)
      residuals[static_cast<size_t>(i % columns)] += right[static_cast<size_t>(i)] * right[static_cast<size_t>(i)];
  }
  const int dtype = DTypeOf<T>::value;
  Give(attrs, out[0], vector ? Shape({n}) : Shape({n, columns}), a.ctx(), dtype, x.data());
  Give(attrs, out[1], Shape({static_cast<int64_t>(residuals.size())}), a.ctx(), dtype, residuals.data());
  Give(attrs, out[2], Shape(0), a.ctx(), kInt64, &rank);
  Give(attrs, out[3], Shape({k}), a.ctx(), dtype, w.data());
}

void Lstsq(const Attrs& attrs, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool) {
  ShapeVector shapes{in[0]->shape(), in[1]->shape()}, results(4);
  LstsqShape(attrs, &shapes, &results);
  if (RealOf(attrs, {in[0]->dtype(), in[1]->dtype()}) == kFloat64)
    LstsqOf<double>(attrs, *in[0], *in[1], out);
  else
    LstsqOf<float>(attrs, *in[0], *in[1], out);
}

void RegisterPinv() {
  const std::string text =
      "Pseudo-inverses (Moore and Penrose) of matrices.\n\n"
      "A has shape (..., m, n), the result (..., n, m). Singular values up to rcond times the largest one of a matrix count as 0. The "
      "gradient is that for matrices of unchanged rank. float32 and float64; integers are computed in float64.";
  RealRecord("_npi_pinv", {"A", "rcond"})
      .describe(text + " rcond is an array of one number for each matrix, or shapes that are broadcast to that." + kHostText)
      .set_param<PinvParam>()
      .set_infer_type(FirstRealType)
      .set_infer_shape(
          [](const Attrs& a, ShapeVector* in, ShapeVector* out) { return PinvShapes(a, in, out, a.get<PinvParam>().hermitian); })
      .set_gradient(PinvGradient)
      .set_kernel([](KernelArgs& a) { OnHost(a, PinvKernel); });
  RealRecord("_npi_pinv_scalar_rcond", {"A"})
      .describe(text + kHostText)
      .set_param<PinvScalarParam>()
      .set_infer_type(FirstRealType)
      .set_infer_shape(
          [](const Attrs& a, ShapeVector* in, ShapeVector* out) { return PinvShapes(a, in, out, a.get<PinvScalarParam>().hermitian); })
      .set_gradient(PinvGradient)
      .set_kernel([](KernelArgs& a) { OnHost(a, PinvScalarKernel); });
}

[[maybe_unused]] const bool registered = [] {
  RegisterPinv();
  const std::string text =
      "Ranks of matrices: how many singular values are larger than a number.\n\n"
      "M has shape (..., m, n), the result (...) of int64. A vector or a number has rank 1, or 0 if it has only zeros.";
  RealRecord("_npi_matrix_rank", {"M", "tol"})
      .describe(text + " tol is that number for each matrix, in a shape that is broadcast to that." + kHostText)
      .set_param<RankParam>()
      .set_infer_type(RankType)
      .set_infer_shape(
          [](const Attrs& a, ShapeVector* in, ShapeVector* out) { return RankShapes(a, in, out, a.get<RankParam>().hermitian); })
      .set_zero_gradient()
      .set_kernel([](KernelArgs& a) { OnHost(a, RankKernel); });
  RealRecord("_npi_matrix_rank_none_tol", {"M"})
      .describe(text + " The number is the largest singular value, times the larger of m and n, times the given rounding error." +
                kHostText)
      .set_param<RankNoTolParam>()
      .set_infer_type(RankType)
      .set_infer_shape(
          [](const Attrs& a, ShapeVector* in, ShapeVector* out) { return RankShapes(a, in, out, a.get<RankNoTolParam>().hermitian); })
      .set_zero_gradient()
      .set_kernel([](KernelArgs& a) { OnHost(a, RankNoTolKernel); });
  RealRecord("_npi_lstsq", {"A", "B"})
      .describe(
          "Least squares: x with the smallest norm of A * x - B, and among several the smallest x.\n\n"
          "A has shape (m, n), B (m,) or (m, k). The results are x, (n,) or (n, k); the sums of squares of A * x - B, (1,) or (k,), or "
          "(0,) "
          "where the rank is less than n or m is not larger than n; the rank; and the singular values of A. Not differentiable. float32 "
          "and "
          "float64; integers and mixtures are computed in float64. Arrays of a GPU are copied to the host, where LAPACK's iteration runs.")
      .set_param<LstsqParam>()
      .set_outputs({"x", "residuals", "rank", "s"})
      .set_infer_type(LstsqType)
      .set_infer_shape(LstsqShape)
      .set_array_fn(Lstsq);
  return true;
}();

}  // namespace
}  // namespace linalg
}  // namespace mxnet
