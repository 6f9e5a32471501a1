// NumPy's weighted means and percentiles.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/omp.h"
#include "operator/numpy_types.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/expression.h"
#include "operator/reduce/records.h"
#include "rtc/loop.h"

namespace mxnet {
namespace reduce {

struct AverageParam : public dmlc::Parameter<AverageParam> {
  dmlc::optional<Shape> axis;
  bool returned, weighted;
  DMLC_DECLARE_PARAMETER(AverageParam) {
    DMLC_DECLARE_FIELD(axis).set_default(dmlc::optional<Shape>()).describe("Axes to reduce; None: all.");
    DMLC_DECLARE_FIELD(returned).set_default(false).describe("Whether the sums of weights are shown, too.");
    DMLC_DECLARE_FIELD(weighted).set_default(true).describe("Whether there are weights; otherwise all are 1.");
  }
};
enum Interpolation { kHigher, kLinear, kLower, kMidpoint, kNearest };
struct PercentileParam : public dmlc::Parameter<PercentileParam> {
  dmlc::optional<Shape> axis;
  int interpolation;
  bool keepdims;
  dmlc::optional<double> q_scalar;
  DMLC_DECLARE_PARAMETER(PercentileParam) {
    DMLC_DECLARE_FIELD(axis).set_default(dmlc::optional<Shape>()).describe("Axes to reduce; None: all.");
    DMLC_DECLARE_FIELD(interpolation)
        .add_enum("higher", kHigher)
        .add_enum("linear", kLinear)
        .add_enum("lower", kLower)
        .add_enum("midpoint", kMidpoint)
        .add_enum("nearest", kNearest)
        .set_default(kLinear)
        .describe("What counts between two elements.");
    DMLC_DECLARE_FIELD(keepdims).set_default(false).describe("Whether reduced axes stay with size 1.");
    DMLC_DECLARE_FIELD(q_scalar).set_default(dmlc::optional<double>()).describe("The percentile, in place of the input q.");
  }
};
MXNET_REGISTER_PARAM(AverageParam);
MXNET_REGISTER_PARAM(PercentileParam);

namespace {

using pointwise::Operand;
using pointwise::Simple;

template <typename P>
std::vector<char> Reduced(const Attrs& attrs, int ndim) {
  return ReducedDims(attrs.op->name, attrs.get<P>().axis, false, false, ndim);
}

// ---- average

bool AverageShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& s = (*in)[0];
  if (!s.known()) return false;
  const std::vector<char> reduced = Reduced<AverageParam>(attrs, s.ndim());
  CheckNotEmpty(attrs.op->name, s, reduced);
  for (Shape& o : *out) AssignShape(attrs, "output", &o, ReducedShape(s, reduced, false, false));
  if (in->size() == 1) return true;
  if (!(*in)[1].known()) return false;
  MXNET_CHECK_KIND(BroadcastShape(attrs.op->name, s, (*in)[1]) == s, Value)
      << "[" << attrs.op->name << "] weights have shape " << (*in)[1] << "; accepted: one that broadcasts to " << s;
  return true;
}

bool AverageType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  if ((*in)[0] == kDTypeUnknown) return false;
  if (in->size() > 1 && (*in)[1] == kDTypeUnknown) (*in)[1] = (*in)[0];
  const int t = numpy::Quotient(numpy::Promote((*in)[0], in->back()));
  for (int& o : *out) AssignType(attrs, "output", &o, t);
  return true;
}

TBlob Temporary(const KernelArgs& a, const Shape& shape, int dtype) {
  TBlob b = a.out[0];
  b.shape = shape;
  b.dtype = dtype;
  b.dptr = a.workspace(static_cast<size_t>(shape.Size()) * DTypeSize(dtype) + 64);
  return b;
}

void Average(KernelArgs& a) {
  const Shape& s = a.in[0].shape;
  const std::vector<char> reduced = Reduced<AverageParam>(*a.attrs, s.ndim());
  const int compute = pointwise::ComputeFor(a.out[0].dtype, false), dtype = pointwise::ComputeDType(compute);
  Finish finish;
  if (a.in.size() == 1) {
    finish.divisor = CountOf(s, reduced);
    Reduce(a, kSum, a.in[0], reduced, finish, true, a.out[0], a.req[0]);
    const Operand count(finish.divisor);
    pointwise::Execute(a.run, pointwise::Forward(pointwise::k_identity), compute, &count, 1, pointwise::kUnaryMasks, nullptr, a.out[1],
                       a.req[1]);
    return;
  }
  const TBlob full = Temporary(a, s, dtype), sum = Temporary(a, a.out[0].shape, dtype), total = Temporary(a, a.out[0].shape, dtype);
  const Operand weights(a.in[1]);
  pointwise::Execute(a.run, pointwise::Forward(pointwise::k_identity), compute, &weights, 1, pointwise::kUnaryMasks, nullptr, full,
                     OpReq::kWrite);
  Reduce(a, kSum, full, reduced, finish, true, total, OpReq::kWrite);
  const Operand terms[2] = {a.in[0], full};
  pointwise::Execute(a.run, pointwise::Forward(pointwise::k_mul), compute, terms, 2, pointwise::kBinaryMasks, nullptr, full,
                     OpReq::kWriteInplace);
  Reduce(a, kSum, full, reduced, finish, true, sum, OpReq::kWrite);
  const Operand sides[2] = {sum, total};
  pointwise::Execute(a.run, pointwise::Forward(pointwise::k_div), compute, sides, 2, pointwise::kBinaryMasks, nullptr, a.out[0], a.req[0]);
  pointwise::ExecuteCast(a.run, total, a.out[1], a.req[1]);
}

NodeEntry Times(const NodeEntry& a, const NodeEntry& b) { return Simple("_npi_multiply", {a, b}); }

// d average / d a = weights / total; d average / d weights = (a - average) / total.
std::vector<NodeEntry> AverageGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const AverageParam& p = node->attrs->get<AverageParam>();
  const NodeEntry& a = node->inputs[0];
  const auto spread = [&](const NodeEntry& e) {
    const bool none = p.axis.has_value() && p.axis.value().ndim() == 0;
    return none ? e : MakeOp("_backward_sum", {e, a}, AxesDict(p.axis, false));
  };
  // Elementwise, so that a head whose shape is not known yet gets that of the result.
  const NodeEntry share = spread(Simple("elemwise_div", {ograds[0], NodeEntry{node, 1, 0}}));
  if (!p.weighted) return {Simple("_backward_cast", {share, a})};
  const NodeEntry apart = Simple("_npi_subtract", {a, spread(NodeEntry{node, 0, 0})});
  const NodeEntry of_weights = Simple("_npi_add", {Times(apart, share), spread(ograds[1])});
  return {Simple("_sum_like", {Times(share, node->inputs[1]), a}), Simple("_sum_like", {of_weights, node->inputs[1]})};
}

