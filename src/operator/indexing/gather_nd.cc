// gather_nd, scatter_nd, their assignment forms, index_add and index_update, and conversions
// between index tuples and flat indices.
#include <algorithm>

#include "operator/indexing/index.h"
#include "operator/matrix/axes.h"
#include "operator/matrix/move.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/param.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace {

struct ScatterParam : public Parameter<ScatterParam> {
  Shape shape;
  MXNET_DECLARE_PARAM(ScatterParam) { MXNET_FIELD(shape).describe("Shape of the result."); }
};

struct RavelParam : public Parameter<RavelParam> {
  Shape shape;
  MXNET_DECLARE_PARAM(RavelParam) {
    MXNET_FIELD(shape).set_default_none().describe("Shape of the array that is indexed; its first size is not needed and may be -1.");
  }
};

MXNET_REGISTER_PARAM(ScatterParam);
MXNET_REGISTER_PARAM(RavelParam);

// indices (m, rest...) address the first m dimensions of `data`; what is left of it is one piece.
void CheckIndices(const Attrs& attrs, const Shape& indices, const Shape& data) {
  MXNET_CHECK_KIND(indices.ndim() > 1, Value) << "[" << attrs.op->name << "] indices have shape " << indices
                                              << "; they need at least 2 dimensions";
  MXNET_CHECK_KIND(indices[0] <= data.ndim(), Value) << "[" << attrs.op->name << "] indices of shape " << indices << " address "
                                                     << indices[0] << " dimensions; the array has " << data.ndim();
}

Shape Gathered(const Shape& indices, const Shape& data) {
  std::vector<int64_t> dims(indices.begin() + 1, indices.end());
  dims.insert(dims.end(), data.begin() + indices[0], data.end());
  return Shape(dims);
}

int64_t* RoomForIndices(KernelArgs& a, int64_t n) {
  return static_cast<int64_t*>(a.workspace(static_cast<size_t>(std::max<int64_t>(n, 1)) * sizeof(int64_t)));
}

// Flat index of each piece. Negative indices count from the end; others out of range are refused.
const int64_t* FlatIndices(KernelArgs& a, const TBlob& indices, const Shape& data) {
  if (a.run.ctx.is_gpu()) return FlatIndicesOnDevice(a, indices, data);
  const int64_t m = indices.shape[0], n = indices.shape.Prod(1, indices.shape.ndim());
  const int64_t* in = ReadIndices(a, indices);
  int64_t* flat = RoomForIndices(a, n);
  if (FlattenIndices(in, m, n, data, true, flat)) return flat;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t d = 0; d < m; ++d) {
      const int64_t size = data[static_cast<int>(d)], given = in[d * n + i];
      MXNET_CHECK_KIND(given >= -size && given < size, Index)
          << "[" << a.attrs->op->name << "] index " << given << " is out of bounds for axis " << d << " with size " << size;
    }
  return flat;
}

struct Pieces {
  int64_t count, size;  // pieces of the addressed array; elements of each
};
Pieces PiecesOf(const Shape& data, const Shape& indices) {
  const int m = static_cast<int>(indices[0]);
  return {data.Prod(0, m), data.Prod(m, data.ndim())};
}

bool GatherShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  if (!(*in)[0].known() || !(*in)[1].known()) return false;
  CheckIndices(attrs, (*in)[1], (*in)[0]);
  AssignShape(attrs, "the result", &(*out)[0], Gathered((*in)[1], (*in)[0]));
  return true;
}

bool FirstType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "the result", &(*out)[0], (*in)[0]);
  AssignType(attrs, "data", &(*in)[0], (*out)[0]);
  for (int t : *in)
    if (t == kDTypeUnknown) return false;
  return true;
}

void GatherNd(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const Pieces p = PiecesOf(a.in[0].shape, a.in[1].shape);
  TakeRows(a.run, a.in[0], 1, p.count, p.size, FlatIndices(a, a.in[1], a.in[0].shape), a.in[1].shape.Prod(1, a.in[1].shape.ndim()),
           a.out[0].dptr);
}

// [ograd, indices, data] -> gradient of data
void GatherBack(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const Shape &data = a.out[0].shape, &indices = a.in[1].shape;
  const Pieces p = PiecesOf(data, indices);
  AddRows(a, a.in[0].dptr, 1, p.count, p.size, FlatIndices(a, a.in[1], data), indices.Prod(1, indices.ndim()), a.out[0]);
}

