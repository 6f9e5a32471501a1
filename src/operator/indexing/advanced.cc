// Indexing with one array: _npi_advanced_indexing takes entries of the first dimension, or what a
// mask chooses; _npi_boolean_mask_assign_* puts values where a mask is true. And whether two arrays
// share memory.
#include <algorithm>
#include <cstring>

#include "base/dtype.h"
#include "mxnet/ndarray.h"
#include "operator/indexing/host_values.h"
#include "operator/indexing/index.h"
#include "operator/init/fill.h"
#include "operator/matrix/axes.h"
#include "operator/matrix/move.h"
#include "operator/nodes/graph_operators.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/param.h"
#include "operator/runtime/array_call.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

// ---- advanced_indexing

void CheckIndexType(const Attrs& attrs, int dtype) {
  MXNET_CHECK_KIND(dtype == kDTypeUnknown || !IsFloating(dtype), Type)
      << "[" << attrs.op->name << "] indices are " << DTypeName(dtype) << "; accepted: integers and bool";
}

// The array seen with the dimensions that a mask covers as one.
Shape Covered(const Attrs& attrs, const Shape& data, const Shape& mask) {
  bool fits = mask.ndim() > 0 && mask.ndim() <= data.ndim();
  for (int i = 0; fits && i < mask.ndim(); ++i) fits = mask[i] == data[i];
  MXNET_CHECK_KIND(fits, Index) << "[" << attrs.op->name << "] a mask of shape " << mask << " for data of shape " << data
                                << "; its sizes must be the first of data's";
  std::vector<int64_t> dims = {mask.Size()};
  dims.insert(dims.end(), data.begin() + mask.ndim(), data.end());
  return Shape(dims);
}

// Positions in a dimension of that size: where a mask is true, or indices of which those that count
// from the end are put in range.
std::vector<int64_t> Positions(const Attrs& attrs, const NDArray& indices, int64_t size) {
  const int64_t n = indices.shape().Size();
  std::vector<int64_t> values(static_cast<size_t>(n));
  ConvertElements(HostValues(indices).at(), indices.dtype(), values.data(), kInt64, n);
  if (indices.dtype() == kBool) {
    std::vector<int64_t> chosen;
    for (int64_t i = 0; i < n; ++i)
      if (values[static_cast<size_t>(i)] != 0) chosen.push_back(i);
    return chosen;
  }
  for (int64_t& v : values) {
    MXNET_CHECK_KIND(v >= -size && v < size, Index)
        << "[" << attrs.op->name << "] index " << v << " is out of range; accepted: " << -size << " to " << size - 1;
    v += v < 0 ? size : 0;
  }
  return values;
}

void AdvancedIndexing(const Attrs& attrs, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool) {
  const NDArray &data = *in[0], &indices = *in[1];
  CheckIndexType(attrs, indices.dtype());
  MXNET_CHECK_KIND(data.shape().ndim() > 0, Value) << "[" << attrs.op->name << "] data has shape (); it needs at least 1 dimension";
  const bool mask = indices.dtype() == kBool;
  const Shape whole = mask ? Covered(attrs, data.shape(), indices.shape()) : data.shape();
  const std::vector<int64_t> positions = Positions(attrs, indices, whole[0]);
  std::vector<int64_t> to = {static_cast<int64_t>(positions.size())};
  if (!mask) to.assign(indices.shape().begin(), indices.shape().end());
  to.insert(to.end(), whole.begin() + 1, whole.end());
  if (out[0]->is_none()) out[0]->Init(Shape(to), data.ctx(), data.dtype());
  MXNET_CHECK_KIND(out[0]->shape() == Shape(to) && out[0]->dtype() == data.dtype(), Value)
      << "[" << attrs.op->name << "] out has shape " << out[0]->shape() << " and dtype " << DTypeName(out[0]->dtype()) << "; the result is "
      << Shape(to) << " of " << DTypeName(data.dtype());
  if (out[0]->shape().Size() == 0) return;
  NDArray checked(mask ? Shape({to[0]}) : indices.shape(), data.ctx(), kInt64);
  checked.CopyBytesFrom(positions.data(), positions.size() * sizeof(int64_t));
  RunOnArrays(MakeAttrs(Op::Get("take"), {{"mode", "clip"}}), {data.Detach().Reshape(whole), checked}, {OpReq::kWrite}, {*out[0]}, false);
}

