// take, batch_take, pick, one_hot and their relatives from the first releases.
#include "operator/indexing/take.h"

#include <algorithm>

#include "base/ran.h"
#include "operator/indexing/checked_indices.h"
#include "operator/indexing/index.h"
#include "operator/matrix/axes.h"
#include "operator/matrix/move.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/traits.h"

namespace mxnet {

MXNET_REGISTER_PARAM(TakeParam);

namespace {

struct PickParam : public Parameter<PickParam> {
  std::optional<int> axis;
  bool keepdims;
  int mode;
  MXNET_DECLARE_PARAM(PickParam) {
    MXNET_FIELD(axis).set_default(std::optional<int>(-1)).describe("The dimension of which one entry is picked.");
    MXNET_FIELD(keepdims).set_default(false).describe("Keep the dimension, with size 1.");
    MXNET_FIELD(mode)
        .set_default(static_cast<int>(IndexMode::kClip))
        .add_enum("clip", static_cast<int>(IndexMode::kClip))
        .add_enum("wrap", static_cast<int>(IndexMode::kWrap))
        .describe("Indices out of range: the nearest valid one, or counted around.");
  }
};

struct OneHotParam : public Parameter<OneHotParam> {
  int depth;
  double on_value, off_value;
  int dtype;
  MXNET_DECLARE_PARAM(OneHotParam) {
    MXNET_FIELD(depth).describe("Size of the new last dimension.");
    MXNET_FIELD(on_value).set_default(1).describe("Value at the index.");
    MXNET_FIELD(off_value).set_default(0).describe("Value elsewhere, and everywhere for an index out of range.");
    MXNET_DTYPE_FIELD(dtype).set_default(kFloat32).describe("Element type of the result.");
  }
};

MXNET_REGISTER_PARAM(PickParam);
MXNET_REGISTER_PARAM(OneHotParam);

// The dtype of the result is that of input `kData`; the others may have any.
template <int kData>
bool DataType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "the result", &(*out)[0], (*in)[kData]);
  AssignType(attrs, "data", &(*in)[kData], (*out)[0]);
  for (int t : *in)
    if (t == kDTypeUnknown) return false;
  return true;
}

// ---- take

bool TakeShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape &a = (*in)[0], &index = (*in)[1];
  if (!a.ndim_known() || !index.ndim_known()) return false;
  const int axis = CheckedAxis(attrs, attrs.get<TakeParam>().axis, a.ndim());
  std::vector<int64_t> dims(a.begin(), a.begin() + axis);
  dims.insert(dims.end(), index.begin(), index.end());
  dims.insert(dims.end(), a.begin() + axis + 1, a.end());
  AssignShape(attrs, "the result", &(*out)[0], Shape(dims));
  return a.known() && index.known();
}

void TakeKernel(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const auto& p = a.param<TakeParam>();
  const Shape& s = a.in[0].shape;
  const int axis = CheckedAxis(*a.attrs, p.axis, s.ndim());
  const int64_t* index = ReadIndicesInRange(a, a.in[1], s[axis], static_cast<IndexMode>(p.mode));
  Ran("copies of rows", RanAt::kNone);
  TakeRows(a.run, a.in[0], s.Prod(0, axis), s[axis], s.Prod(axis + 1, s.ndim()), index, a.in[1].Size(), a.out[0].dptr);
}

// [ograd, indices, a] -> gradient of a
void TakeBackward(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const auto& p = a.param<TakeParam>();
  const Shape& s = a.out[0].shape;
  const int axis = CheckedAxis(*a.attrs, p.axis, s.ndim());
  const int64_t* index = ReadIndicesInRange(a, a.in[1], s[axis], static_cast<IndexMode>(p.mode));
  AddRows(a, a.in[0].dptr, s.Prod(0, axis), s[axis], s.Prod(axis + 1, s.ndim()), index, a.in[1].Size(), a.out[0]);
}