// Of several values for one place the last is kept.
void PutPieces(KernelArgs& a, const TBlob& values, const TBlob& indices) {
  const TBlob& out = a.out[0];
  const int64_t* flat = FlatIndices(a, indices, out.shape);
  const Pieces p = PiecesOf(out.shape, indices.shape);
  PutRows(a, values.dptr, 1, p.count, p.size, flat, indices.shape.Prod(1, indices.shape.ndim()), out);
}

// The pieces at the indices; zeros for those that PutPieces would not keep.
void TakeKeptPieces(KernelArgs& a, const TBlob& indices, const int64_t* flat) {
  const Pieces p = PiecesOf(a.in[0].shape, indices.shape);
  TakeKeptRows(a, a.in[0], 1, p.count, p.size, flat, indices.shape.Prod(1, indices.shape.ndim()), a.out[0].dptr);
}

void GatherKept(KernelArgs& a) {
  if (a.req[0] != OpReq::kNull) TakeKeptPieces(a, a.in[1], FlatIndices(a, a.in[1], a.in[0].shape));
}

bool ScatterShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& shape = attrs.get<ScatterParam>().shape;
  MXNET_CHECK_KIND(shape.known(), Value) << "[" << attrs.op->name << "] shape " << shape << "; sizes must not be negative";
  AssignShape(attrs, "the result", &(*out)[0], shape);
  if (!(*in)[1].known()) return false;
  CheckIndices(attrs, (*in)[1], shape);
  AssignShape(attrs, "data", &(*in)[0], Gathered((*in)[1], shape));
  return true;
}

void ScatterNd(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  ZeroBytes(a.run, a.out[0].dptr, static_cast<int64_t>(a.out[0].Bytes()));
  PutPieces(a, a.in[0], a.in[1]);
}

// [lhs, rhs, indices] -> lhs with pieces replaced by rhs
bool ScatterSetShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "the result", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "lhs", &(*in)[0], (*out)[0]);
  if (!(*in)[0].known() || !(*in)[2].known()) return false;
  CheckIndices(attrs, (*in)[2], (*in)[0]);
  AssignShape(attrs, "rhs", &(*in)[1], Gathered((*in)[2], (*in)[0]));
  return true;
}

bool ScatterSetType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "the result", &(*out)[0], (*in)[0]);
  AssignType(attrs, "rhs", &(*in)[1], (*in)[0]);
  return (*in)[0] != kDTypeUnknown && (*in)[2] != kDTypeUnknown;
}

void ScatterSet(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  CopyThrough(a);
  PutPieces(a, a.in[1], a.in[2]);
}

// ---- index_add and index_update: [a, ind, val], where val broadcasts to the pieces

// One row of indices may be given as a vector.
Shape Columns(const Attrs& attrs, const Shape& ind) {
  MXNET_CHECK_KIND(ind.ndim() > 0, Value) << "[" << attrs.op->name << "] ind has shape (); at least one dimension is needed";
  return ind.ndim() > 1 ? ind : Shape({1, ind[0]});
}

Shape AddressedPieces(const Attrs& attrs, const Shape& data, const Shape& ind) {
  const Shape columns = Columns(attrs, ind);
  CheckIndices(attrs, columns, data);
  return Gathered(columns, data);
}

bool IndexChangeShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "the result", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "a", &(*in)[0], (*out)[0]);
  const Shape &data = (*in)[0], &ind = (*in)[1], &val = (*in)[2];
  if (!data.known() || !ind.known() || !val.known()) return false;
  const Shape pieces = AddressedPieces(attrs, data, ind);
  MXNET_CHECK_KIND(val.ndim() <= pieces.ndim() && BroadcastShape(attrs.op->name, val, pieces) == pieces, Value)
      << "[" << attrs.op->name << "] val has shape " << val << "; it must broadcast to " << pieces << ", which ind addresses";
  return true;
}

void CheckIndexType(const Attrs& attrs, int ind) {
  MXNET_CHECK_KIND(ind == kDTypeUnknown || ind == kInt32 || ind == kInt64, Type)
      << "[" << attrs.op->name << "] ind is " << DTypeName(ind) << "; accepted: int32, int64";
}

