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
void Search(const T* data, int64_t size, const T* values, int64_t n, bool right, int64_t* out) {
  ParallelFor(n, 0, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      out[i] =
          (right ? std::upper_bound(data, data + size, values[i], Below<T>) : std::lower_bound(data, data + size, values[i], Below<T>)) -
          data;
  });
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
