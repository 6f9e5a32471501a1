// index_copy, index_array, arange_like: rows replaced by index, and arrays of positions.
#include <algorithm>
#include <cmath>

#include "base/threads/omp.h"
#include "mxnet/env.h"
#include "operator/indexing/index.h"
#include "operator/init/fill.h"
#include "operator/matrix/axes.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"

namespace mxnet {
namespace {

struct IndexArrayParam : public Parameter<IndexArrayParam> {
  std::optional<Shape> axes;
  MXNET_DECLARE_PARAM(IndexArrayParam) {
    MXNET_FIELD(axes).set_default(std::optional<Shape>()).describe("The dimensions whose indices are given; None gives all.");
  }
};

struct ArangeLikeParam : public Parameter<ArangeLikeParam> {
  double start, step;
  int repeat;
  std::string ctx;
  std::optional<int> axis;
  MXNET_DECLARE_PARAM(ArangeLikeParam) {
    MXNET_FIELD(start).set_default(0).describe("First value.");
    MXNET_FIELD(step).set_default(1).describe("Distance between values.");
    MXNET_FIELD(repeat).set_default(1).set_lower_bound(1).describe("How often each value stands in the result.");
    MXNET_FIELD(ctx).set_default("").describe("Device of the result; read by eager calls only.");
    MXNET_FIELD(axis)
        .set_default(std::optional<int>())
        .describe("Make a vector as long as this dimension; None makes an array of data's shape.");
  }
};

MXNET_REGISTER_PARAM(IndexArrayParam);
MXNET_REGISTER_PARAM(ArangeLikeParam);

bool IndexCopyShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "the result", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "old_tensor", &(*in)[0], (*out)[0]);
  const Shape &old = (*in)[0], &index = (*in)[1];
  if (!old.known() || !index.known()) return false;
  MXNET_CHECK_KIND(index.ndim() == 1 && old.ndim() > 0, Value)
      << "[" << attrs.op->name << "] index_vector has shape " << index << "; it must be a vector";
  Shape rows = old;
  rows[0] = index[0];
  AssignShape(attrs, "new_tensor", &(*in)[2], rows);
  return true;
}

void IndexCopy(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const TBlob& out = a.out[0];
  const int64_t* index = ReadIndicesInRange(a, a.in[1], out.shape[0], IndexMode::kRaise);
  CopyThrough(a);
  PutRows(a, a.in[2].dptr, 1, out.shape[0], out.shape.Prod(1, out.shape.ndim()), index, a.in[1].Size(), out);
}

bool BackwardIndexCopyShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "ograd", &(*in)[0], (*in)[1]);
  AssignShape(attrs, "old_tensor", &(*in)[1], (*in)[0]);
  ShapeVector forward(in->begin() + 1, in->end()), result = {(*in)[0]};
  const bool known = IndexCopyShape(attrs, &forward, &result);
  for (int i = 0; i < 3; ++i) {
    AssignShape(attrs, "an input", &(*in)[i + 1], forward[i]);
    AssignShape(attrs, "a gradient", &(*out)[i], forward[i]);
  }
  return known;
}

// The rows of ograd at index_vector are new_tensor's, of several for one place the last one's;
// old_tensor has no part in those.
void BackwardIndexCopy(KernelArgs& a) {
  const TBlob& ograd = a.in[0];
  const int64_t rows = ograd.shape[0], row = ograd.shape.Prod(1, ograd.shape.ndim()), count = a.in[2].Size();
  const int64_t* index = ReadIndicesInRange(a, a.in[2], rows, IndexMode::kRaise);
  if (a.req[0] != OpReq::kNull) {
    TBlob zeros = a.in[3];
    zeros.dptr = a.workspace(std::max<size_t>(zeros.Bytes(), 1));
    FillValue(a.run, zeros, 0);
    CopyThrough(a);
    PutRows(a, zeros.dptr, 1, rows, row, index, count, a.out[0]);
  }
  if (a.req[1] != OpReq::kNull) FillValue(a.run, a.out[1], 0);
  if (a.req[2] != OpReq::kNull) TakeKeptRows(a, ograd, 1, rows, row, index, count, a.out[2].dptr);
}

std::vector<int> IndexAxes(const Attrs& attrs, int ndim) {
  const auto& given = attrs.get<IndexArrayParam>().axes;
  std::vector<int> axes;
  if (given.has_value()) {
    for (int64_t a : given.value()) axes.push_back(CheckedAxis(attrs, a, ndim, "axes"));
  } else {
    for (int i = 0; i < ndim; ++i) axes.push_back(i);
  }
  return axes;
}

bool IndexArrayShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  std::vector<int64_t> dims(data.begin(), data.end());
  dims.push_back(static_cast<int64_t>(IndexAxes(attrs, data.ndim()).size()));
  AssignShape(attrs, "the result", &(*out)[0], Shape(dims));
  return data.known();
}

