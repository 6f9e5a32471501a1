// _histogram: how many values fall between neighbouring edges.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "mxnet/op.h"
#include "operator/indexing/histogram_kernels.h"
#include "operator/init/fill.h"
#include "operator/matrix/move.h"
#include "operator/record/dtypes.h"
#include "operator/record/param_field.h"
#include "rtc/loop.h"

namespace mxnet {

/* The bounds of the bins: "(low, high)". */
struct HistogramRange {
  double low = 0, high = 0;
  bool operator==(const HistogramRange& o) const { return low == o.low && high == o.high; }
};

std::ostream& operator<<(std::ostream& os, const HistogramRange& r) { return os << '(' << r.low << ',' << r.high << ')'; }

std::istream& operator>>(std::istream& is, HistogramRange& r) {
  char open = 0, comma = 0, close = 0;
  if (!(is >> open >> r.low >> comma >> r.high)) return is;
  is >> std::ws;
  if (is.peek() == ',') is.get();
  is >> close;
  if ((open != '(' || close != ')') && (open != '[' || close != ']')) is.setstate(std::ios::failbit);
  if (comma != ',') is.setstate(std::ios::failbit);
  return is;
}

MXNET_DEFINE_FIELD(std::optional<HistogramRange>);

namespace {

struct HistogramParam : public Parameter<HistogramParam> {
  std::optional<int> bin_cnt;
  std::optional<HistogramRange> range;
  MXNET_DECLARE_PARAM(HistogramParam) {
    MXNET_FIELD(bin_cnt)
        .set_default(std::optional<int>())
        .describe("Number of bins of equal width; None reads the edges from the input bins.");
    MXNET_FIELD(range)
        .set_default(std::optional<HistogramRange>())
        .describe("Lower bound of the first and upper bound of the last bin; needed with bin_cnt.");
  }
};
MXNET_REGISTER_PARAM(HistogramParam);

bool HistogramShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<HistogramParam>();
  MXNET_CHECK_KIND(p.bin_cnt.has_value() == p.range.has_value(), Value)
      << "[" << attrs.op->name << "] bin_cnt and range must be given together or not at all";
  if (p.bin_cnt.has_value()) {
    const int64_t bins = p.bin_cnt.value();
    const HistogramRange r = p.range.value();
    MXNET_CHECK_KIND(bins > 0 && r.low <= r.high && std::isfinite(r.high - r.low), Value)
        << "[" << attrs.op->name << "] bin_cnt=" << bins << ", range=" << r
        << "; there must be at least one bin, and the range may not fall";
    AssignShape(attrs, "the counts", &(*out)[0], Shape({bins}));
    AssignShape(attrs, "the edges", &(*out)[1], Shape({bins + 1}));
    return (*in)[0].known();
  }
  const Shape& edges = (*in)[1];
  if (!edges.known()) return false;
  MXNET_CHECK_KIND(edges.ndim() == 1 && edges[0] >= 2, Value)
      << "[" << attrs.op->name << "] bins have shape " << edges << "; they must be a vector of at least 2 edges";
  AssignShape(attrs, "the counts", &(*out)[0], Shape({edges[0] - 1}));
  AssignShape(attrs, "the edges", &(*out)[1], edges);
  return (*in)[0].known();
}

bool HistogramType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  if (in->size() > 1) AssignType(attrs, "bins", &(*in)[1], (*in)[0]);
  AssignType(attrs, "the counts", &(*out)[0], kInt64);
  AssignType(attrs, "the edges", &(*out)[1], (*in)[0]);
  return (*in)[0] != kDTypeUnknown;
}

// Where values are counted. `even`: the bins have one width.
struct Bounds {
  double low, high;
  bool even;
};

// Half-open bins, the last one closed. Edges of integers may be equal, and wrap around.

// Tables of bins + 1 numbers. Neighbours go to different ones where the tables are small, for an
// addition to a number waits for the one before.
constexpr int64_t kTables = 4, kBlock = 512;
int64_t TablesFor(const Bounds& b, int64_t bins) { return b.even && bins <= 4096 ? kTables : 1; }

void AddUp(const int32_t* found, int64_t n, int64_t tables, int64_t bins, int64_t* counts) {
  int64_t i = 0;
  if (tables == kTables) {
    for (; i + kTables <= n; i += kTables)
      for (int64_t t = 0; t < kTables; ++t) ++counts[t * (bins + 1) + found[i + t]];
  }
  for (; i < n; ++i) ++counts[found[i]];
}

// Of bins that have one width.
template <typename T>
void CountEven(const T* data, int64_t n, const T* edges, int64_t bins, const Bounds& b, int64_t* counts) {
  std::vector<double> wide(static_cast<size_t>(bins + 1));
  std::transform(edges, edges + bins + 1, wide.begin(), [](const T& edge) { return static_cast<double>(edge); });
  wide.front() = -std::numeric_limits<double>::infinity(), wide.back() = -wide.front();
  const EvenBins even{b.low, b.high, static_cast<int32_t>(bins), wide.data()};
  int32_t found[kBlock];
  double values[kBlock];
  for (int64_t first = 0; first < n; first += kBlock) {
    const int64_t count = std::min(kBlock, n - first);
    if constexpr (std::is_same_v<T, float>) {
      MXNET_CPU_CALL(FindEvenBinsOfFloats)(even, data + first, count, found);
    } else {
      std::transform(data + first, data + first + count, values, [](const T& value) { return static_cast<double>(value); });
      MXNET_CPU_CALL(FindEvenBins)(even, values, count, found);
    }
    AddUp(found, count, TablesFor(b, bins), bins, counts);
  }
}

