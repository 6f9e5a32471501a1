// _contrib_edge_id: the data of single elements of a csr matrix.
#include <algorithm>

#include "base/dtype.h"
#include "operator/indexing/index_common.h"
#include "operator/record/dtypes.h"
#include "operator/sparse/graph.h"

namespace mxnet {
namespace {

bool EdgeShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& graph = (*in)[0];
  MXNET_CHECK_KIND(!graph.ndim_known() || graph.ndim() == 2, Value)
      << "[" << attrs.op->name << "] data has shape " << graph << "; accepted: 2 dimensions";
  AssignShape(attrs, "u", &(*in)[1], (*in)[2]);
  AssignShape(attrs, "v", &(*in)[2], (*in)[1]);
  const Shape& u = (*in)[1];
  MXNET_CHECK_KIND(!u.ndim_known() || u.ndim() == 1, Value)
      << "[" << attrs.op->name << "] u has shape " << u << "; accepted: one dimension";
  AssignShape(attrs, "output", &(*out)[0], u);
  return graph.known() && u.known();
}

bool EdgeType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "output", &(*out)[0], (*in)[0]);
  AssignType(attrs, "data", &(*in)[0], (*out)[0]);
  return std::none_of(in->begin(), in->end(), [](int t) { return t == kDTypeUnknown; });
}

void EdgeKernel(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  sparse::NeedStorages(args);
  const SparseParts& graph = *args.in[0].sparse;
  graph.NeedAscending("_contrib_edge_id");
  const int64_t *u = ReadIndices(args, args.in[1]), *v = ReadIndices(args, args.in[2]), n = args.in[1].Size();
  const int64_t* const indptr = graph.index[SparseParts::kIndptr].data<int64_t>();
  const int64_t* const column = graph.index[SparseParts::kColumns].data<int64_t>();
  VisitDType(graph.values.dtype, "_contrib_edge_id", [&](auto tag) {
    using T = decltype(tag);
    const T* const values = graph.values.data<T>();
    T* const out = args.out[0].data<T>();
    for (int64_t i = 0; i < n; ++i) {
      out[i] = static_cast<T>(-1);
      if (u[i] < 0 || u[i] >= graph.shape[0]) continue;
      const int64_t *begin = column + indptr[u[i]], *end = column + indptr[u[i] + 1], *at = std::lower_bound(begin, end, v[i]);
      if (at != end && *at == v[i]) out[i] = values[at - column];
    }
  });
}

bool TakesEdges(const Attrs&, const StorageTypes&, StorageTypes* out) {
  return GiveStorage(&(*out)[0], StorageType::kDense);
}

MXNET_REGISTER_OP(_contrib_edge_id)
    .describe("Elements data[u[i], v[i]] of a csr matrix, -1 where none is stored: the numbers of edges of a graph.")
    .set_inputs({"data", "u", "v"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(EdgeShape)
    .set_infer_type(EdgeType)
    .set_zero_gradient()
    .set_kernel(sparse::RefuseDense);
MXNET_REGISTER_SPARSE(_contrib_edge_id, TakesEdges).set_kernel(DeviceType::kCPU, EdgeKernel);

}  // namespace
}  // namespace mxnet