// [ograd, indices, data] -> gradient of data
void AdvancedBack(const Attrs& attrs, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool) {
  const NDArray &ograd = *in[0], &indices = *in[1], &data = *in[2];
  if (out[0]->is_none()) out[0]->Init(data.shape(), ograd.ctx(), ograd.dtype());
  if (data.shape().Size() == 0) return;
  if (indices.dtype() == kBool) {
    const NDArray whole = out[0]->Detach().Reshape(Covered(attrs, data.shape(), indices.shape()));
    RunOnArrays(MakeAttrs(Op::Get("_backward_boolean_mask"), {}),
                {ograd.Detach(), data.Detach().Reshape(whole.shape()), indices.Detach().Reshape(Shape({indices.shape().Size()}))},
                {OpReq::kWrite}, {whole}, false);
    return;
  }
  RunOnArrays(MakeAttrs(Op::Get("_backward_take"), {{"mode", "wrap"}}), {ograd.Detach(), indices.Detach(), data.Detach()}, {OpReq::kWrite},
              {*out[0]}, false);
}

bool AdvancedShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  if (!(*in)[0].known() || !(*in)[1].known()) return false;
  MXNET_CHECK_KIND((*in)[0].ndim() > 0, Value) << "[" << attrs.op->name << "] data has shape (); it needs at least 1 dimension";
  return (*out)[0].known();
}

// The dtype of the result is that of the first input; indices are whole numbers.
bool IndexedType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "the result", &(*out)[0], (*in)[0]);
  CheckIndexType(attrs, (*in)[1]);
  for (int t : *in)
    if (t == kDTypeUnknown) return false;
  return true;
}

// ---- boolean_mask_assign

struct AssignParam : public Parameter<AssignParam> {
  int start_axis;
  MXNET_DECLARE_PARAM(AssignParam) {
    MXNET_FIELD(start_axis).set_default(0).describe("The dimension of data that the first of the mask stands for.");
  }
};
struct AssignScalarParam : public Parameter<AssignScalarParam> {
  float value;
  int start_axis;
  MXNET_DECLARE_PARAM(AssignScalarParam) {
    MXNET_FIELD(value).describe("The number that is put there.");
    MXNET_FIELD(start_axis).set_default(0).describe("The dimension of data that the first of the mask stands for.");
  }
};
MXNET_REGISTER_PARAM(AssignParam);
MXNET_REGISTER_PARAM(AssignScalarParam);

// data (outer, size, inner), where the mask says something of the size places in the middle.
struct Masked {
  int64_t outer, size, inner;
};
template <typename P>
Masked MaskedOf(const Attrs& attrs, const Shape& data, const Shape& mask) {
  const int start = attrs.get<P>().start_axis;
  bool fits = start >= 0 && start <= data.ndim() - mask.ndim();
  for (int i = 0; fits && i < mask.ndim(); ++i) fits = mask[i] == data[start + i];
  MXNET_CHECK_KIND(fits, Index) << "[" << attrs.op->name << "] a mask of shape " << mask << " from dimension " << start
                                << " on, for data of shape " << data << "; sizes must be equal";
  return {data.Prod(0, start), mask.Size(), data.Prod(start + mask.ndim(), data.ndim())};
}

template <typename P>
bool AssignedShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "the result", &(*out)[0], (*in)[0]);
  for (const Shape& s : *in)
    if (!s.known()) return false;
  MaskedOf<P>(attrs, (*in)[0], (*in)[1]);
  return true;
}

bool AssignedType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "the result", &(*out)[0], (*in)[0]);
  if (in->size() > 2) AssignType(attrs, "value", &(*in)[2], (*in)[0]);
  return (*in)[0] != kDTypeUnknown && (*in)[1] != kDTypeUnknown;
}

