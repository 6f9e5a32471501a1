// NumPy's weighted means and percentiles.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/threads/omp.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/expression.h"
#include "operator/record/dtypes.h"
#include "operator/record/numpy_types.h"
#include "operator/reduce/records.h"
#include "rtc/loop.h"

namespace mxnet {
namespace reduce {

struct AverageParam : public Parameter<AverageParam> {
  std::optional<Shape> axis;
  bool returned, weighted;
  MXNET_DECLARE_PARAM(AverageParam) {
    MXNET_FIELD(axis).set_default(std::optional<Shape>()).describe("Axes to reduce; None: all.");
    MXNET_FIELD(returned).set_default(false).describe("Whether the sums of weights are shown, too.");
    MXNET_FIELD(weighted).set_default(true).describe("Whether there are weights; otherwise all are 1.");
  }
};
enum Interpolation { kHigher, kLinear, kLower, kMidpoint, kNearest };
struct PercentileParam : public Parameter<PercentileParam> {
  std::optional<Shape> axis;
  int interpolation;
  bool keepdims;
  std::optional<double> q_scalar;
  MXNET_DECLARE_PARAM(PercentileParam) {
    MXNET_FIELD(axis).set_default(std::optional<Shape>()).describe("Axes to reduce; None: all.");
    MXNET_FIELD(interpolation)
        .add_enum("higher", kHigher)
        .add_enum("linear", kLinear)
        .add_enum("lower", kLower)
        .add_enum("midpoint", kMidpoint)
        .add_enum("nearest", kNearest)
        .set_default(kLinear)
        .describe("What counts between two elements.");
    MXNET_FIELD(keepdims).set_default(false).describe("Whether reduced axes stay with size 1.");
    MXNET_FIELD(q_scalar).set_default(std::optional<double>()).describe("The percentile, in place of the input q.");
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

bool AverageType(const Attrs& attrs, const InferSwitches& s, std::vector<int>* in, std::vector<int>* out) {
  if ((*in)[0] == kDTypeUnknown) return false;
  if (in->size() > 1 && (*in)[1] == kDTypeUnknown) (*in)[1] = (*in)[0];
  const int t = numpy::Quotient(numpy::Promote((*in)[0], in->back(), s), s);
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
    .set_dtypes(dtypes::kAll)
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

// Few of many numbers x are left if those are dropped that are surely before or behind number `low`
// by size: some of x tell where it lies (Floyd and Rivest, "Expected time bounds for selection",
// 1975). The result holds the numbers from the returned rank on; none where the guess was wrong.
template <typename T>
int64_t Narrow(const T* x, int64_t n, int64_t low, std::vector<T>* kept) {
  constexpr int64_t sample = 2048, spread = 96;  // about four standard deviations of a rank among the sample
  std::vector<T> some(sample);
  uint64_t place = 0x9e3779b97f4a7c15u;
  for (T& v : some) {
    place = place * 6364136223846793005u + 1442695040888963407u;
    v = x[(place >> 33) % static_cast<uint64_t>(n)];
  }
  std::sort(some.begin(), some.end());
  const int64_t at = static_cast<int64_t>(static_cast<double>(low) / static_cast<double>(n) * sample);
  const T most = at + spread >= sample ? std::numeric_limits<T>::infinity() : some[at + spread];
  const T from = at - spread < 0 ? -std::numeric_limits<T>::infinity() : some[at - spread];
  constexpr int64_t block = 4096;
  int64_t before = 0, count = 0;
  for (int64_t i = 0; i < n; i += block) {
    const int64_t end = std::min(n, i + block);
    int32_t less = 0, within = 0;
    for (int64_t j = i; j < end; ++j) {
      less += x[j] < from;
      within += (x[j] >= from) & (x[j] <= most);
    }
    before += less;
    count += within;
  }
  kept->resize(static_cast<size_t>(count) + 1);
  T* to = kept->data();
  for (int64_t i = 0; i < n; ++i) {
    *to = x[i];
    to += (x[i] >= from) & (x[i] <= most) & (to < kept->data() + count);
  }
  kept->resize(static_cast<size_t>(count));
  return before;
}

// The numbers x of one result.
constexpr int64_t kMany = 1 << 14;  // numbers, of which few are looked at where one is asked for
template <typename T>
struct Ranks {
  std::vector<T> x;
  bool sorted = false;

  // Numbers `low` and `low` + 1 by size, the latter only if `both`. Elements of x change places.
  std::pair<double, double> Neighbours(int64_t low, bool both) {
    const int64_t n = static_cast<int64_t>(x.size());
    if (sorted) return {x[low], both ? x[low + 1] : x[low]};
    if (n >= kMany) {
      std::vector<T> kept;
      const int64_t before = Narrow(x.data(), n, low, &kept), rank = low - before, left = static_cast<int64_t>(kept.size());
      if (rank >= 0 && rank + both < left && left <= n / 2) return Chosen(&kept, rank, both);
    }
    return Chosen(&x, low, both);
  }

  static std::pair<double, double> Chosen(std::vector<T>* from, int64_t low, bool both) {
    std::nth_element(from->begin(), from->begin() + low, from->end());
    const T below = (*from)[low];
    return {below, both ? *std::min_element(from->begin() + low + 1, from->end()) : below};
  }
};

// Number `at` of the numbers by size, for 0 <= at <= n - 1.
template <typename T>
double Between(Ranks<T>* ranks, double at, int interpolation) {
  const int64_t low = static_cast<int64_t>(std::floor(at));
  const bool whole = static_cast<double>(low) == at;
  const auto [below, above] = ranks->Neighbours(low, !whole);
  switch (interpolation) {
    case kHigher: return above;
    case kLower: return below;
    case kMidpoint: return whole ? below : 0.5 * (below + above);
    case kNearest: return static_cast<int64_t>(std::nearbyint(at)) == low ? below : above;
    default: return whole ? below : below + (above - below) * (at - std::floor(at));
  }
}

// The elements of one result, whose first is number `first` of the data.
struct Walk {
  std::vector<int64_t> offsets;  // of the reduced elements; empty where these lie one behind the other
  std::vector<int64_t> firsts;   // of the results
  int64_t count = 1;             // of the reduced elements
};
Walk WalkOf(const Shape& s, const std::vector<char>& reduced) {
  Walk walk;
  bool last = true;  // all reduced dimensions come last
  for (int d = 0; d < s.ndim(); ++d) {
    if (reduced[d]) walk.count *= s[d];
    last = last && (reduced[d] || d == 0 || !reduced[d - 1]);
  }
  walk.offsets = walk.firsts = {0};
  int64_t stride = s.Size();
  for (int d = 0; d < s.ndim(); ++d) {
    stride = s[d] == 0 ? 0 : stride / s[d];
    if (reduced[d] && last) continue;
    std::vector<int64_t>& list = reduced[d] ? walk.offsets : walk.firsts;
    std::vector<int64_t> longer;
    longer.reserve(list.size() * static_cast<size_t>(s[d]));
    for (int64_t at : list)
      for (int64_t i = 0; i < s[d]; ++i) longer.push_back(at + i * stride);
    list.swap(longer);
  }
  if (last) walk.offsets.clear();
  return walk;
}

template <typename T>
std::vector<T> Numbers(const RunContext& run, const TBlob& data) {
  std::vector<T> numbers(static_cast<size_t>(data.Size()));
  std::vector<char> copy;
  const void* source = data.dptr;
  if (run.ctx.is_gpu() && data.Size() > 0) {
    copy.resize(data.Bytes());
    rtc::ReadBack(run, data.dptr, copy.data(), copy.size());
    source = copy.data();
  }
  constexpr int compute = sizeof(T) == 4 ? pointwise::kF32 : pointwise::kF64;
  if (data.dtype == pointwise::ComputeDType(compute))
    std::copy_n(static_cast<const T*>(source), data.Size(), numbers.data());
  else
    pointwise::LoadFn(data.dtype, compute)(source, numbers.data(), data.Size());
  return numbers;
}

// The percentiles of all results: those of q[0] first.
template <typename T>
std::vector<double> Percentiles(const KernelArgs& a, const std::vector<double>& q, int interpolation) {
  const bool plain = !a.run.ctx.is_gpu() && a.in[0].dtype == (sizeof(T) == 4 ? kFloat32 : kFloat64);
  const std::vector<T> converted = plain ? std::vector<T>() : Numbers<T>(a.run, a.in[0]);
  const T* data = plain ? a.in[0].data<T>() : converted.data();
  const Walk walk = WalkOf(a.in[0].shape, Reduced<PercentileParam>(*a.attrs, a.in[0].shape.ndim()));
  const int64_t results = static_cast<int64_t>(walk.firsts.size()), n = walk.count;
  std::vector<double> found(q.size() * static_cast<size_t>(results));
  ParallelForThreads(OmpThreads(a.in[0].Size()), results, [&](int64_t begin, int64_t end) {
    Ranks<T> ranks;
    for (int64_t r = begin; r < end; ++r) {
      const T* first = data + walk.firsts[r];
      ranks.sorted = false;
      ranks.x.resize(static_cast<size_t>(n));
      if (walk.offsets.empty())
        std::copy_n(first, n, ranks.x.data());
      else
        for (int64_t i = 0; i < n; ++i) ranks.x[i] = first[walk.offsets[i]];
      bool nan = false;
      for (const T v : ranks.x) nan |= v != v;
      ranks.sorted = !nan && q.size() > (n < kMany ? 4 : 24);  // fewer are found sooner one by one
      if (ranks.sorted) std::sort(ranks.x.begin(), ranks.x.end());
      for (size_t k = 0; k < q.size(); ++k)
        found[k * static_cast<size_t>(results) + static_cast<size_t>(r)] =
            nan ? std::numeric_limits<double>::quiet_NaN() : Between(&ranks, q[k] / 100 * static_cast<double>(n - 1), interpolation);
    }
  });
  return found;
}

// Whether float32 holds every element of a dtype.
bool IsNarrow(int dtype) { return dtype == kFloat32 || (DTypeSize(dtype) <= 2); }

// On the host for GPUs, too: a result is one of few numbers that many are sorted for.
void Percentile(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull || a.out[0].Size() == 0) return;
  const PercentileParam& p = a.param<PercentileParam>();
  const std::vector<double> q = p.q_scalar.has_value() ? std::vector<double>{p.q_scalar.value()} : Numbers<double>(a.run, a.in[1]);
  for (double v : q) MXNET_CHECK_KIND(v >= 0 && v <= 100, Value) << "[" << a.attrs->op->name << "] q is " << v << "; accepted: 0 to 100";
  const std::vector<double> found =
      IsNarrow(a.in[0].dtype) ? Percentiles<float>(a, q, p.interpolation) : Percentiles<double>(a, q, p.interpolation);
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
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(PercentileShape)
    .set_infer_type([](const Attrs& attrs, const InferSwitches& s, std::vector<int>* in, std::vector<int>* out) {
      if (in->back() == kDTypeUnknown) in->back() = (*in)[0];
      AssignType(attrs, "output", &(*out)[0], numpy::Quotient((*in)[0], s));
      return (*in)[0] != kDTypeUnknown;
    })
    .set_kernel(Percentile);

}  // namespace
}  // namespace reduce
}  // namespace mxnet
