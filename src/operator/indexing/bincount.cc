// _npi_bincount: how often each number occurs. The largest one decides on the result's shape, so
// arrays are read on the calling thread, and by those that help it.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/threads/omp.h"
#include "mxnet/op.h"
#include "operator/indexing/host_values.h"
#include "operator/pointwise/loops/convert.h"
#include "operator/record/dtypes.h"
#include "operator/record/numpy_types.h"
#include "operator/record/param.h"
#include "operator/reduce/scan_kernels.h"

namespace mxnet {

struct BincountParam : public Parameter<BincountParam> {
  int minlength;
  bool has_weights;
  MXNET_DECLARE_PARAM(BincountParam) {
    MXNET_FIELD(minlength).set_default(0).describe("The least number of counts.");
    MXNET_FIELD(has_weights).set_default(false).describe("Whether elements count their weights, not 1.");
  }
};
MXNET_REGISTER_PARAM(BincountParam);

namespace {

/* The elements of an array as T, which `compute` stands for: its own memory, or converted some at a
 * time, so that large arrays of narrow numbers are not copied. */
template <typename T>
class Values {
 public:
  static constexpr int64_t kPart = 1 << 12;
  Values(const NDArray& a, int compute, HostValues::Hold hold)
      : host_(a, hold), size_(a.shape().Size()), width_(static_cast<int64_t>(DTypeSize(a.dtype()))) {
    if (a.dtype() != pointwise::ComputeDType(compute)) load_ = pointwise::LoadFn(a.dtype(), compute);
  }
  int64_t size() const { return size_; }
  void Release() { host_.Release(); }
  /* The n elements from `at` on; `room` is for converted ones. REQUIRES: n <= kPart. */
  const T* Part(int64_t at, int64_t n, T* room) const {
    const char* from = host_.at() + at * width_;
    if (!load_) return reinterpret_cast<const T*>(from);
    load_(from, room, n);
    return room;
  }
  /* f(elements, position of the first, their number) for one part of [begin, end) after the
   * other. */
  template <typename F>
  void Each(int64_t begin, int64_t end, F&& f) const {
    T room[kPart];
    for (int64_t at = begin; at < end; at += kPart) {
      const int64_t n = std::min(kPart, end - at);
      f(Part(at, n, room), at, n);
    }
  }
  /* f(share, begin, end) for that many equal shares, side by side. */
  template <typename F>
  void Shared(int shares, F&& f) const {
    ParallelForThreads(shares, shares, [&](int64_t first, int64_t last) {
      for (int64_t k = first; k < last; ++k) f(k, size_ * k / shares, size_ * (k + 1) / shares);
    });
  }

