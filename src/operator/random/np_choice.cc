// Choice with and without replacement, and counts of n trials, as NumPy programs ask for them.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "mxnet/ndarray.h"
#include "mxnet/op.h"
#include "operator/indexing/gpu_order.h"
#include "operator/random/distributions.h"
#include "operator/random/draw_kernels.h"
#include "operator/random/gpu_random.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/record/tuple_field.h"
#include "operator/reduce/gpu_scan.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

const char* const kFile = "operator/random/gpu_random.cuh";

struct NpChoiceParam : public Parameter<NpChoiceParam> {
  std::optional<int64_t> a;
  std::optional<Shape> size;
  std::string ctx;
  bool replace, weighted;
  MXNET_DECLARE_PARAM(NpChoiceParam) {
    MXNET_FIELD(a).describe("How many there are to choose from; None: as many as the first array has elements.");
    MXNET_FIELD(size).describe("Shape of the result; a single number when None.");
    MXNET_FIELD(ctx).set_default("cpu").describe("Device of the result where there is no array.");
    MXNET_FIELD(replace).set_default(true).describe("Whether an element may be chosen more than once.");
    MXNET_FIELD(weighted).set_default(false).describe("Whether the last array holds the chances of the elements.");
  }
};
MXNET_REGISTER_PARAM(NpChoiceParam);

bool ChoiceShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<NpChoiceParam>();
  AssignShape(attrs, "output", &(*out)[0], p.size ? p.size.value() : Shape(std::vector<int64_t>{}));
  for (const Shape& s : *in)
    if (!s.known()) return false;
  const int64_t of = p.a ? p.a.value() : (*in)[0].Size(), wanted = (*out)[0].Size();
  MXNET_CHECK_KIND(of > 0 || wanted == 0, Value) << "[" << attrs.op->name << "] a=" << of << "; accepted: at least 1";
  MXNET_CHECK_KIND(p.replace || wanted <= of, Value)
      << "[" << attrs.op->name << "] " << wanted << " different ones of " << of << "; accepted without replacement: at most " << of;
  if (p.weighted)
    MXNET_CHECK_KIND(in->back().ndim() == 1 && in->back()[0] == of, Value)
        << "[" << attrs.op->name << "] the chances have shape " << in->back() << "; accepted: (" << of << ",)";
  return true;
}

bool Int64Type(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "output", &(*out)[0], kInt64);
  return std::none_of(in->begin(), in->end(), [](int t) { return t == kDTypeUnknown; });
}

void CheckChances(const Attrs& attrs, const std::vector<double>& chances) {
  double sum = 0;
  for (double c : chances) {
    MXNET_CHECK_KIND(c >= 0, Value) << "[" << attrs.op->name << "] a chance is " << c << "; accepted: numbers of at least 0";
    sum += c;
  }
  MXNET_CHECK_KIND(chances.empty() || (sum > 0 && sum < HUGE_VAL), Value)
      << "[" << attrs.op->name << "] the chances add up to " << sum << "; accepted: a positive number";
}

std::vector<double> Doubles(const TBlob& blob) {
  std::vector<double> values(static_cast<size_t>(blob.Size()));
  ConvertElements(blob.dptr, blob.dtype, values.data(), kFloat64, blob.Size());
  return values;
}

void WithReplacement(KernelArgs& args, std::vector<double> chances) {
  std::partial_sum(chances.begin(), chances.end(), chances.begin());
  const int64_t n = args.out[0].Size(), classes = static_cast<int64_t>(chances.size());
  const uint64_t seed = args.random->seed(), first = args.random->Take(static_cast<uint64_t>(n));
  int64_t last = classes - 1;  // rounding must not choose what has no chance
  while (last > 0 && chances[last - 1] == chances[last]) --last;
  for (int64_t i = 0; i < n; ++i) {
    RandomStream s(seed, first + static_cast<uint64_t>(i));
    const int64_t c = std::upper_bound(chances.begin(), chances.end(), s.Uniform() * chances.back()) - chances.begin();
    args.out[0].data<int64_t>()[i] = std::min(c, last);
  }
}

/* The smallest waiting times come first: Efraimidis and Spirakis, "Weighted random sampling with a
 * reservoir", 2006. */
