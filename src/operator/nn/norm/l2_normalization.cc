// L2Normalization and its gradient.
#include <algorithm>
#include <string>
#include <vector>

#include "base/ran.h"
#include "base/round_up.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/norm/l2_kernels.h"
#include "operator/nodes/make_nodes.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/records.h"
#include "operator/record/dtypes.h"
#include "operator/reduce/records.h"

namespace mxnet {
namespace nn {

struct L2NormalizationParam : public Parameter<L2NormalizationParam> {
  float eps;
  int mode;
  MXNET_DECLARE_PARAM(L2NormalizationParam) {
    MXNET_FIELD(eps).set_default(1e-10f).describe("Added to the sum of squares.");
    MXNET_FIELD(mode)
        .add_enum("instance", 0)
        .add_enum("channel", 1)
        .add_enum("spatial", 2)
        .set_default(0)
        .describe("What shares one norm: a whole sample, the channels of a position, or the positions of a channel.");
  }
};
MXNET_REGISTER_PARAM(L2NormalizationParam);

namespace {
using pointwise::Operand;
using reduce::Finish;

// Dimensions that share one norm.
std::vector<char> NormReduced(const Attrs& attrs, const Shape& shape) {
  const int mode = attrs.get<L2NormalizationParam>().mode;
  MXNET_CHECK_KIND(shape.ndim() >= (mode == 0 ? 1 : 3), Value)
      << "[L2Normalization] data has shape " << shape << "; mode "
      << (mode == 0 ? "instance needs at least 1 dimension" : "channel or spatial needs at least 3 dimensions");
  std::vector<char> reduced(shape.ndim(), 0);
  for (int d = 1; d < shape.ndim(); ++d) reduced[d] = mode == 0 || (mode == 1) == (d == 1);
  return reduced;
}

// The sums over what shares a norm, with `initial` added; of the type computed in.
void SumsTo(KernelArgs& a, reduce::Kind kind, const TBlob& x, double initial, bool root, const TBlob& sums) {
  Finish finish;
  finish.has_initial = true;
  finish.initial = initial;
  finish.sqrt = root;
  reduce::Reduce(a, kind, x, NormReduced(*a.attrs, x.shape), finish, false, sums, OpReq::kWrite);
}

void Apply(KernelArgs& a, const pointwise::Function& function, const TBlob& l, const TBlob& r, const TBlob& out, OpReq req) {
  const Operand operands[2] = {l, r};
  pointwise::Execute(a.run, function, pointwise::ComputeFor(l.dtype, false), operands, 2, pointwise::kBinaryMasks, nullptr, out, req);
}

constexpr int64_t kPiece = 1 << 15;  // elements of a row that stay in the cache between both passes

// What shares a norm lies side by side in rows of so many elements; 0: it does not.
int64_t RowLength(const Attrs& attrs, const Shape& s) {
  const int mode = attrs.get<L2NormalizationParam>().mode;
  return mode == 1 ? 0 : s.Prod(mode == 2 ? 2 : 1, s.ndim());
}

void Forward(KernelArgs& a) {
  const TBlob& x = a.in[0];
  if (x.Size() == 0 || a.req[0] == OpReq::kNull) return;
  const double eps = static_cast<double>(a.param<L2NormalizationParam>().eps);
  const int64_t n = RowLength(*a.attrs, x.shape);
  if (!a.run.ctx.is_gpu() && n > 0 && n <= 2 * kPiece && !IsHalf(x.dtype) && a.req[0] != OpReq::kAdd) {
    const size_t bytes = static_cast<size_t>(n) * DTypeSize(x.dtype);
    Ran("vector loop");
    return ParallelFor(x.Size() / n, std::max<int64_t>(1, kPiece / n), [=, &a](int64_t begin, int64_t end) {
      const size_t at = static_cast<size_t>(begin) * bytes;
      MXNET_CPU_CALL(L2Rows)(a.in[0].dtype, a.in[0].data<char>() + at, a.out[0].data<char>() + at, end - begin, n, eps);
    });
  }
  const Shape kept = reduce::ReducedShape(x.shape, NormReduced(*a.attrs, x.shape), true, false);
  const int dtype = pointwise::ComputeDType(pointwise::ComputeFor(x.dtype, false));
  const TBlob norm{a.workspace(static_cast<size_t>(kept.Size()) * DTypeSize(dtype)), kept, dtype, a.run.ctx};
  SumsTo(a, reduce::kSumSquare, x, eps, true, norm);
  Apply(a, pointwise::Forward(pointwise::k_div), x, norm, a.out[0], a.req[0]);
}

/*
 * With r = 1 / sqrt(sum(x * x) + eps), dx = g r - x sum(g x) r^3. The sums are of what shares one
 * norm.
 */
void BackwardOnDevice(KernelArgs& a) {
  const TBlob &g = a.in[0], &x = a.in[1];
  const Shape kept = reduce::ReducedShape(x.shape, NormReduced(*a.attrs, x.shape), true, false);
  const int dtype = pointwise::ComputeDType(pointwise::ComputeFor(x.dtype, false));
  const size_t whole = RoundUp(static_cast<size_t>(x.Size()) * DTypeSize(dtype), 64);
  const size_t few = RoundUp(static_cast<size_t>(kept.Size()) * DTypeSize(dtype), 64);
  char* memory = static_cast<char*>(a.workspace(whole + 2 * few));
  const TBlob terms{memory, x.shape, dtype, a.run.ctx}, r{memory + whole, kept, dtype, a.run.ctx};
  const TBlob along{memory + whole + few, kept, dtype, a.run.ctx};
  const auto mul = pointwise::Forward(pointwise::k_mul), div = pointwise::Forward(pointwise::k_div);

  SumsTo(a, reduce::kSumSquare, x, static_cast<double>(a.param<L2NormalizationParam>().eps), true, r);
  Apply(a, mul, g, x, terms, OpReq::kWrite);
  SumsTo(a, reduce::kSum, terms, 0, false, along);
  for (int i = 0; i < 2; ++i) Apply(a, div, along, r, along, OpReq::kWrite);
  Apply(a, mul, x, along, terms, OpReq::kWrite);
  Apply(a, pointwise::Forward(pointwise::k_sub), g, terms, terms, OpReq::kWrite);
  Apply(a, div, terms, r, a.out[0], a.req[0]);
}

constexpr int64_t kStripe = 1 << 10;  // columns of a thread

// Rows so long that several threads share one.
template <typename T>
void LongRows(const T* g, const T* x, T* dx, int dtype, int64_t rows, int64_t n, double eps) {
  const int64_t pieces = (n + kPiece - 1) / kPiece;
  std::vector<L2Sums> sums(static_cast<size_t>(pieces));
  auto each = [&](auto f) {
    Ran("vector loop");
    ParallelFor(pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) f(p, p * kPiece, std::min(n - p * kPiece, kPiece));
    });
  };
  for (int64_t r = 0; r < rows; ++r, g += n, x += n, dx += n) {
    each([&](int64_t p, int64_t at, int64_t count) {
      sums[p] = L2Sums();
      MXNET_CPU_CALL(L2RowSums)(dtype, g + at, x + at, count, &sums[p]);
    });
    L2Sums all;
    for (const L2Sums& s : sums) all.squares += s.squares, all.products += s.products;
    const L2Factors factors(all, eps);
    each([&](int64_t, int64_t at, int64_t count) { MXNET_CPU_CALL(L2RowGradient)(dtype, g + at, x + at, dx + at, count, factors); });
  }
}

template <typename T>
void Rows(const T* g, const T* x, T* dx, int dtype, int64_t rows, int64_t n, double eps) {
  if (n > 2 * kPiece) return LongRows(g, x, dx, dtype, rows, n, eps);
  Ran("vector loop");
  ParallelFor(rows, std::max<int64_t>(1, kPiece / n), [=](int64_t begin, int64_t end) {
    MXNET_CPU_CALL(L2RowsGradient)(dtype, g + begin * n, x + begin * n, dx + begin * n, end - begin, n, eps);
  });
}

template <typename T>
void Columns(const T* g, const T* x, T* dx, int dtype, int64_t outer, int64_t rows, int64_t n, double eps) {
  const int64_t stripes = (n + kStripe - 1) / kStripe, width = std::min(n, kStripe);
  Ran("vector loop");
  ParallelFor(outer * stripes, std::max<int64_t>(1, kPiece / std::max<int64_t>(1, rows * width)), [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = i / stripes * rows * n + i % stripes * kStripe;
      MXNET_CPU_CALL(L2ColumnsGradient)
      (dtype, g + at, x + at, dx + at, rows, n, std::min(n - i % stripes * kStripe, kStripe), eps);
    }
  });
}