// Forward f(data, index) and backward b(ograd, index, data) are each other's gradient.
GradientFn ToBackward(const char* backward) {
  return [backward](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
    return std::vector<NodeEntry>{NodeEntry{MakeNodeLike(backward, *node, {ograds[0], node->inputs[1], node->inputs[0]}), 0, 0},
                                  NodeEntry{}};
  };
}
GradientFn ToForward(const char* forward) {
  return [forward](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
    return std::vector<NodeEntry>{NodeEntry{MakeNodeLike(forward, *node, {ograds[0], node->inputs[1]}), 0, 0}, NodeEntry{}, NodeEntry{}};
  };
}

// ---- pick

int PickAxis(const Attrs& attrs, int ndim) {
  const auto& axis = attrs.get<PickParam>().axis;
  MXNET_CHECK_KIND(axis.has_value(), Value) << "[" << attrs.op->name << "] axis=None; it must be a dimension";
  return CheckedAxis(attrs, axis.value(), ndim);
}

bool PickShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  const int axis = PickAxis(attrs, data.ndim());
  Shape kept = data;
  kept[axis] = 1;
  std::vector<int64_t> dims(data.begin(), data.end());
  dims.erase(dims.begin() + axis);
  if (dims.empty() && (*in)[1].ndim() != 0) dims.push_back(1);  // one entry is an array of one, as in 1.x and 2.0
  const bool keep = attrs.get<PickParam>().keepdims;
  AssignShape(attrs, "the result", &(*out)[0], keep ? kept : Shape(dims));
  Shape& index = (*in)[1];
  if (index.ndim_known() && index.ndim() == kept.ndim())
    AssignShape(attrs, "index", &index, kept);
  else
    AssignShape(attrs, "index", &index, Shape(dims));
  return data.known();
}

void PickKernel(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const Shape& s = a.in[0].shape;
  const int axis = PickAxis(*a.attrs, s.ndim());
  const int64_t* index = ReadIndicesInRange(a, a.in[1], s[axis], static_cast<IndexMode>(a.param<PickParam>().mode));
  PickEntries(a.run, a.in[0], s.Prod(0, axis), s[axis], s.Prod(axis + 1, s.ndim()), index, a.out[0].dptr);
}

void PickBackward(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const Shape& s = a.out[0].shape;
  const int axis = PickAxis(*a.attrs, s.ndim());
  const int64_t* index = ReadIndicesInRange(a, a.in[1], s[axis], static_cast<IndexMode>(a.param<PickParam>().mode));
  ZeroBytes(a.run, a.out[0].dptr, static_cast<int64_t>(a.out[0].Bytes()));
  PutEntries(a.run, a.in[0].dptr, s.Prod(0, axis), s[axis], s.Prod(axis + 1, s.ndim()), index, a.out[0]);
}

// ---- batch_take: one entry of each row

bool BatchTakeShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& data = (*in)[0];
  if (MergeShape(&(*out)[0], (*in)[1]) == false) AssignShape(attrs, "the result", &(*out)[0], (*in)[1]);
  AssignShape(attrs, "indices", &(*in)[1], (*out)[0]);
  if (!data.known() || !(*in)[1].known()) return false;
  MXNET_CHECK_KIND(data.ndim() > 0 && data.Prod(0, data.ndim() - 1) == (*in)[1].Size(), Value)
      << "[" << attrs.op->name << "] a has shape " << data << ", indices " << (*in)[1] << "; there must be one index for each row of a";
  return true;
}

bool BatchTakeType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "indices", &(*in)[1], kInt32);
  AssignType(attrs, "the result", &(*out)[0], (*in)[0]);
  return (*in)[0] != kDTypeUnknown;
}

void BatchTake(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const Shape& s = a.in[0].shape;
  const int64_t width = s[s.ndim() - 1];
  PickEntries(a.run, a.in[0], s.Prod(0, s.ndim() - 1), width, 1, ReadIndicesInRange(a, a.in[1], width, IndexMode::kClip), a.out[0].dptr);
}

