// NumPy's values of polynomials, and linear interpolation.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "mxnet/ndarray.h"
#include "mxnet/op.h"
#include "operator/matrix/move.h"
#include "operator/pointwise/execute.h"
#include "operator/record/dtypes.h"
#include "operator/record/optional_number.h"
#include "operator/record/param.h"
#include "operator/reduce/reduce.h"
#include "operator/shared/on_host.h"

namespace mxnet {
namespace {

// ---- polyval

bool PolyvalShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape &p = (*in)[0], &x = (*in)[1];
  MXNET_CHECK_KIND(!p.ndim_known() || p.ndim() == 1, Value) << "[" << attrs.op->name << "] p has shape " << p << "; accepted: a vector";
  AssignShape(attrs, "the result", &(*out)[0], x);
  AssignShape(attrs, "x", &(*in)[1], (*out)[0]);
  return p.known() && (*in)[1].known();
}

void Combine(KernelArgs& args, int row, const TBlob& a, const pointwise::Operand& b, const TBlob& to) {
  const pointwise::Operand operands[2] = {a, b};
  pointwise::Execute(args.run, pointwise::Forward(row), pointwise::ComputeFor(to.dtype, true), operands, 2, pointwise::kBinaryMasks,
                     nullptr, to, OpReq::kWrite);
}

TBlob Coefficient(const TBlob& p, int64_t i) {
  TBlob one = p;
  one.shape = Shape(0);
  one.dptr = p.data<char>() + i * static_cast<int64_t>(DTypeSize(p.dtype));
  return one;
}

// out = the value at x of the polynomial with the coefficients p[0:n], p[i] times n - i with
// `derivative`: Horner's rule, with one pass over the arrays for each step.
void HornerByArrays(KernelArgs& args, const TBlob& p, int64_t n, bool derivative, const TBlob& x, const TBlob& out) {
  ZeroBytes(args.run, out.dptr, static_cast<int64_t>(out.Bytes()));
  TBlob scaled = Coefficient(p, 0);
  if (derivative) scaled.dptr = args.workspace(8);
  for (int64_t i = 0; i < n; ++i) {
    if (i > 0) Combine(args, pointwise::k_mul, out, x, out);
    const TBlob c = Coefficient(p, i);
    if (derivative) Combine(args, pointwise::k_mul, c, pointwise::Operand(static_cast<double>(n - i)), scaled);
    Combine(args, pointwise::k_add, out, derivative ? scaled : c, out);
  }
}

template <typename A, typename T>
void Horner(const T* p, int64_t n, const T* x, T* out, int64_t count) {
  ParallelFor(count, std::max<int64_t>(1, 65536 / (n + 1)), [&](int64_t begin, int64_t end) {
    constexpr int64_t kBlock = 64;
    A value[kBlock];
    for (int64_t at = begin; at < end; at += kBlock) {
      const int64_t size = std::min(kBlock, end - at);
      std::fill(value, value + size, A(0));
      for (int64_t i = 0; i < n; ++i) {
        const A c = static_cast<A>(p[i]);
        for (int64_t k = 0; k < size; ++k) value[k] = value[k] * static_cast<A>(x[at + k]) + c;
      }
      for (int64_t k = 0; k < size; ++k) out[at + k] = static_cast<T>(value[k]);
    }
  });
}

void Polyval(KernelArgs& args) {
  const TBlob &p = args.in[0], &x = args.in[1], &out = args.out[0];
  if (args.req[0] == OpReq::kNull || out.Size() == 0) return;
  if (args.run.ctx.is_gpu()) return HornerByArrays(args, p, p.Size(), false, x, out);
  VisitDType(out.dtype, "_npi_polyval", [&](auto tag) {
    using T = decltype(tag);
    using A = std::conditional_t<std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>, float,
                                 std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>>;
    Horner<A>(p.data<T>(), p.Size(), x.data<T>(), out.data<T>(), out.Size());
  });
}

bool PolyvalBackShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "ograd", &(*in)[0], (*in)[2]);
  AssignShape(attrs, "the gradient of p", &(*out)[0], (*in)[1]);
  AssignShape(attrs, "the gradient of x", &(*out)[1], (*in)[2]);
  return (*in)[0].known() && (*in)[1].known() && (*in)[2].known();
}

