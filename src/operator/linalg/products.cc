// General and symmetric products of matrices in batches.
#include <algorithm>
#include <vector>

#include "base/threads/omp.h"
#include "mxnet/op.h"
#include "operator/gpu_library/gemm.h"
#include "operator/linalg/dense.h"
#include "operator/linalg/matmul.h"
#include "operator/linalg/shapes.h"
#include "operator/matrix/move.h"
#include "operator/pointwise/execute.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/shared/gemm.h"

namespace mxnet {
namespace linalg {
namespace {

constexpr const char* kAxisText =
    "Dimension that the rows of the matrices lie along; their columns lie along the last one. All other dimensions count matrices.";

struct GemmParam : public Parameter<GemmParam> {
  bool transpose_a, transpose_b;
  double alpha, beta;
  int axis;
  MXNET_DECLARE_PARAM(GemmParam) {
    MXNET_FIELD(transpose_a).set_default(false).describe("Multiply with the matrices of A transposed.");
    MXNET_FIELD(transpose_b).set_default(false).describe("Multiply with the matrices of B transposed.");
    MXNET_FIELD(alpha).set_default(1.0).describe("Factor of the product.");
    MXNET_FIELD(beta).set_default(1.0).describe("Factor of C.");
    MXNET_FIELD(axis).set_default(-2).describe(kAxisText);
  }
};

struct Gemm2Param : public Parameter<Gemm2Param> {
  bool transpose_a, transpose_b;
  double alpha;
  int axis;
  MXNET_DECLARE_PARAM(Gemm2Param) {
    MXNET_FIELD(transpose_a).set_default(false).describe("Multiply with the matrices of A transposed.");
    MXNET_FIELD(transpose_b).set_default(false).describe("Multiply with the matrices of B transposed.");
    MXNET_FIELD(alpha).set_default(1.0).describe("Factor of the product.");
    MXNET_FIELD(axis).set_default(-2).describe(kAxisText);
  }
};

struct SyrkParam : public Parameter<SyrkParam> {
  bool transpose;
  double alpha;
  MXNET_DECLARE_PARAM(SyrkParam) {
    MXNET_FIELD(transpose).set_default(false).describe("Multiply the transposed matrices with the matrices.");
    MXNET_FIELD(alpha).set_default(1.0).describe("Factor of the product.");
  }
};
MXNET_REGISTER_PARAM(GemmParam);
MXNET_REGISTER_PARAM(Gemm2Param);
MXNET_REGISTER_PARAM(SyrkParam);

// Both parameter structs as one.
struct Call {
  bool ta, tb;
  double alpha, beta;
  int axis;
};
template <typename P>
Call CallOf(const Attrs& a);
template <>
Call CallOf<GemmParam>(const Attrs& a) {
  const auto& p = a.get<GemmParam>();
  return {p.transpose_a, p.transpose_b, p.alpha, p.beta, p.axis};
}
template <>
Call CallOf<Gemm2Param>(const Attrs& a) {
  const auto& p = a.get<Gemm2Param>();
  return {p.transpose_a, p.transpose_b, p.alpha, 0, p.axis};
}

int RowAxis(const Attrs& attrs, int axis, int ndim) {
  const int64_t at = axis < 0 ? int64_t{axis} + ndim : axis;
  MXNET_CHECK_KIND(at >= 0 && at < ndim - 1, Value)
      << "[" << attrs.op->name << "] axis is " << axis << "; accepted for arrays of " << ndim << " dimensions are 0 to " << ndim - 2
      << " and " << -ndim << " to -2, not the last dimension";
  return static_cast<int>(at);
}

// A, B and perhaps C against the result.
template <typename P>
bool GemmShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Call p = CallOf<P>(attrs);
  Shape *a = &(*in)[0], *b = &(*in)[1], *result = &(*out)[0];
  std::vector<std::pair<const char*, Shape*>> all{{"A", a}, {"B", b}, {"the result", result}};
  if (in->size() > 2) all.insert(all.begin() + 2, {"C", &(*in)[2]});
  if (!SameRank(attrs, all, 2)) return false;
  const int n = a->ndim(), last = n - 1, row = RowAxis(attrs, p.axis, n);
  for (int i = 0; i < last; ++i)
    if (i != row) {
      for (size_t k = 1; k < all.size(); ++k) Unify(attrs, "A", a, i, all[k].first, all[k].second, i);
      for (size_t k = 1; k < all.size(); ++k) Unify(attrs, "A", a, i, all[k].first, all[k].second, i);
    }
  Unify(attrs, "A", a, p.ta ? row : last, "B", b, p.tb ? last : row);
  for (int round = 0; round < 2; ++round)  // the second one carries what the result or C knew to the others
    for (size_t k = 2; k < all.size(); ++k) {
      Unify(attrs, "A", a, p.ta ? last : row, all[k].first, all[k].second, row);
      Unify(attrs, "B", b, p.tb ? row : last, all[k].first, all[k].second, last);
    }
  return a->known() && b->known() && result->known() && (in->size() < 3 || (*in)[2].known());
}

// out = alpha * op(A) op(B) + beta * out. The matrices are numbered by what stands before and
// behind the row dimension; rows of a matrix lie inner * columns apart.
struct Sizes {
  int64_t outer = 1, inner = 1, m = 0, n = 0, k = 0;
};
Sizes SizesOf(const Attrs& attrs, const Call& p, const Shape& a, const Shape& out) {
  const int last = a.ndim() - 1, row = RowAxis(attrs, p.axis, a.ndim());
  Sizes s;
  s.outer = a.Prod(0, row), s.inner = a.Prod(row + 1, last);
  s.m = out[row], s.n = out[last], s.k = p.ta ? a[row] : a[last];
  return s;
}

template <typename T>
void MultiplyOnCpu(const Call& p, const Sizes& s, const T* a, const T* b, T* c) {
  const int64_t a_columns = p.ta ? s.m : s.k, b_columns = p.tb ? s.k : s.n;
  const int64_t count = s.outer * s.inner, work = s.m * s.n * s.k;
  auto range = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t outer = i / s.inner, inner = i % s.inner;
      Gemm(p.ta, p.tb, s.m, s.n, s.k, static_cast<T>(p.alpha), a + outer * s.inner * s.m * s.k + inner * a_columns, s.inner * a_columns,
           b + outer * s.inner * s.k * s.n + inner * b_columns, s.inner * b_columns, static_cast<T>(p.beta),
           c + outer * s.inner * s.m * s.n + inner * s.n, s.inner * s.n);
    }
  };
  constexpr int64_t kWorthThread = 1 << 18;  // multiplications, some ten microseconds
  const int threads = OmpMaxThreads();
  if (count == 1 || count * work < 2 * kWorthThread || (count < threads && work >= kWorthThread)) return range(0, count);
  ParallelForThreads(static_cast<int>(std::min<int64_t>(threads, count)), count, range);
}