bool IndexChangeType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "the result", &(*out)[0], (*in)[0]);
  AssignType(attrs, "a", &(*in)[0], (*out)[0]);
  AssignType(attrs, "val", &(*in)[2], (*in)[0]);
  CheckIndexType(attrs, (*in)[1]);
  return (*in)[0] != kDTypeUnknown && (*in)[1] != kDTypeUnknown;
}

// Flat indices of the pieces of `data`. Negative indices are refused, as the original does.
const int64_t* CheckedFlatIndices(KernelArgs& a, TBlob ind, const Shape& data) {
  ind.shape = Columns(*a.attrs, ind.shape);
  if (!a.run.ctx.is_gpu()) {
    const int64_t n = ind.shape.Prod(1, ind.shape.ndim());
    const int64_t* in = ReadIndices(a, ind);
    int64_t* flat = RoomForIndices(a, n);
    if (FlattenIndices(in, ind.shape[0], n, data, false, flat)) return flat;
  }
  for (int64_t d = 0; d < ind.shape[0]; ++d) {
    TBlob row = ind;
    row.shape = Shape({ind.shape.Prod(1, ind.shape.ndim())});
    row.dptr = static_cast<char*>(ind.dptr) + d * static_cast<int64_t>(row.Bytes());
    ReadIndicesInRange(a, row, data[static_cast<int>(d)], IndexMode::kRaise);
  }
  return FlatIndices(a, ind, data);
}

template <bool kAdd>
void IndexChange(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  CopyThrough(a);
  const TBlob &out = a.out[0], &ind = a.in[1];
  const Shape columns = Columns(*a.attrs, ind.shape), pieces = Gathered(columns, out.shape);
  if (pieces.Size() == 0) return;
  const void* val = RepeatedTo(a, a.in[2], pieces);
  const int64_t* flat = CheckedFlatIndices(a, ind, out.shape);
  const Pieces p = PiecesOf(out.shape, columns);
  const int64_t count = columns.Prod(1, columns.ndim());
  if (!kAdd) return PutRows(a, val, 1, p.count, p.size, flat, count, out);
  TBlob sums = out;
  sums.dptr = a.workspace(out.Bytes());
  AddRows(a, val, 1, p.count, p.size, flat, count, sums);
  const int64_t one = 1, size = out.Size();
  AddStrided(a.run, sums.dptr, &one, out.dptr, &one, &size, 1, out.dtype);
}

// [ograd, ind] -> the pieces of ograd
bool ChosenPiecesShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  if (!(*in)[0].known() || !(*in)[1].known()) return false;
  AssignShape(attrs, "the result", &(*out)[0], AddressedPieces(attrs, (*in)[0], (*in)[1]));
  return true;
}

void ChosenPieces(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull || a.out[0].Size() == 0) return;
  const Shape &data = a.in[0].shape, columns = Columns(*a.attrs, a.in[1].shape);
  const Pieces p = PiecesOf(data, columns);
  TakeRows(a.run, a.in[0], 1, p.count, p.size, CheckedFlatIndices(a, a.in[1], data), columns.Prod(1, columns.ndim()), a.out[0].dptr);
}

void KeptPieces(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull || a.out[0].Size() == 0) return;
  TBlob columns = a.in[1];
  columns.shape = Columns(*a.attrs, columns.shape);
  TakeKeptPieces(a, columns, CheckedFlatIndices(a, a.in[1], a.in[0].shape));
}

// The gradient of val, of which `back` gives the pieces; summed where it was repeated.
NodeEntry GradientOfVal(const char* back, const NodePtr& node, const NodeEntry& ograd) {
  return MakeOp("_sum_like", {MakeOp(back, {ograd, node->inputs[1]}), node->inputs[2]});
}

// ---- index tuples and flat indices; numbers in and out have the dtype of data

const Shape& RavelTarget(const Attrs& attrs) {
  const Shape& shape = attrs.get<RavelParam>().shape;
  MXNET_CHECK_KIND(shape.ndim() > 0, Value) << "[" << attrs.op->name << "] needs `shape` with at least one size";
  for (int i = 1; i < shape.ndim(); ++i)
    MXNET_CHECK_KIND(shape[i] > 0, Value) << "[" << attrs.op->name << "] shape " << shape << "; sizes behind the first must be positive";
  return shape;
}

bool RavelShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& target = RavelTarget(attrs);
  const Shape& data = (*in)[0];
  if (!data.known()) return false;
  MXNET_CHECK_KIND(data.ndim() == 2 && data[0] == target.ndim(), Value)
      << "[" << attrs.op->name << "] data has shape " << data << "; it must be (" << target.ndim() << ", n) for shape " << target;
  AssignShape(attrs, "the result", &(*out)[0], Shape({data[1]}));
  return true;
}