template <typename T>
void CountSome(const T* data, int64_t n, const T* edges, int64_t bins, const Bounds& b, int64_t* counts) {
  for (int64_t i = 0; i < n; ++i) {
    const double v = static_cast<double>(data[i]);
    if (!(v >= b.low && v <= b.high)) continue;
    const T* above = std::upper_bound(edges, edges + bins + 1, data[i],
                                      [](const T& a, const T& b) { return static_cast<double>(a) < static_cast<double>(b); });
    counts[std::min<int64_t>(std::max<int64_t>(above - edges - 1, 0), bins - 1)]++;
  }
}

template <typename T>
void Count(const T* data, int64_t n, const T* edges, int64_t bins, const Bounds& bounds, int64_t* counts) {
  std::fill(counts, counts + bins, 0);
  const int threads = bins > n ? 1 : OmpThreads(n);
  const int64_t tables = TablesFor(bounds, bins), each = tables * (bins + 1);
  std::vector<int64_t> parts(static_cast<size_t>(threads * each), 0);
  ParallelForThreads(threads, threads, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t first = n * t / threads, count = n * (t + 1) / threads - first;
      (bounds.even ? CountEven<T> : CountSome<T>)(data + first, count, edges, bins, bounds, parts.data() + t * each);
    }
  });
  for (int64_t t = 0; t < threads * tables; ++t)
    for (int64_t k = 0; k < bins; ++k) counts[k] += parts[static_cast<size_t>(t * (bins + 1) + k)];
}

template <typename T>
void NeedRising(const T* edges, int64_t bins) {
  for (int64_t i = 0; i < bins; ++i) {
    const double low = static_cast<double>(edges[i]), high = static_cast<double>(edges[i + 1]);
    MXNET_CHECK_KIND(!(low > high), Value) << "[_histogram] edge " << i << " of bins is " << low << " and the next one " << high
                                           << "; accepted: edges that do not fall";
  }
}

// The same on a GPU: whole numbers are added atomically, so their order does not matter.
void CountOnDevice(KernelArgs& a, int64_t bins, const Bounds& bounds) {
  ZeroBytes(a.run, a.out[0].dptr, static_cast<int64_t>(a.out[0].Bytes()));
  rtc::Arguments args;
  args.Add(a.in[0].dptr).Add(a.out[1].dptr).Add(a.out[0].dptr).Add(bins);
  args.Add(bounds.low).Add(bounds.high).Add(int64_t{bounds.even});
  rtc::LaunchItems(a.run, {"operator/indexing/gpu_index.cuh", "histogram", {a.in[0].dtype}}, a.in[0].Size(), &args);
}

void Histogram(KernelArgs& a) {
  const auto& p = a.param<HistogramParam>();
  const int64_t bins = a.out[0].Size(), n = a.in[0].Size();
  Bounds bounds{0, 0, p.bin_cnt.has_value()};
  if (bounds.even) {
    HistogramRange r = p.range.value();
    if (r.low == r.high) r = {r.low - 0.5, r.high + 0.5};  // as in NumPy
    bounds.low = r.low, bounds.high = r.high;
    FillRange(a.run, a.out[1], r.low, (r.high - r.low) / static_cast<double>(bins), 1);
    TBlob last = a.out[1];
    last.dptr = last.data<char>() + bins * static_cast<int64_t>(DTypeSize(last.dtype));
    last.shape = Shape({1});
    FillValue(a.run, last, r.high);
  } else {
    CopyBytes(a.run, a.in[1].dptr, a.out[1].dptr, static_cast<int64_t>(a.in[1].Bytes()));
  }
  if (a.run.ctx.is_gpu()) return CountOnDevice(a, bins, bounds);
  VisitDType(a.in[0].dtype, "_histogram", [&](auto tag) {
    using T = decltype(tag);
    const T* edges = a.out[1].data<T>();
    if (!bounds.even) {
      bounds.low = static_cast<double>(edges[0]), bounds.high = static_cast<double>(edges[bins]);
      NeedRising(edges, bins);
    }
    Count(a.in[0].data<T>(), n, edges, bins, bounds, a.out[0].data<int64_t>());
  });
}

[[maybe_unused]] const bool registered = [] {
  Op::Register("_histogram")
      .describe("Counts of values by bin, and the edges of the bins.")
      .alias("_npi_histogram")
      .set_param<HistogramParam>()
      .set_inputs({"data", "bins"}, [](const Attrs& a) { return a.get<HistogramParam>().bin_cnt.has_value() ? 1 : 2; })
      .set_dtypes(dtypes::kAll)
      .set_outputs({"output0", "output1"})
      .set_infer_shape(HistogramShape)
      .set_infer_type(HistogramType)
      .set_zero_gradient()
      .set_kernel(Histogram);
  return true;
}();

}  // namespace
}  // namespace mxnet