MXNET_REGISTER_OP(_npi_average)
    .describe("Weighted mean over axes, and the sums of weights. The weights broadcast to the data.")
    .set_param<AverageParam>()
    .set_inputs({"a", "weights"}, [](const Attrs& a) { return a.get<AverageParam>().weighted ? 2 : 1; })
    .set_outputs({"output", "sum_of_weights"}, nullptr, [](const Attrs& a) { return a.get<AverageParam>().returned ? 2 : 1; })
    .set_precision(Precision::kFull)
    .set_dtypes(numpy::AllTypes())
    .set_infer_shape(AverageShape)
    .set_infer_type(AverageType)
    .set_gradient(AverageGradient)
    .set_kernel(Average);

// ---- percentile

bool PercentileShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const PercentileParam& p = attrs.get<PercentileParam>();
  const Shape& s = (*in)[0];
  if (!s.known() || !in->back().known()) return false;
  const std::vector<char> reduced = Reduced<PercentileParam>(attrs, s.ndim());
  CheckNotEmpty(attrs.op->name, s, reduced);
  std::vector<int64_t> dims;
  if (!p.q_scalar.has_value()) dims.assign((*in)[1].begin(), (*in)[1].end());
  for (int64_t d : ReducedShape(s, reduced, p.keepdims, false)) dims.push_back(d);
  AssignShape(attrs, "output", &(*out)[0], Shape(dims));
  return true;
}

// Number `at` of the numbers x by size, for 0 <= at <= n - 1. `sorted`: they are; else they change
// places.
double Between(std::vector<double>* x, double at, int interpolation, bool sorted) {
  const int64_t low = static_cast<int64_t>(std::floor(at)), high = static_cast<int64_t>(std::ceil(at));
  if (!sorted) std::nth_element(x->begin(), x->begin() + low, x->end());
  const double below = (*x)[low];
  double above = below;
  if (high != low) above = sorted ? (*x)[high] : *std::min_element(x->begin() + high, x->end());
  switch (interpolation) {
    case kHigher: return above;
    case kLower: return below;
    case kMidpoint: return low == high ? below : 0.5 * (below + above);
    case kNearest: return static_cast<int64_t>(std::nearbyint(at)) == low ? below : above;
    default: return low == high ? below : below + (above - below) * (at - std::floor(at));
  }
}