bool UnravelShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& target = RavelTarget(attrs);
  const Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  std::vector<int64_t> dims = {target.ndim()};
  dims.insert(dims.end(), data.begin(), data.end());
  AssignShape(attrs, "the result", &(*out)[0], Shape(dims));
  return data.known();
}

void Ravel(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const Shape& target = RavelTarget(*a.attrs);
  const int64_t n = a.out[0].Size();
  const int64_t* in = ReadIndices(a, a.in[0]);
  int64_t* flat = RoomForIndices(a, n);
  RavelIndices(a.run, target, in, n, flat);
  ConvertIndices(a.run, flat, a.out[0], n);
}

void Unravel(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const Shape& target = RavelTarget(*a.attrs);
  if (!a.run.ctx.is_gpu()) return UnravelIndices(target, a.in[0], a.out[0]);
  const int64_t* in = ReadIndices(a, a.in[0]);
  int64_t* tuple = static_cast<int64_t*>(a.workspace(static_cast<size_t>(std::max<int64_t>(a.out[0].Size(), 1)) * sizeof(int64_t)));
  UnravelIndicesOnDevice(a.run, target, in, a.in[0].Size(), tuple);
  ConvertIndices(a.run, tuple, a.out[0], a.out[0].Size());
}

MXNET_REGISTER_OP(gather_nd)
    .describe("Pieces of data that a column of indices addresses each; negative indices count from the end.")
    .alias("_npx_gather_nd")
    .alias("_npi_gather_nd")
    .alias("_npi_advanced_indexing_multiple")
    .set_trait(ReadsChosen{})
    .set_inputs({"data", "indices"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(GatherShape)
    .set_infer_type(FirstType)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return std::vector<NodeEntry>{
          NodeEntry{MakeNodeLike("_backward_gather_nd", *node, {ograds[0], node->inputs[1], node->inputs[0]}), 0, 0}, NodeEntry{}};
    })
    .set_kernel(GatherNd);

MXNET_REGISTER_OP(_backward_gather_nd)
    .describe("Gradient of gather_nd: sums of the gradient of the result by index.")
    .set_inputs({"ograd", "indices", "data"})
    .set_dtypes(dtypes::kAll)
    .set_shape_only_from(2)
    .set_infer_shape(LikeInputsShape(2))
    .set_infer_type(FirstType)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return std::vector<NodeEntry>{NodeEntry{MakeNodeLike("gather_nd", *node, {ograds[0], node->inputs[1]}), 0, 0}, NodeEntry{},
                                    NodeEntry{}};
    })
    .set_kernel(GatherBack);

MXNET_REGISTER_OP(scatter_nd)
    .describe("Zeros with pieces of data at the places that indices address. Of several pieces for one place the last is kept.")
    .set_param<ScatterParam>()
    .set_inputs({"data", "indices"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(ScatterShape)
    .set_infer_type(FirstType)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return std::vector<NodeEntry>{NodeEntry{MakeNodeLike("_backward_scatter_nd", *node, {ograds[0], node->inputs[1]}), 0, 0},
                                    NodeEntry{}};
    })
    .set_kernel(ScatterNd);

MXNET_REGISTER_OP(_backward_scatter_nd)
    .describe(
        "Gradient of the pieces that scatter_nd and _scatter_set_nd put into an array: the gradient of the result at the indices, and "
        "zeros for every piece that was not kept, as another one followed for the same place.")
    .set_param<ScatterParam>()
    .set_inputs({"ograd", "indices"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(GatherShape)
    .set_infer_type(FirstType)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      const NodeEntry &ograd = node->inputs[0], &indices = node->inputs[1];
      const NodePtr put = MakeNodeLike("_scatter_set_nd", *node, {MakeOp("zeros_like", {ograd}), ograds[0], indices});
      return std::vector<NodeEntry>{NodeEntry{put, 0, 0}, NodeEntry{}};
    })
    .set_kernel(GatherKept);

