// _searchsorted: where values would be inserted into a sorted vector.
#include <algorithm>
#include <type_traits>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "mxnet/op.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

struct SearchsortedParam : public Parameter<SearchsortedParam> {
  bool right;
  MXNET_DECLARE_PARAM(SearchsortedParam) {
    MXNET_FIELD(right).set_default(false).describe("Whether a value stands behind the elements that are equal to it.");
  }
};
MXNET_REGISTER_PARAM(SearchsortedParam);

bool SearchsortedShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& data = (*in)[0];
  MXNET_CHECK_KIND(!data.known() || data.ndim() == 1, Value)
      << "[" << attrs.op->name << "] data have shape " << data << "; accepted: a sorted vector";
  AssignShape(attrs, "the result", &(*out)[0], (*in)[1]);
  AssignShape(attrs, "values", &(*in)[1], (*out)[0]);
  return data.known() && (*in)[1].known();
}

bool SearchsortedType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "values", &(*in)[1], (*in)[0]);
  AssignType(attrs, "data", &(*in)[0], (*in)[1]);
  AssignType(attrs, "the result", &(*out)[0], kInt64);
  return (*in)[0] != kDTypeUnknown;
}

// NaN is behind every number, as where arrays are sorted.
template <typename T>
bool Below(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>) return a < b;
  const double x = static_cast<double>(a), y = static_cast<double>(b);
  return x < y || (y != y && x == x);
}

template <typename T>
bool IsNan(const T& v) {
  if constexpr (std::is_integral_v<T>) return false;
  return static_cast<double>(v) != static_cast<double>(v);
}

// Numbers and NaN are alike here: a comparison with NaN among the data is false, so that they are
// behind.
template <bool kRight, typename T>
bool Before(const T& datum, const T& value) {
  if constexpr (std::is_integral_v<T>) return kRight ? datum <= value : datum < value;
  const auto x = static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(datum);
  const auto y = static_cast<decltype(x)>(value);
  return kRight ? x <= y : x < y;
}

template <bool kRight, typename T>
int64_t PlaceOfAny(const T* data, int64_t size, const T& value) {
  return (kRight ? std::upper_bound(data, data + size, value, Below<T>) : std::lower_bound(data, data + size, value, Below<T>)) - data;
}

constexpr int kTogether = 8;

// The places of some values. All searches take the same number of steps, so that they run beside
// each other, and no step is a branch that a processor would have to guess.
template <bool kRight, typename T>
void PlacesOfSome(const T* data, int64_t size, const T* values, int64_t* out) {
  const T* base[kTogether];
  for (const T*& b : base) b = data;
  for (int64_t left = size; left > 1;) {
    const int64_t half = left / 2;
    for (int k = 0; k < kTogether; ++k) base[k] += half & -static_cast<int64_t>(Before<kRight>(base[k][half - 1], values[k]));
    left -= half;
  }
  for (int k = 0; k < kTogether; ++k) {
    out[k] = base[k] - data + (Before<kRight>(*base[k], values[k]) ? 1 : 0);
    if (IsNan(values[k])) out[k] = PlaceOfAny<kRight>(data, size, values[k]);
  }
}

template <bool kRight, typename T>
void SearchOne(const T* data, int64_t size, const T* values, int64_t n, int64_t* out) {
  ParallelFor(n, 0, [&](int64_t begin, int64_t end) {
    int64_t i = begin;
    for (; size > 0 && i + kTogether <= end; i += kTogether) PlacesOfSome<kRight>(data, size, values + i, out + i);
    for (; i < end; ++i) out[i] = PlaceOfAny<kRight>(data, size, values[i]);
  });
}

template <typename T>
void Search(const T* data, int64_t size, const T* values, int64_t n, bool right, int64_t* out) {
  right ? SearchOne<true>(data, size, values, n, out) : SearchOne<false>(data, size, values, n, out);
}

void Searchsorted(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const bool right = a.param<SearchsortedParam>().right;
  const int64_t size = a.in[0].Size(), n = a.in[1].Size();
  if (a.run.ctx.is_gpu()) {
    rtc::Arguments args;
    args.Add(a.in[0].dptr).Add(a.in[1].dptr).Add(a.out[0].dptr).Add(size);
    rtc::LaunchItems(a.run, {"operator/indexing/gpu_index.cuh", "searchsorted", {a.in[0].dtype}, {right ? 1 : 0}}, n, &args);
    return;
  }
  VisitDType(a.in[0].dtype, "_searchsorted", [&](auto tag) {
    using T = decltype(tag);
    Search(a.in[0].data<T>(), size, a.in[1].data<T>(), n, right, a.out[0].data<int64_t>());
  });
}

[[maybe_unused]] const bool registered = [] {
  Op::Register("_searchsorted")
      .describe("The places, as int64, at which values would be inserted into a sorted vector so that it stays sorted.")
      .set_param<SearchsortedParam>()
      .set_inputs({"data", "values"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(SearchsortedShape)
      .set_infer_type(SearchsortedType)
      .set_zero_gradient()
      .set_kernel(Searchsorted);
  return true;
}();

}  // namespace
}  // namespace mxnet