// [ograd, p, x]: the sums of ograd times the powers of x, and ograd times the derivative at x
void PolyvalBack(KernelArgs& args) {
  const TBlob &g = args.in[0], &p = args.in[1], &x = args.in[2];
  if (g.Size() == 0) {
    if (args.req[0] != OpReq::kNull) ZeroBytes(args.run, args.out[0].dptr, static_cast<int64_t>(args.out[0].Bytes()));
    return;
  }
  TBlob power = g;
  if (args.req[0] != OpReq::kNull && p.Size() > 0) {
    power.dptr = args.workspace(g.Bytes());
    CopyBytes(args.run, g.dptr, power.dptr, static_cast<int64_t>(g.Bytes()));
    const std::vector<char> all(static_cast<size_t>(g.shape.ndim()), 1);
    for (int64_t i = p.Size() - 1; i >= 0; --i) {
      reduce::Reduce(args, reduce::kSum, power, all, reduce::Finish{}, false, Coefficient(args.out[0], i), OpReq::kWrite);
      if (i > 0) Combine(args, pointwise::k_mul, power, x, power);
    }
  }
  if (args.req[1] == OpReq::kNull) return;
  HornerByArrays(args, p, std::max<int64_t>(p.Size() - 1, 0), true, x, args.out[1]);
  Combine(args, pointwise::k_mul, args.out[1], g, args.out[1]);
}

// With u and w the gradients that reach those of p and x, what is differentiated is
// sum(g u(x)) + sum(g w p'(x)); p' has the coefficients of p but the last, times their exponents.
std::vector<NodeEntry> PolyvalSecond(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry &g = node->inputs[0], &p = node->inputs[1], &x = node->inputs[2], &u = ograds[0], &w = ograds[1];
  auto times = [](const NodeEntry& a, const NodeEntry& b) { return MakeOp("elemwise_mul", {a, b}); };
  auto plus = [](const NodeEntry& a, const NodeEntry& b) { return MakeOp("elemwise_add", {a, b}); };
  const NodeEntry but_last = MakeOp("slice_axis", {p}, {{"axis", "0"}, {"begin", "0"}, {"end", "-1"}});
  const NodeEntry exponents = MakeOp("reverse", {MakeOp("_contrib_arange_like", {but_last}, {{"start", "1"}})}, {{"axis", "0"}});
  const NodeEntry derivative = times(but_last, exponents);
  const NodePtr first = MakeNode("_npi_backward_polyval", {g, u, x});
  const NodePtr second = MakeNode("_npi_backward_polyval", {times(g, w), derivative, x});
  const NodeEntry of_p = times(NodeEntry{second, 0, 0}, exponents);
  return {plus(MakeOp("_npi_polyval", {u, x}), times(w, MakeOp("_npi_polyval", {derivative, x}))),
          MakeOp("_backward_slice_axis", {of_p, p}, {{"axis", "0"}, {"begin", "0"}, {"end", "-1"}}),
          plus(NodeEntry{first, 1, 0}, NodeEntry{second, 1, 0})};
}

// ---- interp

struct InterpParam : public Parameter<InterpParam> {
  OptionalNumber left, right, period;
  double x_scalar;
  bool x_is_scalar;
  MXNET_DECLARE_PARAM(InterpParam) {
    MXNET_FIELD(left).set_default(OptionalNumber()).describe("The value below xp[0]; None: fp[0].");
    MXNET_FIELD(right).set_default(OptionalNumber()).describe("The value above the last of xp; None: the last of fp.");
    MXNET_FIELD(period)
        .set_default(OptionalNumber())
        .describe("x and xp are angles, whose numbers repeat after this one; xp need not ascend, left and right are not used.");
    MXNET_FIELD(x_scalar).set_default(0).describe("x, where it is one number.");
    MXNET_FIELD(x_is_scalar).set_default(false).describe("x is x_scalar, and no array.");
  }
};
MXNET_REGISTER_PARAM(InterpParam);

bool InterpShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape &xp = (*in)[0], &fp = (*in)[1];
  const auto& p = attrs.get<InterpParam>();
  MXNET_CHECK_KIND(!p.period.has_value() || p.period.value() != 0, Value)
      << "[" << attrs.op->name << "] period is 0; accepted: other numbers";
  if (p.x_is_scalar)
    AssignShape(attrs, "the result", &(*out)[0], Shape(0));
  else
    AssignShape(attrs, "the result", &(*out)[0], (*in)[2]);
  if (!xp.known() || !fp.known()) return false;
  MXNET_CHECK_KIND(xp.ndim() == 1 && xp == fp && xp[0] > 0, Value)
      << "[" << attrs.op->name << "] xp has shape " << xp << ", fp has shape " << fp << "; accepted: vectors of the same length, not empty";
  return (*out)[0].known();
}

std::vector<double> Wide(const TBlob& b) {
  std::vector<double> out(static_cast<size_t>(b.Size()));
  ConvertElements(b.dptr, b.dtype, out.data(), kFloat64, b.Size());
  return out;
}