void BatchTakeBackward(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const Shape& s = a.out[0].shape;
  const int64_t width = s[s.ndim() - 1];
  const int64_t* index = ReadIndicesInRange(a, a.in[1], width, IndexMode::kClip);
  ZeroBytes(a.run, a.out[0].dptr, static_cast<int64_t>(a.out[0].Bytes()));
  PutEntries(a.run, a.in[0].dptr, s.Prod(0, s.ndim() - 1), width, 1, index, a.out[0]);
}

// ---- fill_element_0index: lhs with lhs[i][rhs[i]] = mhs[i]

bool FillElementShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "the result", &(*out)[0], (*in)[0]);
  const Shape& lhs = (*in)[0];
  if (!lhs.known()) return false;
  MXNET_CHECK_KIND(lhs.ndim() == 2, Value) << "[" << attrs.op->name << "] lhs has shape " << lhs << "; it needs 2 dimensions";
  AssignShape(attrs, "mhs", &(*in)[1], Shape({lhs[0]}));
  AssignShape(attrs, "rhs", &(*in)[2], Shape({lhs[0]}));
  return true;
}

bool FillElementType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "the result", &(*out)[0], (*in)[0]);
  AssignType(attrs, "mhs", &(*in)[1], (*in)[0]);
  return (*in)[0] != kDTypeUnknown && (*in)[2] != kDTypeUnknown;
}

void FillElement(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const Shape& s = a.in[0].shape;
  const int64_t* index = ReadIndicesInRange(a, a.in[2], s[1], IndexMode::kRaise);
  CopyThrough(a);
  PutEntries(a.run, a.in[1].dptr, s[0], s[1], 1, index, a.out[0]);
}

// ---- one_hot

bool OneHotShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const int depth = attrs.get<OneHotParam>().depth;
  MXNET_CHECK_KIND(depth >= 0, Value) << "[" << attrs.op->name << "] depth=" << depth << "; must not be negative";
  const Shape& index = (*in)[0];
  if (!index.ndim_known()) return false;
  std::vector<int64_t> dims(index.begin(), index.end());
  dims.push_back(depth);
  AssignShape(attrs, "the result", &(*out)[0], Shape(dims));
  return index.known();
}

void OneHot(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const auto& p = a.param<OneHotParam>();
  FillOneHot(a, a.out[0], a.in[0], p.depth, p.on_value, p.off_value);
}

// The array to fill gives width and dtype: _onehot_encode(indices, out).
bool OneHotEncodeShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "the result", &(*out)[0], (*in)[1]);
  const Shape& to = (*in)[1];
  if (!to.known()) return false;
  MXNET_CHECK_KIND(to.ndim() == 2, Value) << "[" << attrs.op->name << "] rhs has shape " << to << "; it needs 2 dimensions";
  AssignShape(attrs, "lhs", &(*in)[0], Shape({to[0]}));
  return true;
}

void OneHotEncode(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  FillOneHot(a, a.out[0], a.in[0], a.out[0].shape[1], 1, 0);
}

// What MXNET_CHECK_INDICES accepts.
IndexRange TakeRange(const KernelArgs& a) {
  const Shape& s = a.in[0].shape;
  IndexRange range{s[CheckedAxis(*a.attrs, a.param<TakeParam>().axis, s.ndim())]};
  const auto mode = static_cast<IndexMode>(a.param<TakeParam>().mode);
  range.any = mode == IndexMode::kWrap || mode == IndexMode::kFromEnd;  // which looks itself
  return range;
}
IndexRange PickRange(const KernelArgs& a) {
  IndexRange range{a.in[0].shape[PickAxis(*a.attrs, a.in[0].shape.ndim())]};
  range.any = static_cast<IndexMode>(a.param<PickParam>().mode) == IndexMode::kWrap;
  return range;
}