void IndexArray(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const Shape& s = a.in[0].shape;
  const std::vector<int> axes = IndexAxes(*a.attrs, s.ndim());
  const int64_t n = s.Size(), m = static_cast<int64_t>(axes.size());
  int64_t* out = a.out[0].data<int64_t>();
  if (a.run.ctx.is_gpu()) return IndexArrayOnDevice(a.run, s, axes, out);
  for (int64_t k = 0; k < m; ++k) {
    const int64_t size = s[axes[k]], inner = s.Prod(axes[k] + 1, s.ndim()), outer = n == 0 ? 0 : n / size / inner;
    const int64_t grain = std::max<int64_t>(1, Env::Get().cpu_parallel_size / std::max<int64_t>(size * inner, 1));
    ParallelFor(outer, grain, [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        int64_t* to = out + o * size * inner * m + k;
        for (int64_t i = 0; i < size; ++i)
          for (int64_t j = 0; j < inner; ++j, to += m) *to = i;
      }
    });
  }
}

bool ArangeLikeShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& axis = attrs.get<ArangeLikeParam>().axis;
  const Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  AssignShape(attrs, "the result", &(*out)[0], axis.has_value() ? Shape({data[CheckedAxis(attrs, axis.value(), data.ndim())]}) : data);
  return data.known();
}

[[maybe_unused]] const bool registered = [] {
  Op::Register("_contrib_index_copy")
      .describe("old_tensor with the rows at index_vector replaced by those of new_tensor.")
      .set_inputs({"old_tensor", "index_vector", "new_tensor"})
      .set_dtypes(dtypes::kAll)
      .set_inplace({{0, 0}})
      .set_infer_shape(IndexCopyShape)
      .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
        AssignType(attrs, "the result", &(*out)[0], (*in)[0]);
        AssignType(attrs, "new_tensor", &(*in)[2], (*in)[0]);
        return (*in)[0] != kDTypeUnknown && (*in)[1] != kDTypeUnknown;
      })
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        const NodePtr back = MakeNode("_contrib_backward_index_copy", {ograds[0], node->inputs[0], node->inputs[1], node->inputs[2]});
        return std::vector<NodeEntry>{{back, 0, 0}, NodeEntry{}, {back, 2, 0}};
      })
      .set_kernel(IndexCopy);
  Op::Register("_contrib_backward_index_copy")
      .describe("Gradients of _contrib_index_copy: of old_tensor, index_vector (zeros) and new_tensor.")
      .set_inputs({"ograd", "old_tensor", "index_vector", "new_tensor"})
      .set_dtypes(dtypes::kAll)
      .set_outputs({"old_tensor", "index_vector", "new_tensor"})
      .set_shape_only_from(3)
      .set_infer_shape(BackwardIndexCopyShape)
      .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
        for (int i : {0, 1, 3}) AssignType(attrs, "an array", &(*in)[i], (*in)[i == 0 ? 1 : 0]);
        for (int i = 0; i < 3; ++i) AssignType(attrs, "a gradient", &(*out)[i], (*in)[i + 1]);
        return (*in)[0] != kDTypeUnknown && (*in)[2] != kDTypeUnknown;
      })
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        // Of ograd, in which the kernel is linear: the rows at the indices from one, the others
        // from the other.
        const NodeEntry back = {MakeNode("_contrib_index_copy", {ograds[0], node->inputs[2], ograds[2]}), 0, 0};
        return std::vector<NodeEntry>{back, NodeEntry{}, NodeEntry{}, NodeEntry{}};
      })
      .set_kernel(BackwardIndexCopy);
  Op::Register("_contrib_index_array")
      .describe("The indices of every element, along a new last dimension, as int64.")
      .set_param<IndexArrayParam>()
      .set_inputs({"data"})
      .set_dtypes(dtypes::kAll)
      .set_shape_only_from(0)
      .set_infer_shape(IndexArrayShape)
      .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
        AssignType(attrs, "the result", &(*out)[0], kInt64);
        return (*in)[0] != kDTypeUnknown;
      })
      .set_zero_gradient()
      .set_kernel(IndexArray);
  Op::Register("_contrib_arange_like")
      .describe("A range as long as an array, or as one of its dimensions.")
      .alias("_npx_arange_like")
      .set_param<ArangeLikeParam>()
      .set_inputs({"data"})
      .set_dtypes(dtypes::kAll)
      .set_shape_only_from(0)
      .set_infer_shape(ArangeLikeShape)
      .set_zero_gradient()
      .set_kernel([](KernelArgs& a) {
        const auto& p = a.param<ArangeLikeParam>();
        const bool whole = !IsFloating(a.out[0].dtype);  // integers count in whole steps, as arange does
        if (a.req[0] != OpReq::kNull)
          FillRange(a.run, a.out[0], whole ? std::trunc(p.start) : p.start, whole ? std::trunc(p.step) : p.step, p.repeat);
      });
  return true;
}();

}  // namespace
}  // namespace mxnet