 private:
  HostValues host_;
  int64_t size_, width_;
  pointwise::ConvertFn load_ = nullptr;
};

// Each share has sums of its own. Neighbours that are equal wait for each other's sum, so four sums
// of each number take turns where the numbers are few.
std::vector<int64_t> Counts(const Values<int64_t>& values, int64_t length) {
  constexpr int64_t kFew = 1 << 12, kTurns = 4;  // numbers whose sums stay in the first caches
  std::vector<int64_t> counts(static_cast<size_t>(length), 0);
  const int64_t turns = length <= kFew ? kTurns : 1, tables = length * turns;
  int shares = OmpThreads(values.size());
  if (tables * shares > values.size()) shares = 1;
  if (values.size() > int64_t{UINT32_MAX} || tables > values.size()) {
    values.Each(0, values.size(), [&](const int64_t* v, int64_t, int64_t n) {
      for (int64_t i = 0; i < n; ++i) ++counts[static_cast<size_t>(v[i])];
    });
    return counts;
  }
  std::vector<uint32_t> sums(static_cast<size_t>(tables * shares), 0);
  values.Shared(shares, [&](int64_t share, int64_t begin, int64_t end) {
    uint32_t* own = sums.data() + share * tables;
    values.Each(begin, end, [&](const int64_t* v, int64_t, int64_t n) {
      int64_t i = 0;
      if (turns == kTurns)
        for (; i + kTurns <= n; i += kTurns)
          for (int64_t t = 0; t < kTurns; ++t) ++own[t * length + v[i + t]];
      for (; i < n; ++i) ++own[v[i]];
    });
  });
  for (int64_t table = 0; table < turns * shares; ++table)
    for (int64_t i = 0; i < length; ++i) counts[static_cast<size_t>(i)] += sums[static_cast<size_t>(table * length + i)];
  return counts;
}

// The number of counts: one more than the largest element.
int64_t Length(const Attrs& attrs, const Values<int64_t>& values, int64_t least) {
  if (values.size() == 0) return least;
  const int shares = OmpThreads(values.size());
  std::vector<uint64_t> tops(static_cast<size_t>(shares));
  values.Shared(shares, [&](int64_t share, int64_t begin, int64_t end) {
    reduce::ExtremeSoFar top;  // without signs: what is less than 0 is large
    values.Each(begin, end, [&](const int64_t* v, int64_t at, int64_t n) {
      MXNET_CPU_CALL(FindExtreme)(pointwise::kU64, true, v, at - begin, n, &top);
    });
    tops[static_cast<size_t>(share)] = top.key;
  });
  const int64_t high = static_cast<int64_t>(*std::max_element(tops.begin(), tops.end()));
  if (high < 0 || high >= int64_t{1} << 40) {
    int64_t wrong = high;
    values.Each(0, values.size(), [&](const int64_t* v, int64_t, int64_t n) { wrong = std::min(wrong, *std::min_element(v, v + n)); });
    MXNET_THROW(Value) << "[" << attrs.op->name << "] data holds " << (wrong < 0 ? wrong : high)
                       << "; accepted: whole numbers from 0 on, below 2^40";
  }
  return std::max(least, high + 1);
}

void Write(const Attrs& attrs, const Context& ctx, int dtype, const void* counts, int compute, int64_t length, NDArray* out) {
  const Shape to({length});
  if (out->is_none()) out->Init(to, ctx, dtype);
  MXNET_CHECK_KIND(out->shape() == to && out->dtype() == dtype, Value)
      << "[" << attrs.op->name << "] out has shape " << out->shape() << " and dtype " << DTypeName(out->dtype()) << "; the result is " << to
      << " of " << DTypeName(dtype);
  std::vector<char> bytes(static_cast<size_t>(length) * DTypeSize(dtype));
  pointwise::StoreFn(dtype, compute)(counts, bytes.data(), length);
  out->CopyBytesFrom(bytes.data(), bytes.size());
}

int CountType(int data) { return data == kInt32 ? kInt32 : kInt64; }  // which narrower ones could not hold

void Bincount(const Attrs& attrs, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool) {
  const auto& p = attrs.get<BincountParam>();
  const NDArray& data = *in[0];
  MXNET_CHECK_KIND(!IsFloating(data.dtype()), Type)
      << "[" << attrs.op->name << "] data is " << DTypeName(data.dtype()) << "; accepted: integers";
  MXNET_CHECK_KIND(data.shape().ndim() == 1, Value)
      << "[" << attrs.op->name << "] data has shape " << data.shape() << "; accepted: a vector";
  MXNET_CHECK_KIND(!p.has_weights || in[1]->shape() == data.shape(), Value)
      << "[" << attrs.op->name << "] weights have shape " << in.back()->shape() << "; accepted: that of the data, " << data.shape();
  MXNET_CHECK_KIND(p.minlength >= 0, Value) << "[" << attrs.op->name << "] minlength is " << p.minlength << "; accepted: 0 and more";
  // first: it waits, which nobody may who holds an array
  std::optional<Values<double>> weights;
  if (p.has_weights) weights.emplace(*in[1], pointwise::kF64, HostValues::kUnheld);
  Values<int64_t> values(data, pointwise::kI64, HostValues::kHeld);
  const int64_t length = Length(attrs, values, p.minlength);
  if (!p.has_weights) {
    const auto counts = Counts(values, length);
    values.Release();
    return Write(attrs, data.ctx(), CountType(data.dtype()), counts.data(), pointwise::kI64, length, out[0]);
  }
  std::vector<double> sums(static_cast<size_t>(length), 0);
  values.Each(0, values.size(), [&](const int64_t* v, int64_t at, int64_t n) {
    double room[Values<double>::kPart];
    const double* weight = weights->Part(at, n, room);
    for (int64_t i = 0; i < n; ++i) sums[static_cast<size_t>(v[i])] += weight[i];
  });
  values.Release();
  Write(attrs, data.ctx(), in[1]->dtype(), sums.data(), pointwise::kF64, length, out[0]);
}

MXNET_REGISTER_OP(_npi_bincount)
    .describe(
        "How often each number from 0 on occurs in a vector of integers: int32 for int32, else int64, or sums of weights in their dtype.")
    .set_param<BincountParam>()
    .set_inputs({"data", "weights"}, [](const Attrs& a) { return a.get<BincountParam>().has_weights ? 2 : 1; })
    .set_dtypes(dtypes::kIntegersAndBool)
    .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
      AssignShape(attrs, "the counts", &(*out)[0], Shape({Shape::kUnknownDim}));
      return (*in)[0].known() && (*out)[0].known();
    })
    .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
      AssignType(attrs, "the counts", &(*out)[0], in->size() > 1 ? (*in)[1] : CountType((*in)[0]));
      return (*in)[0] != kDTypeUnknown && (*out)[0] != kDTypeUnknown;
    })
    .set_zero_gradient()
    .set_array_fn(Bincount);

}  // namespace
}  // namespace mxnet