MXNET_REGISTER_OP(take)
    .describe("Entries of one dimension at given indices.")
    .alias("_npi_take")
    .set_trait(ReadsChosen{})
    .set_param<TakeParam>()
    .set_inputs({"a", "indices"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(TakeShape)
    .set_infer_type(DataType<0>)
    .set_gradient(ToBackward("_backward_take"))
    .set_kernel(WithCheckedIndices(1, TakeRange, TakeKernel));

MXNET_REGISTER_OP(_backward_take)
    .describe("Gradient of take: sums of the gradient of the result by index.")
    .set_param<TakeParam>()
    .set_inputs({"ograd", "indices", "a"})
    .set_dtypes(dtypes::kAll)
    .set_shape_only_from(2)
    .set_infer_shape(LikeInputsShape(2))
    .set_infer_type(DataType<0>)
    .set_gradient(ToForward("take"))
    .set_kernel(TakeBackward);

MXNET_REGISTER_OP(pick)
    .describe("One entry along a dimension for each index of the others.")
    .alias("choose_element_0index")
    .alias("_npx_pick")
    .set_trait(ReadsChosen{})
    .set_param<PickParam>()
    .set_inputs({"data", "index"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(PickShape)
    .set_infer_type(DataType<0>)
    .set_gradient(ToBackward("_backward_pick"))
    .set_kernel(WithCheckedIndices(1, PickRange, PickKernel));

MXNET_REGISTER_OP(_backward_pick)
    .describe("Gradient of pick.")
    .set_param<PickParam>()
    .set_inputs({"ograd", "index", "data"})
    .set_dtypes(dtypes::kAll)
    .set_shape_only_from(2)
    .set_infer_shape(LikeInputsShape(2))
    .set_infer_type(DataType<0>)
    .set_gradient(ToForward("pick"))
    .set_kernel(PickBackward);

MXNET_REGISTER_OP(batch_take)
    .describe("One entry of each row; indices out of range take the nearest.")
    .set_trait(ReadsChosen{})
    .set_inputs({"a", "indices"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(BatchTakeShape)
    .set_infer_type(BatchTakeType)
    .set_gradient(ToBackward("_backward_batch_take"))
    .set_kernel(WithCheckedIndices(
        1, [](const KernelArgs& a) { return IndexRange{a.in[0].shape[a.in[0].shape.ndim() - 1]}; }, BatchTake));

MXNET_REGISTER_OP(_backward_batch_take)
    .describe("Gradient of batch_take.")
    .set_inputs({"ograd", "indices", "a"})
    .set_dtypes(dtypes::kAll)
    .set_shape_only_from(2)
    .set_infer_shape(LikeInputsShape(2))
    .set_infer_type(BatchTakeType)
    .set_gradient(ToForward("batch_take"))
    .set_kernel(BatchTakeBackward);

MXNET_REGISTER_OP(fill_element_0index)
    .describe("lhs with the entry rhs[i] of row i replaced by mhs[i].")
    .set_inputs({"lhs", "mhs", "rhs"})
    .set_dtypes(dtypes::kAll)
    .set_inplace({{0, 0}})
    .set_infer_shape(FillElementShape)
    .set_infer_type(FillElementType)
    .set_zero_gradient()
    .set_kernel(FillElement);

MXNET_REGISTER_OP(one_hot)
    .describe("on_value at the index and off_value elsewhere, along a new last dimension.")
    .alias("_npx_one_hot")
    .set_param<OneHotParam>()
    .set_inputs({"indices"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(OneHotShape)
    .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
      AssignType(attrs, "the result", &(*out)[0], attrs.get<OneHotParam>().dtype);
      return (*in)[0] != kDTypeUnknown;
    })
    .set_zero_gradient()
    .set_kernel(WithCheckedIndices(
        0, [](const KernelArgs& a) { return IndexRange{a.param<OneHotParam>().depth}; }, OneHot));

MXNET_REGISTER_OP(_onehot_encode)
    .describe("Rows of zeros with a one at the index, as large as rhs.")
    .set_inputs({"lhs", "rhs"})
    .set_dtypes(dtypes::kAll)
    .set_inplace({{1, 0}})
    .set_infer_shape(OneHotEncodeShape)
    .set_infer_type(DataType<1>)
    .set_zero_gradient()
    .set_kernel(WithCheckedIndices(
        0, [](const KernelArgs& a) { return IndexRange{a.out[0].shape[1]}; }, OneHotEncode));

}  // namespace
}  // namespace mxnet