void Backward(KernelArgs& args) {  // ograd, data -> data_grad
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) return BackwardOnDevice(args);
  RunReal(args, [](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const T *g = a.in[0].data<T>(), *x = a.in[1].data<T>();
    T* dx = a.out[0].data<T>();
    const double eps = static_cast<double>(a.param<L2NormalizationParam>().eps);
    const Shape& s = a.in[1].shape;
    const int dtype = a.in[1].dtype;
    if (const int64_t n = RowLength(*a.attrs, s))
      Rows(g, x, dx, dtype, s.Size() / n, n, eps);
    else
      Columns(g, x, dx, dtype, s[0], s[1], s.Prod(2, s.ndim()), eps);
  });
}

AttrDict NormAxes(const Attrs& attrs) {
  const AttrDict modes[] = {{{"axis", "(0,)"}, {"exclude", "1"}, {"keepdims", "1"}},
                            {{"axis", "(1,)"}, {"keepdims", "1"}},
                            {{"axis", "(0, 1)"}, {"exclude", "1"}, {"keepdims", "1"}}};
  return modes[attrs.get<L2NormalizationParam>().mode];
}

/*
 * With s = sum(g x), p = sum(u x) and q = sum(u g) for a gradient u of the result, and r as above:
 *   ograd: u r - x p r^3, which is the node's own function of u
 *   data:  r^3 (x (3 s p r^2 - q) - g p - u s)
 */