// out = full where the mask is not zero, else data. All three as data.
void Merge(KernelArgs& a, const Masked& m, const void* full) {
  const TBlob &mask = a.in[1], &out = a.out[0];
  const int64_t bytes = static_cast<int64_t>(DTypeSize(out.dtype));
  TBlob each = mask;
  if (m.outer > 1) {
    each.shape = Shape({m.outer, m.size});
    each.dptr = a.workspace(each.Bytes());
    const int64_t from[2] = {0, 1}, to[2] = {m.size, 1};
    CopyStrided(a.run, mask.dptr, from, each.dptr, to, each.shape.dims(), 2, DTypeSize(mask.dtype));
  }
  Select(a.run, each, full, a.in[0].dptr, out.dptr, m.outer * m.size, m.inner * bytes);
}

void AssignScalar(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull || a.out[0].Size() == 0) return;
  TBlob full = a.out[0];
  full.dptr = a.workspace(full.Bytes());
  FillValue(a.run, full, static_cast<double>(a.param<AssignScalarParam>().value));
  Merge(a, MaskedOf<AssignScalarParam>(*a.attrs, a.in[0].shape, a.in[1].shape), full.dptr);
}

// How many places before each one are chosen, and behind the last their number.
std::vector<int64_t> ChosenBefore(const TBlob& mask) {
  const int64_t n = mask.Size();
  std::vector<int64_t> before(static_cast<size_t>(n) + 1, 0);
  VisitDType(mask.dtype, "_npi_boolean_mask_assign_tensor", [&](auto tag) {
    using T = decltype(tag);
    for (int64_t i = 0; i < n; ++i) before[i + 1] = before[i] + (static_cast<float>(mask.data<T>()[i]) != 0.0f);
  });
  return before;
}

// Strides with which `value` is read as an array of shape `to`.
std::vector<int64_t> StridesIn(const Attrs& attrs, const Shape& value, const Shape& to) {
  std::vector<int64_t> own(value.ndim()), strides(to.ndim(), 0);
  RowMajorStrides(value, own.data());
  const int skipped = value.ndim() - to.ndim();
  bool fits = true;
  for (int i = 0; i < value.ndim(); ++i) {
    const int at = i - skipped;
    fits = fits && (value[i] == 1 || (at >= 0 && value[i] == to[at]));
    if (at >= 0 && value[i] != 1) strides[at] = own[i];
  }
  MXNET_CHECK_KIND(fits, Value) << "[" << attrs.op->name << "] value has shape " << value << "; the mask chooses " << to
                                << ", to which it must broadcast";
  return strides;
}

void AssignTensor(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull || a.out[0].Size() == 0) return;
  const TBlob &data = a.in[0], &mask = a.in[1], &value = a.in[2];
  const int start = a.param<AssignParam>().start_axis;
  const Masked m = MaskedOf<AssignParam>(*a.attrs, data.shape, mask.shape);
  const size_t bytes = DTypeSize(data.dtype);
  std::vector<int64_t> on_host;
  int64_t* before = nullptr;
  int64_t n = 0;
  if (a.run.ctx.is_gpu()) {
    before = CountChosenOnDevice(a, mask);
    rtc::ReadBack(a.run, before + m.size, &n, sizeof(n));
  } else {
    on_host = ChosenBefore(mask);
    n = on_host.back();
  }
  std::vector<int64_t> dims(data.shape.begin(), data.shape.begin() + start);
  dims.push_back(n);
  dims.insert(dims.end(), data.shape.begin() + start + mask.shape.ndim(), data.shape.end());
  TBlob chosen = data, full = data;
  chosen.shape = Shape(dims);
  const std::vector<int64_t> strides = StridesIn(*a.attrs, value.shape, chosen.shape);
  full.dptr = a.workspace(full.Bytes());
  if (n > 0) {
    chosen.dptr = a.workspace(chosen.Bytes());
    std::vector<int64_t> dense(dims.size());
    RowMajorStrides(chosen.shape, dense.data());
    CopyStrided(a.run, value.dptr, strides.data(), chosen.dptr, dense.data(), chosen.shape.dims(), chosen.shape.ndim(), bytes);
    const int64_t piece = m.inner * static_cast<int64_t>(bytes);
    if (before) {
      PutChosenOnDevice(a.run, chosen, before, m.outer, m.size, n, piece, full);
    } else {
      for (int64_t o = 0; o < m.outer; ++o)
        for (int64_t i = 0; i < m.size; ++i)
          if (on_host[i + 1] > on_host[i])
            std::memcpy(full.data<char>() + (o * m.size + i) * piece, chosen.data<char>() + (o * n + on_host[i]) * piece,
                        static_cast<size_t>(piece));
    }
  }
  Merge(a, m, full.dptr);
}