void MultiplyOnGpu(KernelArgs& args, const Call& p, const Sizes& s, const void* a, const void* b, void* c) {
  const int64_t a_columns = p.ta ? s.m : s.k, b_columns = p.tb ? s.k : s.n, bytes = static_cast<int64_t>(DTypeSize(args.in[0].dtype));
  gpu_library::Gemm g;
  g.dtype = args.in[0].dtype, g.trans_a = p.ta, g.trans_b = p.tb, g.m = s.m, g.n = s.n, g.k = s.k, g.alpha = p.alpha;
  g.lda = s.inner * a_columns, g.ldb = s.inner * b_columns, g.ldc = s.inner * s.n;
  const bool by_inner = s.inner > s.outer;  // a launch for each of the fewer
  const int64_t big_a = s.inner * s.m * s.k, big_b = s.inner * s.k * s.n, big_c = s.inner * s.m * s.n;
  g.batch = by_inner ? s.inner : s.outer;
  g.step_a = by_inner ? a_columns : big_a, g.step_b = by_inner ? b_columns : big_b, g.step_c = by_inner ? s.n : big_c;
  gpu_library::Epilogue tail;
  for (int64_t i = 0; i < std::min(s.inner, s.outer); ++i) {
    char* to = static_cast<char*>(c) + i * bytes * (by_inner ? big_c : s.n);
    tail.addend = p.beta != 0 ? to : nullptr;
    gpu_library::Multiply(args.run, args.workspace, g, static_cast<const char*>(a) + i * bytes * (by_inner ? big_a : a_columns),
                          static_cast<const char*>(b) + i * bytes * (by_inner ? big_b : b_columns), to, tail);
  }
}

// out = factor * from
void ScaleInto(KernelArgs& args, const TBlob& from, double factor, const TBlob& out) {
  if (factor == 1) return CopyBytes(args.run, from.dptr, out.dptr, static_cast<int64_t>(out.Bytes()));
  const pointwise::Operand operands[2] = {from, pointwise::Operand(factor)};
  pointwise::Execute(args.run, pointwise::Forward(pointwise::k_mul), pointwise::ComputeFor(out.dtype, false), operands, 2,
                     pointwise::kBinaryMasks, nullptr, out, OpReq::kWrite);
}