MXNET_REGISTER_OP(_scatter_set_nd)
    .describe("lhs with the pieces that indices address replaced by those of rhs.")
    .alias("_npi_scatter_set_nd")
    .set_param<ScatterParam>()
    .set_inputs({"lhs", "rhs", "indices"})
    .set_dtypes(dtypes::kAll)
    .set_inplace({{0, 0}})
    .set_infer_shape(ScatterSetShape)
    .set_infer_type(ScatterSetType)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      const NodeEntry &rhs = node->inputs[1], &indices = node->inputs[2];
      NodeEntry lhs{MakeNodeLike("_scatter_set_nd", *node, {ograds[0], MakeOp("zeros_like", {rhs}), indices}), 0, 0};
      NodeEntry pieces{MakeNodeLike("_backward_scatter_nd", *node, {ograds[0], indices}), 0, 0};
      return std::vector<NodeEntry>{lhs, pieces, NodeEntry{}};
    })
    .set_kernel(ScatterSet);

MXNET_REGISTER_OP(_npx_index_add)
    .describe(
        "a with val added to the elements, or pieces, that ind addresses; a place that ind names several times gets all of it.\n\n"
        "ind: int32 or int64 of shape (k, ...), whose columns are indices of the first k dimensions of a; none may be negative. "
        "val broadcasts to ind.shape[1:] + a.shape[k:] and has the dtype of a.")
    .set_inputs({"a", "ind", "val"})
    .set_dtypes(dtypes::kAll)
    .set_inplace({{0, 0}})
    .set_infer_shape(IndexChangeShape)
    .set_infer_type(IndexChangeType)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return std::vector<NodeEntry>{ograds[0], NodeEntry{}, GradientOfVal("_backward_index_add_val", node, ograds[0])};
    })
    .set_kernel(IndexChange<true>);

MXNET_REGISTER_OP(_npx_index_update)
    .describe(
        "a with the elements, or pieces, that ind addresses replaced by val; of several values for one place the last is kept.\n\n"
        "ind: int32 or int64 of shape (k, ...), whose columns are indices of the first k dimensions of a; none may be negative. "
        "val broadcasts to ind.shape[1:] + a.shape[k:] and has the dtype of a.")
    .set_inputs({"a", "ind", "val"})
    .set_dtypes(dtypes::kAll)
    .set_inplace({{0, 0}})
    .set_infer_shape(IndexChangeShape)
    .set_infer_type(IndexChangeType)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      const NodeEntry a{MakeNodeLike("_npx_index_update", *node, {ograds[0], node->inputs[1], MakeOp("zeros_like", {node->inputs[2]})}), 0,
                        0};
      return std::vector<NodeEntry>{a, NodeEntry{}, GradientOfVal("_backward_index_update_val", node, ograds[0])};
    })
    .set_kernel(IndexChange<false>);

MXNET_REGISTER_OP(_backward_index_add_val)
    .describe("The pieces of an array that ind addresses: the gradient of what index_add put there.")
    .set_inputs({"ograd", "ind"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(ChosenPiecesShape)
    .set_infer_type(FirstType)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return std::vector<NodeEntry>{MakeOp("_npx_index_add", {MakeOp("zeros_like", {node->inputs[0]}), node->inputs[1], ograds[0]}),
                                    NodeEntry{}};
    })
    .set_kernel(ChosenPieces);

MXNET_REGISTER_OP(_backward_index_update_val)
    .describe(
        "The pieces of an array that ind addresses, and zeros for each that another one followed for the same place: the gradient of "
        "what "
        "index_update put there.")
    .set_inputs({"ograd", "ind"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(ChosenPiecesShape)
    .set_infer_type(FirstType)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return std::vector<NodeEntry>{MakeOp("_npx_index_update", {MakeOp("zeros_like", {node->inputs[0]}), node->inputs[1], ograds[0]}),
                                    NodeEntry{}};
    })
    .set_kernel(KeptPieces);

MXNET_REGISTER_OP(_ravel_multi_index)
    .describe("Flat indices of an array of the given shape from columns of indices. Not checked against the shape.")
    .alias("ravel_multi_index")
    .set_param<RavelParam>()
    .set_inputs({"data"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(RavelShape)
    .set_zero_gradient()
    .set_kernel(Ravel);

MXNET_REGISTER_OP(_unravel_index)
    .describe("Columns of indices from flat indices of an array of the given shape.")
    .alias("unravel_index")
    .alias("_npi_unravel_index")
    .set_param<RavelParam>()
    .set_inputs({"data"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(UnravelShape)
    .set_zero_gradient()
    .set_kernel(Unravel);

}  // namespace
}  // namespace mxnet