// In the manner of a floor: in [0, period).
double Angle(double x, double period) {
  const double rest = std::fmod(x, period);
  return rest != 0 && (rest < 0) != (period < 0) ? rest + period : rest;
}

struct Curve {
  std::vector<double> x, y;
  double left, right, period = 0;  // period 0: none
};

Curve CurveOf(const InterpParam& p, const TBlob& xp, const TBlob& fp) {
  Curve c{Wide(xp), Wide(fp), 0, 0};
  if (p.period.has_value()) {
    c.period = std::abs(p.period.value());
    const size_t n = c.x.size();
    std::vector<size_t> order(n);
    std::iota(order.begin(), order.end(), size_t{0});
    for (double& x : c.x) x = Angle(x, c.period);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return c.x[a] < c.x[b]; });
    std::vector<double> x{c.x[order[n - 1]] - c.period}, y{c.y[order[n - 1]]};
    for (size_t i : order) x.push_back(c.x[i]), y.push_back(c.y[i]);
    x.push_back(c.x[order[0]] + c.period), y.push_back(c.y[order[0]]);
    c.x = std::move(x), c.y = std::move(y);
  }
  c.left = p.left.has_value() && c.period == 0 ? p.left.value() : c.y.front();
  c.right = p.right.has_value() && c.period == 0 ? p.right.value() : c.y.back();
  return c;
}

double ValueAt(const Curve& c, double x) {
  if (c.period != 0) x = Angle(x, c.period);
  if (x != x) return x;
  if (x > c.x.back()) return c.right;
  if (x < c.x.front()) return c.left;
  const size_t j = static_cast<size_t>(std::upper_bound(c.x.begin(), c.x.end(), x) - c.x.begin());
  if (j == 0) return c.left;
  if (j == c.x.size() || c.x[j - 1] == x) return c.y[j - 1];
  const double slope = (c.y[j] - c.y[j - 1]) / (c.x[j] - c.x[j - 1]);
  double value = slope * (x - c.x[j - 1]) + c.y[j - 1];
  if (value != value) value = slope * (x - c.x[j]) + c.y[j];
  if (value != value && c.y[j] == c.y[j - 1]) value = c.y[j];
  return value;
}

void Interp(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  const auto& p = args.param<InterpParam>();
  const Curve curve = CurveOf(p, args.in[0], args.in[1]);
  double* out = args.out[0].data<double>();
  if (p.x_is_scalar) {
    out[0] = ValueAt(curve, p.x_scalar);
    return;
  }
  const TBlob& x = args.in[2];
  ConvertElements(x.dptr, x.dtype, out, kFloat64, x.Size());
  ParallelFor(x.Size(), 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = ValueAt(curve, out[i]);
  });
}

[[maybe_unused]] const bool registered = [] {
  Op::Register("_npi_polyval")
      .describe(
          "Values of a polynomial: p[0] * x**(n-1) + ... + p[n-1], for p of n numbers.\n\n"
          "x has any shape, and so has the result. All dtypes but bool; both arrays have the same one. Integers wrap around. Horner's "
          "rule.")
      .set_inputs({"p", "x"})
      .set_dtypes(dtypes::kNumbers)
      .set_infer_shape(PolyvalShape)
      .set_gradient(BackwardNode("_npi_backward_polyval", kGradInputs))
      .set_kernel(Polyval);
  Op::Register("_npi_backward_polyval")
      .describe("Gradients of _npi_polyval.")
      .set_inputs({"ograd", "p", "x"})
      .set_outputs({"p_grad", "x_grad"})
      .set_dtypes(dtypes::kNumbers)
      .set_infer_shape(PolyvalBackShape)
      .set_gradient(PolyvalSecond)
      .set_kernel(PolyvalBack);
  Op::Register("_npi_interp")
      .describe(
          "Linear interpolation at x between the points (xp, fp), whose xp ascend.\n\n"
          "xp and fp are vectors of the same length, x has any shape; the result is float64 of that shape. Not differentiable. On a "
          "GPU the arrays are copied to the host, where the search runs.")
      .set_param<InterpParam>()
      .set_inputs({"xp", "fp", "x"}, [](const Attrs& a) { return a.get<InterpParam>().x_is_scalar ? 2 : 3; })
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(InterpShape)
      .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
        AssignType(attrs, "the result", &(*out)[0], kFloat64);
        return std::all_of(in->begin(), in->end(), [](int type) { return type != kDTypeUnknown; });
      })
      .set_kernel([](KernelArgs& a) { OnHost(a, Interp); });
  return true;
}();

}  // namespace
}  // namespace mxnet