// The elements of one result, whose first is number `first` of the data.
struct Walk {
  std::vector<int64_t> offsets;  // of the reduced elements
  std::vector<int64_t> firsts;   // of the results
};
Walk WalkOf(const Shape& s, const std::vector<char>& reduced) {
  Walk walk;
  walk.offsets = walk.firsts = {0};
  int64_t stride = s.Size();
  for (int d = 0; d < s.ndim(); ++d) {
    stride = s[d] == 0 ? 0 : stride / s[d];
    std::vector<int64_t>& list = reduced[d] ? walk.offsets : walk.firsts;
    std::vector<int64_t> longer;
    longer.reserve(list.size() * static_cast<size_t>(s[d]));
    for (int64_t at : list)
      for (int64_t i = 0; i < s[d]; ++i) longer.push_back(at + i * stride);
    list.swap(longer);
  }
  return walk;
}

std::vector<double> Numbers(const RunContext& run, const TBlob& data) {
  std::vector<double> numbers(static_cast<size_t>(data.Size()));
  std::vector<char> copy;
  const void* source = data.dptr;
  if (run.ctx.is_gpu() && data.Size() > 0) {
    copy.resize(data.Bytes());
    rtc::ReadBack(run, data.dptr, copy.data(), copy.size());
    source = copy.data();
  }
  pointwise::LoadFn(data.dtype, pointwise::kF64)(source, numbers.data(), data.Size());
  return numbers;
}

// On the host for GPUs, too: a result is one of few numbers that many are sorted for.
void Percentile(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull || a.out[0].Size() == 0) return;
  const PercentileParam& p = a.param<PercentileParam>();
  const std::vector<double> data = Numbers(a.run, a.in[0]);
  const std::vector<double> q = p.q_scalar.has_value() ? std::vector<double>{p.q_scalar.value()} : Numbers(a.run, a.in[1]);
  for (double v : q) MXNET_CHECK_KIND(v >= 0 && v <= 100, Value) << "[" << a.attrs->op->name << "] q is " << v << "; accepted: 0 to 100";
  const Walk walk = WalkOf(a.in[0].shape, Reduced<PercentileParam>(*a.attrs, a.in[0].shape.ndim()));
  const int64_t results = static_cast<int64_t>(walk.firsts.size()), n = static_cast<int64_t>(walk.offsets.size());
  std::vector<double> found(static_cast<size_t>(a.out[0].Size()));
  const bool sorted = q.size() > 4;  // fewer are found sooner one by one
  ParallelForThreads(OmpThreads(a.in[0].Size()), results, [&](int64_t begin, int64_t end) {
    std::vector<double> x(static_cast<size_t>(n));
    for (int64_t r = begin; r < end; ++r) {
      bool nan = false;
      for (int64_t i = 0; i < n; ++i) {
        x[i] = data[walk.firsts[r] + walk.offsets[i]];
        nan = nan || std::isnan(x[i]);
      }
      if (!nan && sorted) std::sort(x.begin(), x.end());
      for (size_t k = 0; k < q.size(); ++k)
        found[k * static_cast<size_t>(results) + static_cast<size_t>(r)] =
            nan ? std::numeric_limits<double>::quiet_NaN() : Between(&x, q[k] / 100 * static_cast<double>(n - 1), p.interpolation, sorted);
    }
  });
  if (!a.run.ctx.is_gpu()) return pointwise::StoreFn(a.out[0].dtype, pointwise::kF64)(found.data(), a.out[0].dptr, a.out[0].Size());
  TBlob one = a.out[0];
  one.shape = Shape({1});
  for (size_t i = 0; i < found.size(); ++i) {
    one.dptr = a.out[0].data<char>() + i * DTypeSize(one.dtype);
    const Operand number(found[i]);
    pointwise::Execute(a.run, pointwise::Forward(pointwise::k_identity), pointwise::kF64, &number, 1, pointwise::kUnaryMasks, nullptr, one,
                       OpReq::kWrite);
  }
}

MXNET_REGISTER_OP(_npi_percentile)
    .describe("Percentiles over axes; the dimensions of q stand before those of the data. NaN where there is one.")
    .set_param<PercentileParam>()
    .set_inputs({"a", "q"}, [](const Attrs& a) { return a.get<PercentileParam>().q_scalar.has_value() ? 1 : 2; })
    .set_precision(Precision::kFull)
    .set_dtypes(numpy::AllTypes())
    .set_infer_shape(PercentileShape)
    .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
      if (in->back() == kDTypeUnknown) in->back() = (*in)[0];
      AssignType(attrs, "output", &(*out)[0], numpy::Quotient((*in)[0]));
      return (*in)[0] != kDTypeUnknown;
    })
    .set_kernel(Percentile);

}  // namespace
}  // namespace reduce
}  // namespace mxnet