void WithoutReplacement(KernelArgs& args, int64_t of, const std::vector<double>* chances) {
  const int64_t n = args.out[0].Size();
  const uint64_t seed = args.random->seed(), first = args.random->Take(static_cast<uint64_t>(of));
  std::vector<std::pair<double, int64_t>> wait(static_cast<size_t>(of));
  int64_t possible = 0;
  for (int64_t i = 0; i < of; ++i) {
    RandomStream s(seed, first + static_cast<uint64_t>(i));
    const double rate = chances ? (*chances)[i] : 1;
    // Where all chances are alike, the logarithm would not change the order.
    wait[i] = {!chances ? -s.Positive() : rate > 0 ? -std::log(s.Positive()) / rate : HUGE_VAL, i};
    possible += rate > 0;
  }
  MXNET_CHECK_KIND(n <= possible, Value) << "[" << args.attrs->op->name << "] " << n << " different ones, of which " << possible
                                         << " have a chance; accepted: at most that many";
  if (n < of) std::nth_element(wait.begin(), wait.begin() + n, wait.end());
  std::sort(wait.begin(), wait.begin() + n);
  for (int64_t i = 0; i < n; ++i) args.out[0].data<int64_t>()[i] = wait[i].second;
}

void ChoiceOnDevice(KernelArgs& args, int64_t of, bool replace, const TBlob* chances) {
  const TBlob& out = args.out[0];
  const int64_t n = out.Size();
  if (replace && !chances)
    return DrawIntegersOnDevice(args.run, DrawsOnDevice(args.run, args.random, static_cast<uint64_t>((n + 1) / 2)), 0,
                                static_cast<uint64_t>(of), out);
  rtc::Arguments a;
  TBlob work;
  work.dtype = kFloat64;
  work.shape = Shape{of};
  work.dptr = args.workspace(std::max<size_t>(work.Bytes(), 1));
  if (replace) {
    reduce::DeviceScan scan;
    scan.length = of;
    reduce::ScanOnDevice(args, scan, *chances, work);
    a.Add(chances->dptr).Add(work.dptr).Add(out.dptr).Add(static_cast<const void*>(nullptr)).Add(of).Add(n);
    DrawsOnDevice(args.run, args.random, static_cast<uint64_t>(n)).AddTo(&a);
    return rtc::LaunchItems(args.run, {kFile, "multinomial", {chances->dtype, out.dtype}}, n, &a);
  }
  DrawsOnDevice(args.run, args.random, static_cast<uint64_t>(of)).AddTo(&a.Add(work.dptr)).Add(chances ? chances->dptr : nullptr);
  rtc::LaunchItems(args.run, {kFile, "waiting_times", {chances ? chances->dtype : -1}}, of, &a);
  OrderEntriesOnDevice(args, work, 1, of, 1, n, true, nullptr, out.data<int64_t>());
}

void Choice(KernelArgs& args) {
  const auto& p = args.param<NpChoiceParam>();
  const int64_t of = p.a ? p.a.value() : args.in[0].Size(), n = args.out[0].Size();
  const TBlob* chances = p.weighted ? &args.in[args.in.size() - 1] : nullptr;
  if (n == 0) return;
  if (args.run.ctx.is_gpu()) return ChoiceOnDevice(args, of, p.replace, chances);
  std::vector<double> given;
  if (chances) {
    given = Doubles(*chances);
    CheckChances(*args.attrs, given);
  }
  if (!p.replace) return WithoutReplacement(args, of, chances ? &given : nullptr);
  if (chances) return WithReplacement(args, std::move(given));
  const uint64_t seed = args.random->seed(), first = args.random->Take(static_cast<uint64_t>((n + 1) / 2));
  MXNET_CPU_CALL(DrawInts)(seed, first, 0, static_cast<uint64_t>(of), reinterpret_cast<uint64_t*>(args.out[0].data<int64_t>()), n);
}

MXNET_REGISTER_OP(_npi_choice)
    .describe(
        "Chooses numbers below `a`: equally likely, or with chances from an array, which are divided by their sum.\n\n"
        "The result is int64, of shape `size`. Without replacement all of them differ.")
    .set_param<NpChoiceParam>()
    .set_inputs({"input1", "input2"},
                [](const Attrs& attrs) {
                  const auto& p = attrs.get<NpChoiceParam>();
                  return (p.a ? 0 : 1) + (p.weighted ? 1 : 0);
                })
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(ChoiceShape)
    .set_infer_type(Int64Type)
    .set_uses_random()
    .set_zero_gradient()
    .set_kernel(Choice);

// ---- counts