// On the CPU, for small matrices: the products of some rows first, then both terms, while the
// products are in the cache. C may be the result.
template <typename T>
void ScaledSum(KernelArgs& args, const Call& p, const Sizes& s) {
  const T *a = args.in[0].data<T>(), *b = args.in[1].data<T>(), *c = args.in[2].data<T>();
  const T alpha = static_cast<T>(p.alpha), beta = static_cast<T>(p.beta);
  const int dtype = args.out[0].dtype;
  const bool rows = s.outer == 1 && !p.ta;  // parts of one product, or else whole products
  const int64_t count = rows ? s.m : s.outer, size = rows ? s.n : s.m * s.n, step = rows ? s.k : s.m * s.k;
  const int64_t part = std::max<int64_t>(1, 4096 / size);
  T* to = args.out[0].data<T>();
  const auto product = [&](int64_t first, int64_t n, T* result) {
    const MatmulSize some = rows ? MatmulSize{1, n, s.n, s.k} : MatmulSize{n, s.m, s.n, s.k};
    Matmul(dtype, p.ta, p.tb, some, a + first * step, rows ? b : b + first * s.k * s.n, result, nullptr);
  };
  ParallelFor(count, std::max<int64_t>(part, (1 << 16) / (size * s.k)), [&](int64_t begin, int64_t end) {
    std::vector<T> products(std::min(part, end - begin) * size);
    for (int64_t first = begin; first < end; first += part) {
      const int64_t n = std::min(part, end - first);
      product(first, n, products.data());
      const T *sum = products.data(), *addend = c + first * size;
      T* result = to + first * size;
#pragma omp simd
      for (int64_t i = 0; i < n * size; ++i) result[i] = alpha * sum[i] + beta * addend[i];
    }
  });
}

template <typename P>
void GemmKernel(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const TBlob& out = args.out[0];
  if (out.Size() == 0) return;
  Call p = CallOf<P>(*args.attrs);
  const Sizes s = SizesOf(*args.attrs, p, args.in[0].shape, out.shape);
  const void *a = args.in[0].dptr, *b = args.in[1].dptr;
  if (s.k == 0 || p.alpha == 0) {  // BLAS does not read factors then
    if (p.beta == 0) return ZeroBytes(args.run, out.dptr, static_cast<int64_t>(out.Bytes()));
    return ScaleInto(args, args.in[2], p.beta, out);
  }
  const bool few = s.m * s.n * s.k <= 4096 || (s.outer == 1 && !p.ta && s.k * s.n <= 256);
  const bool small = few && !args.run.ctx.is_gpu();  // then Matmul is faster than BLAS
  if (p.beta == 0 && s.inner == 1 && (p.alpha == 1 || small)) {
    Matmul(args.run, out.dtype, p.ta, p.tb, MatmulSize{s.outer, s.m, s.n, s.k}, a, b, out.dptr, args.workspace);
    return p.alpha == 1 ? void() : ScaleInto(args, out, p.alpha, out);
  }
  const bool gpu = args.run.ctx.is_gpu();
  if (small && s.inner == 1) {
    if (out.dtype == kFloat64) return ScaledSum<double>(args, p, s);
    if (out.dtype == kFloat32) return ScaledSum<float>(args, p, s);
  }
  if (p.beta != 0) {
    ScaleInto(args, args.in[2], gpu ? p.beta : 1.0, out);
  }
  if (gpu) return MultiplyOnGpu(args, p, s, a, b, out.dptr);
  if (out.dtype == kFloat64)
    MultiplyOnCpu(p, s, static_cast<const double*>(a), static_cast<const double*>(b), out.data<double>());
  else
    MultiplyOnCpu(p, s, static_cast<const float*>(a), static_cast<const float*>(b), out.data<float>());
}

template <typename P>
double GemmFlops(const Attrs& attrs, Span<const TBlob> in, Span<const TBlob> out) {
  const Sizes s = SizesOf(attrs, CallOf<P>(attrs), in[0].shape, out[0].shape);
  return 2.0 * static_cast<double>(s.outer * s.inner) * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
}

