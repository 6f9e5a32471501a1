// _sparse_retain: the rows with these numbers; all others become 0.
#include <algorithm>
#include <cstring>
#include <vector>

#include "operator/indexing/index_common.h"
#include "operator/matrix/move.h"
#include "operator/record/dtypes.h"
#include "operator/record/sparse_form.h"
#include "operator/sparse/gpu_groups.h"
#include "operator/sparse/gpu_parts.h"
#include "operator/sparse/sparse_values.h"

namespace mxnet {
namespace {

bool RetainShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  Shape all = (*in)[0];
  AssignShape(attrs, "output", &all, (*out)[0]);
  MXNET_CHECK_KIND(all.ndim() != 0, Value) << "[" << attrs.op->name << "] data has no dimensions, and so no rows";
  (*in)[0] = (*out)[0] = all;
  return all.known() && (*in)[1].known();
}

bool RetainType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "output", &(*out)[0], (*in)[0]);
  AssignType(attrs, "data", &(*in)[0], (*out)[0]);
  return (*in)[0] != kDTypeUnknown && (*in)[1] != kDTypeUnknown;
}

/* Ascending, each once. */
std::vector<int64_t> RowNumbers(KernelArgs& args) {
  const TBlob ids = sparse::AsDense(args, args.in[1]);
  std::vector<int64_t> rows(static_cast<size_t>(ids.Size()));
  ConvertElements(ids.dptr, ids.dtype, rows.data(), kInt64, ids.Size());
  const int64_t count = args.in[0].shape[0];
  for (size_t i = 0; i < rows.size(); ++i)
    MXNET_CHECK_KIND(rows[i] >= 0 && rows[i] < count, Index)
        << "[" << args.attrs->op->name << "] indices[" << i << "] is " << rows[i] << "; accepted: 0 to " << count - 1;
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

void RetainDense(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  const size_t bytes = args.out[0].Bytes() / static_cast<size_t>(args.out[0].shape[0]);
  std::memset(args.out[0].dptr, 0, args.out[0].Bytes());
  for (int64_t r : RowNumbers(args))
    std::memcpy(args.out[0].data<char>() + static_cast<size_t>(r) * bytes, args.in[0].data<char>() + static_cast<size_t>(r) * bytes, bytes);
}

/* The same on a GPU. */
sparse::NumberGroups RowNumbersOnDevice(KernelArgs& args) {
  const TBlob ids = sparse::AsDense(args, args.in[1]);
  const int64_t rows = std::max<int64_t>(args.in[0].shape[0], 1);
  const int64_t* const number = ReadIndicesInRange(args, ids, args.in[0].shape[0], IndexMode::kRaise);
  return sparse::GroupOnDevice(args, sparse::SortOnDevice(args, number, ids.Size(), rows));
}

void RetainDenseOnDevice(KernelArgs& args) {
  const TBlob &in = args.in[0], &out = args.out[0];
  if (args.req[0] == OpReq::kNull || out.Size() == 0) return;
  const int64_t n = args.in[1].Size(), row_bytes = static_cast<int64_t>(out.Bytes()) / out.shape[0];
  const int64_t* const number = ReadIndicesInRange(args, args.in[1], in.shape[0], IndexMode::kRaise);
  char* const rows = static_cast<char*>(args.workspace(static_cast<size_t>(std::max<int64_t>(n * row_bytes, 1))));
  sparse::GatherRows(args, in, number, n, rows);
  ZeroBytes(args.run, out.dptr, static_cast<int64_t>(out.Bytes()));
  sparse::SpreadRowsOnDevice(args, rows, number, n, row_bytes, out.dptr);
}

bool TakesRetain(const Attrs&, const StorageTypes& in, StorageTypes* out) {
  if (in[0] == StorageType::kRowSparse) return GiveStorage(&(*out)[0], StorageType::kRowSparse);
  return in[0] == StorageType::kDense && (*out)[0] == StorageType::kRowSparse;
}

/* As in 1.9.1, an array that stores no row gives one that stores none. */
bool StoresNone(const TBlob& in) { return in.sparse && in.sparse->stored() == 0; }

/* The rows that are asked for, stored or not. */
void Retain(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const std::vector<int64_t> rows = RowNumbers(args);
  SparseParts* const out = args.out[0].sparse;
  if (StoresNone(args.in[0])) return out->Resize(0);
  out->Resize(static_cast<int64_t>(rows.size()));
  std::copy(rows.begin(), rows.end(), out->index[SparseParts::kRows].data<int64_t>());
  sparse::GatherRows(args.in[0], rows.data(), out->stored(), out->values.data<char>());
}

void RetainOnDevice(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const sparse::NumberGroups rows = RowNumbersOnDevice(args);
  SparseParts* const out = args.out[0].sparse;
  if (StoresNone(args.in[0])) return out->Resize(0);
  sparse::StoreRowNumbersOnDevice(args, rows.ids, rows.count, out);
  sparse::GatherRows(args, args.in[0], rows.ids, rows.count, out->values.data<char>());
}

MXNET_REGISTER_OP(_sparse_retain)
    .describe(
        "The rows of data with these numbers; other rows are 0. Of a row_sparse array the result stores just these rows, or none "
        "where the array stores none. The numbers may come in any order, any shape and more than once.")
    .set_inputs({"data", "indices"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(RetainShape)
    .set_infer_type(RetainType)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return std::vector<NodeEntry>{MakeOp("_sparse_retain", {ograds[0], node->inputs[1]}), NodeEntry()};
    })
    .set_kernel([](KernelArgs& args) { args.run.ctx.is_gpu() ? RetainDenseOnDevice(args) : RetainDense(args); });
MXNET_REGISTER_SPARSE(_sparse_retain, TakesRetain).set_kernel(DeviceType::kCPU, Retain).set_kernel(DeviceType::kGPU, RetainOnDevice);

}  // namespace
}  // namespace mxnet