struct NpMultinomialParam : public Parameter<NpMultinomialParam> {
  int n;
  std::optional<Tuple<double>> pvals;
  std::optional<Shape> size;
  MXNET_DECLARE_PARAM(NpMultinomialParam) {
    MXNET_FIELD(n).describe("How many trials.");
    MXNET_FIELD(pvals).set_default(std::optional<Tuple<double>>()).describe("The chances of the classes; None: an array holds them.");
    MXNET_FIELD(size).set_default(std::optional<Shape>()).describe("How many draws, as a shape before the classes.");
  }
};
MXNET_REGISTER_PARAM(NpMultinomialParam);

bool MultinomialShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<NpMultinomialParam>();
  MXNET_CHECK_KIND(p.n >= 0, Value) << "[" << attrs.op->name << "] n=" << p.n << "; accepted: n >= 0";
  int64_t classes = p.pvals ? p.pvals.value().size() : 0;
  if (!p.pvals) {
    const Shape& a = (*in)[0];
    if (!a.known()) return false;
    MXNET_CHECK_KIND(a.ndim() == 1, Value) << "[" << attrs.op->name << "] pvals has shape " << a << "; accepted: one dimension";
    classes = a[0];
  }
  std::vector<int64_t> dims;
  if (p.size) dims.assign(p.size.value().begin(), p.size.value().end());
  dims.push_back(classes);
  AssignShape(attrs, "output", &(*out)[0], Shape(dims));
  return true;
}

/* The last class has the chance that the others leave. */
void CloseChances(const Attrs& attrs, double slack, std::vector<double>* chances) {
  double others = 0;
  for (size_t c = 0; c < chances->size(); ++c) {
    const double chance = (*chances)[c];
    MXNET_CHECK_KIND(chance >= 0 && chance <= 1 + slack, Value)
        << "[" << attrs.op->name << "] pvals has " << chance << "; accepted: numbers from 0 to 1";
    if (c + 1 < chances->size()) others += chance;
  }
  MXNET_CHECK_KIND(others <= 1 + slack, Value) << "[" << attrs.op->name << "] sum(pvals[:-1]) is " << others << "; accepted: at most 1";
  if (!chances->empty()) chances->back() = std::max(0.0, 1 - others);
}

void MultinomialCounts(KernelArgs& args) {
  const auto& p = args.param<NpMultinomialParam>();
  const TBlob& out = args.out[0];
  const int64_t classes = out.shape[out.shape.ndim() - 1], draws = classes ? out.Size() / classes : 0;
  if (args.run.ctx.is_gpu()) {
    rtc::Arguments a;
    DrawsOnDevice(args.run, args.random, static_cast<uint64_t>(draws))
        .AddTo(&a.Add(args.in[0].dptr).Add(out.dptr).Add(classes).Add(static_cast<int64_t>(p.n)));
    return rtc::LaunchItems(args.run, {kFile, "np_multinomial", {args.in[0].dtype}}, draws, &a);
  }
  std::vector<double> chances = p.pvals ? p.pvals.value().values : Doubles(args.in[0]);
  CloseChances(*args.attrs, p.pvals || args.in[0].dtype == kFloat64 ? 1e-12 : 1e-3, &chances);
  const uint64_t seed = args.random->seed(), first = args.random->Take(static_cast<uint64_t>(draws));
  ParallelForThreads(OmpThreads(out.Size() * 16), draws, [&](int64_t begin, int64_t end) {
    for (int64_t d = begin; d < end; ++d) {
      RandomStream s(seed, first + static_cast<uint64_t>(d));
      int64_t* counts = out.data<int64_t>() + d * classes;
      DrawCounts(
          &s, p.n, classes, [&](long long c) { return chances[c]; }, [&](long long c, double k) { counts[c] = static_cast<int64_t>(k); });
    }
  });
}

MXNET_REGISTER_OP(_npi_multinomial)
    .describe(
        "How often each class occurs in n trials.\n\n"
        "The chances are numbers or a vector; the last class has what the others leave. The result is int64, of shape `size` and then "
        "the classes. Chances below 0 or above 1, and others that add up to more than 1, are errors.")
    .set_param<NpMultinomialParam>()
    .set_inputs({"a"}, [](const Attrs& attrs) { return attrs.get<NpMultinomialParam>().pvals ? 0 : 1; })
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(MultinomialShape)
    .set_infer_type(Int64Type)
    .set_uses_random()
    .set_zero_gradient()
    .set_kernel(MultinomialCounts);

}  // namespace
}  // namespace mxnet