// Both factors' gradients are products with the other factor, of matrices that lie in the same way.
template <typename P>
std::vector<NodeEntry> GemmGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const Call p = CallOf<P>(*node->attrs);
  const NodeEntry &a = node->inputs[0], &b = node->inputs[1], &g = ograds[0];
  auto times = [&](const NodeEntry& x, bool tx, const NodeEntry& y, bool ty) {
    AttrDict dict{{"transpose_a", tx ? "1" : "0"}, {"transpose_b", ty ? "1" : "0"}, {"axis", std::to_string(p.axis)}};
    const auto alpha = node->attrs->dict.find("alpha");
    if (alpha != node->attrs->dict.end()) dict["alpha"] = alpha->second;
    return MakeOp("_linalg_gemm2", {x, y}, dict);
  };
  std::vector<NodeEntry> grads(node->inputs.size());
  grads[0] = p.ta ? times(b, p.tb, g, true) : times(g, false, b, !p.tb);
  grads[1] = p.tb ? times(g, true, a, p.ta) : times(a, !p.ta, g, false);
  if (grads.size() > 2) {
    const auto beta = node->attrs->dict.find("beta");
    grads[2] = beta == node->attrs->dict.end() ? g : MakeOp("_mul_scalar", {g}, {{"scalar", beta->second}});
  }
  return grads;
}

// ---- syrk

bool SyrkShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const bool transpose = attrs.get<SyrkParam>().transpose;
  Shape *a = &(*in)[0], *result = &(*out)[0];
  if (!SameRank(attrs, {{"A", a}, {"the result", result}}, 2)) return false;
  const int n = a->ndim(), row = transpose ? n - 1 : n - 2;
  for (int i = 0; i < n - 2; ++i) Unify(attrs, "A", a, i, "the result", result, i);
  for (int round = 0; round < 2; ++round)
    for (int i = n - 2; i < n; ++i) Unify(attrs, "A", a, row, "the result", result, i);
  return a->known() && result->known();
}

void Syrk(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const auto& p = args.param<SyrkParam>();
  const Matrices a(args.in[0].shape);
  SymmetricProduct(args, p.transpose, p.alpha, a.count, a.rows, a.columns, args.in[0].dptr, args.out[0].dptr);
}

// alpha (g + g^T) op(A)
std::vector<NodeEntry> SyrkGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const auto& p = node->attrs->get<SyrkParam>();
  const NodeEntry &a = node->inputs[0], sum = PartOf(ograds[0], Part::kSymmetric);
  return {p.transpose ? Product(a, false, sum, false, 2 * p.alpha) : Product(sum, false, a, false, 2 * p.alpha)};
}

template <typename P>
Op& GemmRecord(const char* name) {
  return Op::Register(std::string("_") + name)
      .alias(name)
      .set_param<P>()
      .set_dtypes(dtypes::kReals)
      .set_precision(Precision::kFull)
      .set_infer_shape(GemmShape<P>)
      .set_flops(GemmFlops<P>)
      .set_expensive_to_recompute()
      .set_gradient(GemmGradient<P>)
      .set_kernel(GemmKernel<P>);
}

[[maybe_unused]] const bool registered = [] {
  GemmRecord<GemmParam>("linalg_gemm")
      .describe(
          "Products of matrices plus other matrices: alpha * op(A) * op(B) + beta * C, where op may transpose.\n\n"
          "A, B and C have the same number of dimensions, at least 2, and equal ones but for those of the matrices, which are `axis` and "
          "the "
          "last. With beta = 0, C is not read. float32 and float64. The routine gemm of BLAS (Dongarra et al., A Set of Level 3 Basic "
          "Linear Algebra Subprograms, 1990).")
      .set_inputs({"A", "B", "C"})
      .set_inplace({{2, 0}});
  GemmRecord<Gemm2Param>("linalg_gemm2")
      .describe(
          "Products of matrices: alpha * op(A) * op(B), where op may transpose.\n\n"
          "A and B have the same number of dimensions, at least 2, and equal ones but for those of the matrices, which are `axis` and the "
          "last. float32 and float64.")
      .set_inputs({"A", "B"});
  Op::Register("_linalg_syrk")
      .alias("linalg_syrk")
      .describe(
          "Products of matrices with their own transposes: alpha * A * A^T, or alpha * A^T * A with `transpose`.\n\n"
          "A has at least 2 dimensions; the last two are those of the matrices. The results are symmetric. float32 and float64.")
      .set_param<SyrkParam>()
      .set_inputs({"A"})
      .set_dtypes(dtypes::kReals)
      .set_precision(Precision::kFull)
      .set_infer_shape(SyrkShape)
      .set_flops([](const Attrs&, Span<const TBlob> in, Span<const TBlob> out) {
        return static_cast<double>(in[0].Size()) * static_cast<double>(out[0].shape[out[0].shape.ndim() - 1]);
      })
      .set_expensive_to_recompute()
      .set_gradient(SyrkGradient)
      .set_kernel(Syrk);
  return true;
}();

}  // namespace
}  // namespace linalg
}  // namespace mxnet
