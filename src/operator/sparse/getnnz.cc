// _contrib_getnnz: how many elements a csr matrix stores.
#include <algorithm>
#include <optional>

#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/sparse/graph.h"

namespace mxnet {
namespace {

struct GetNNZParam : public Parameter<GetNNZParam> {
  std::optional<int> axis;
  MXNET_DECLARE_PARAM(GetNNZParam) {
    MXNET_FIELD(axis).set_default(std::optional<int>()).describe("None: of the whole matrix; 0: of each column; 1: of each row.");
  }
};
MXNET_REGISTER_PARAM(GetNNZParam);

bool CountShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& data = (*in)[0];
  const std::optional<int> axis = attrs.get<GetNNZParam>().axis;
  MXNET_CHECK_KIND(!axis || axis.value() == 0 || axis.value() == 1, Value)
      << "[" << attrs.op->name << "] axis=" << axis.value() << "; accepted: None, 0 and 1";
  MXNET_CHECK_KIND(!data.ndim_known() || data.ndim() == 2, Value)
      << "[" << attrs.op->name << "] data has shape " << data << "; accepted: 2 dimensions";
  if (!axis)
    AssignShape(attrs, "output", &(*out)[0], Shape{1});
  else if (data.ndim_known())
    AssignShape(attrs, "output", &(*out)[0], Shape{data[1 - axis.value()]});
  return data.known();
}

bool CountType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "output", &(*out)[0], kInt64);
  return (*in)[0] != kDTypeUnknown;
}

void CountKernel(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  sparse::NeedStorages(args);
  const SparseParts& data = *args.in[0].sparse;
  const std::optional<int> axis = args.param<GetNNZParam>().axis;
  int64_t* const out = args.out[0].data<int64_t>();
  const int64_t* const indptr = data.index[SparseParts::kIndptr].data<int64_t>();
  if (!axis) {
    out[0] = data.stored();
  } else if (axis.value() == 1) {
    for (int64_t r = 0; r < data.shape[0]; ++r) out[r] = indptr[r + 1] - indptr[r];
  } else {
    std::fill_n(out, data.shape[1], 0);
    const int64_t* const column = data.index[SparseParts::kColumns].data<int64_t>();
    for (int64_t i = 0; i < data.stored(); ++i) ++out[column[i]];
  }
}

bool TakesCount(const Attrs&, const StorageTypes&, StorageTypes* out) {
  return GiveStorage(&(*out)[0], StorageType::kDense);
}

MXNET_REGISTER_OP(_contrib_getnnz)
    .describe("How many elements a csr matrix stores, zeros among them included, as int64: an array of one number, or one for each column or row.")
    .set_param<GetNNZParam>()
    .set_inputs({"data"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(CountShape)
    .set_infer_type(CountType)
    .set_zero_gradient()
    .set_kernel(sparse::RefuseDense);
MXNET_REGISTER_SPARSE(_contrib_getnnz, TakesCount).set_kernel(DeviceType::kCPU, CountKernel);

}  // namespace
}  // namespace mxnet