// ---- share_memory

void ShareMemory(const Attrs& attrs, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool) {
  auto end = [](const NDArray& a) { return a.byte_offset() + static_cast<size_t>(a.shape().Size()) * DTypeSize(a.dtype()); };
  const NDArray &a = *in[0], &b = *in[1];
  const bool shared =
      a.shape().Size() > 0 && b.shape().Size() > 0 && a.chunk() == b.chunk() && a.byte_offset() < end(b) && b.byte_offset() < end(a);
  if (out[0]->is_none()) out[0]->Init(Shape(std::vector<int64_t>()), a.ctx(), kBool);
  out[0]->CopyBytesFrom(&shared, sizeof(shared));
}

[[maybe_unused]] const bool registered = [] {
  Op::Register("_npi_advanced_indexing")
      .describe(
          "Entries of the first dimension at integer indices, of which negative ones count from the end; or those of the first dimensions "
          "that a boolean array chooses.")
      .set_inputs({"data", "indices"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(AdvancedShape)
      .set_infer_type(IndexedType)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{
            NodeEntry{MakeNode("_backward_npi_advanced_indexing", {ograds[0], node->inputs[1], node->inputs[0]}), 0, 0}, NodeEntry{}};
      })
      .set_array_fn(AdvancedIndexing);
  Op::Register("_backward_npi_advanced_indexing")
      .describe("Gradient of _npi_advanced_indexing.")
      .set_inputs({"ograd", "indices", "data"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(LikeInputsShape(2))
      .set_infer_type(IndexedType)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{MakeOp("_npi_advanced_indexing", {ograds[0], node->inputs[1]}), NodeEntry{}, NodeEntry{}};
      })
      .set_array_fn(AdvancedBack);
  Op::Register("_npi_boolean_mask_assign_scalar")
      .describe("data with a number where the mask is not zero.")
      .set_param<AssignScalarParam>()
      .set_inputs({"data", "mask"})
      .set_dtypes(dtypes::kAll)
      .set_inplace({{0, 0}})
      .set_infer_shape(AssignedShape<AssignScalarParam>)
      .set_infer_type(AssignedType)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        const std::string start = std::to_string(node->attrs->get<AssignScalarParam>().start_axis);
        return std::vector<NodeEntry>{
            MakeOp("_npi_boolean_mask_assign_scalar", {ograds[0], node->inputs[1]}, {{"value", "0"}, {"start_axis", start}}), NodeEntry{}};
      })
      .set_kernel(AssignScalar);
  Op::Register("_npi_boolean_mask_assign_tensor")
      .describe("data with the elements of value, broadcast to what the mask chooses, where the mask is not zero. Not differentiable.")
      .set_param<AssignParam>()
      .set_inputs({"data", "mask", "value"})
      .set_dtypes(dtypes::kAll)
      .set_inplace({{0, 0}})
      .set_infer_shape(AssignedShape<AssignParam>)
      .set_infer_type(AssignedType)
      .set_kernel(AssignTensor);
  Op::Register("_npi_share_memory")
      .describe("Whether two arrays have elements in the same memory, as a bool.")
      .set_inputs({"a", "b"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
        AssignShape(attrs, "the result", &(*out)[0], Shape(std::vector<int64_t>()));
        return (*in)[0].known() && (*in)[1].known();
      })
      .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
        AssignType(attrs, "the result", &(*out)[0], kBool);
        return (*in)[0] != kDTypeUnknown && (*in)[1] != kDTypeUnknown;
      })
      .set_zero_gradient()
      .set_array_fn(ShareMemory);
  return true;
}();

}  // namespace
}  // namespace mxnet