std::vector<NodeEntry> SecondGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry &g = node->inputs[0], &x = node->inputs[1], &u = ograds[0];
  const AttrDict axes = NormAxes(*node->attrs);
  auto number = [](const char* op, const NodeEntry& z, double n) { return MakeOp(op, {z}, {{"scalar", ExactText(n)}, {"is_int", "0"}}); };
  auto mul = [](const NodeEntry& l, const NodeEntry& r) { return MakeOp("elemwise_mul", {l, r}); };
  auto less = [](const NodeEntry& l, const NodeEntry& r) { return MakeOp("elemwise_sub", {l, r}); };
  auto times = [](const NodeEntry& z, const NodeEntry& few) { return MakeOp("broadcast_mul", {z, few}); };
  auto sum = [&](const NodeEntry& z) { return MakeOp("sum", {z}, axes); };

  const double eps = static_cast<double>(node->attrs->get<L2NormalizationParam>().eps);
  const NodeEntry r = MakeOp("rsqrt", {number("_plus_scalar", sum(MakeOp("square", {x})), eps)}), squared = mul(r, r);
  const NodeEntry s = sum(mul(g, x)), p = sum(mul(u, x)), q = sum(mul(u, g));
  const NodeEntry by_norm = times(x, less(number("_mul_scalar", mul(mul(s, p), squared), 3), q));
  const NodeEntry by_data = times(less(less(by_norm, times(g, p)), times(u, s)), mul(squared, r));
  return {NodeEntry{MakeNodeLike("_backward_L2Normalization", *node, {u, x}), 0, 0}, by_data};
}

MXNET_REGISTER_OP(L2Normalization)
    .describe("Divides by the L2 norm: x / sqrt(sum(x * x) + eps).")
    .set_param<L2NormalizationParam>()
    .set_inputs({"data"})
    .set_precision(Precision::kFull)
    .set_dtypes(dtypes::kFloats)
    .set_inplace({{0, 0}})
    .set_supports_add()
    .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
      if ((*in)[0].ndim_known()) NormReduced(attrs, (*in)[0]);
      return ElemwiseShape(attrs, in, out);
    })
    .set_gradient(BackwardNode("_backward_L2Normalization", kGradInputs))
    .set_kernel(Forward);

MXNET_REGISTER_OP(_backward_L2Normalization)
    .describe("Gradient of L2Normalization with respect to data: ograd r - data sum(ograd data) r^3, r = 1 / sqrt(sum(data^2) + eps).")
    .set_param<L2NormalizationParam>()
    .set_inputs({"ograd", "data"})
    .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
      if ((*in)[1].ndim_known()) NormReduced(attrs, (*in)[1]);
      return ElemwiseShape(attrs, in, out);
    })
    .set_precision(Precision::kFull)
    .set_dtypes(dtypes::kFloats)
    .set_inplace({{0, 0}, {1, 0}})
    .set_gradient(SecondGradient)
    .set_kernel(Backward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
