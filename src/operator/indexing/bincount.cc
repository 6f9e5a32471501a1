// _npi_bincount: how often each number occurs. The largest one decides on the result's shape, so
// arrays are read on the calling thread.
#include <algorithm>
#include <vector>

#include "base/dtype.h"
#include "mxnet/ndarray.h"
#include "operator/numpy_types.h"
#include "operator/param.h"
#include "operator/pointwise/convert.h"

namespace mxnet {

struct BincountParam : public dmlc::Parameter<BincountParam> {
  int minlength;
  bool has_weights;
  DMLC_DECLARE_PARAMETER(BincountParam) {
    DMLC_DECLARE_FIELD(minlength).set_default(0).describe("The least number of counts.");
    DMLC_DECLARE_FIELD(has_weights).set_default(false).describe("Whether elements count their weights, not 1.");
  }
};
MXNET_REGISTER_PARAM(BincountParam);

namespace {

template <typename T>
std::vector<T> Values(const NDArray& a, int compute) {
  std::vector<char> bytes(static_cast<size_t>(a.shape().Size()) * DTypeSize(a.dtype()));
  a.SyncCopyToCPU(bytes.data(), bytes.size());
  std::vector<T> values(static_cast<size_t>(a.shape().Size()));
  pointwise::LoadFn(a.dtype(), compute)(bytes.data(), values.data(), a.shape().Size());
  return values;
}

template <typename T, typename Weight>
std::vector<T> Counts(const std::vector<int64_t>& values, int64_t length, const Weight& weight) {
  std::vector<T> counts(static_cast<size_t>(length), T(0));
  for (size_t i = 0; i < values.size(); ++i) counts[static_cast<size_t>(values[i])] += weight(i);
  return counts;
}

void Write(const Attrs& attrs, const Context& ctx, int dtype, const void* counts, int compute, int64_t length, NDArray* out) {
  const Shape to({length});
  if (out->is_none()) out->Init(to, ctx, dtype);
  MXNET_CHECK_KIND(out->shape() == to && out->dtype() == dtype, Value)
      << "[" << attrs.op->name << "] out has shape " << out->shape() << " and dtype " << DTypeName(out->dtype()) << "; the result is " << to
      << " of " << DTypeName(dtype);
  std::vector<char> bytes(static_cast<size_t>(length) * DTypeSize(dtype));
  pointwise::StoreFn(dtype, compute)(counts, bytes.data(), length);
  out->SyncCopyFromCPU(bytes.data(), bytes.size());
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
  const std::vector<int64_t> values = Values<int64_t>(data, pointwise::kI64);
  int64_t length = p.minlength;
  for (int64_t v : values) {
    MXNET_CHECK_KIND(v >= 0 && v < int64_t{1} << 40, Value)
        << "[" << attrs.op->name << "] data holds " << v << "; accepted: whole numbers from 0 on, below 2^40";
    length = std::max(length, v + 1);
  }
  if (!p.has_weights) {
    const auto counts = Counts<int64_t>(values, length, [](size_t) { return int64_t{1}; });
    return Write(attrs, data.ctx(), CountType(data.dtype()), counts.data(), pointwise::kI64, length, out[0]);
  }
  const std::vector<double> weights = Values<double>(*in[1], pointwise::kF64);
  const auto sums = Counts<double>(values, length, [&](size_t i) { return weights[i]; });
  Write(attrs, data.ctx(), in[1]->dtype(), sums.data(), pointwise::kF64, length, out[0]);
}

MXNET_REGISTER_OP(_npi_bincount)
    .describe(
        "How often each number from 0 on occurs in a vector of integers: int32 for int32, else int64, or sums of weights in their dtype.")
    .set_param<BincountParam>()
    .set_inputs({"data", "weights"}, [](const Attrs& a) { return a.get<BincountParam>().has_weights ? 2 : 1; })
    .set_dtypes({kUint8, kInt8, kInt32, kInt64, kInt16, kUint16, kUint32, kUint64, kBool})
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
