// NumPy's indexing with integer arrays as one operator: k arrays, which are broadcast together,
// address k neighbouring dimensions of data. What else a key may hold is slicing and transposing.
#include <algorithm>

#include "base/threads/omp.h"
#include "operator/indexing/index.h"
#include "operator/matrix/axes.h"
#include "operator/matrix/move.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/param.h"

namespace mxnet {
namespace {

struct IndexAxesParam : public Parameter<IndexAxesParam> {
  int axis, num_args;
  MXNET_DECLARE_PARAM(IndexAxesParam) {
    MXNET_FIELD(axis).set_default(0).set_lower_bound(0).describe("The first dimension that is addressed.");
    MXNET_FIELD(num_args).set_lower_bound(2).describe("Number of inputs.");
  }
};
MXNET_REGISTER_PARAM(IndexAxesParam);

int Axis(const Attrs& attrs) { return attrs.get<IndexAxesParam>().axis; }

// The shape that the index arrays, inputs `first` and behind, have together; unknown while one is.
Shape Block(const Attrs& attrs, const ShapeVector& in, size_t first) {
  MXNET_CHECK_KIND(in.size() > first, Value) << "[" << attrs.op->name << "] got " << in.size() << " arrays; accepted: " << first + 1
                                             << " or more, the last of them indices";
  Shape block(0);
  for (size_t i = first; i < in.size(); ++i) {
    if (!in[i].known()) return Shape();
    block = BroadcastShape(attrs.op->name, block, in[i]);
  }
  return block;
}

Shape Addressed(const Attrs& attrs, const Shape& data, const Shape& block, int arrays) {
  const int axis = Axis(attrs), ndim = data.ndim();
  MXNET_CHECK_KIND(axis <= ndim - arrays, Value)
      << "[" << attrs.op->name << "] " << arrays << " index arrays from dimension " << axis << " on; the array has " << ndim;
  std::vector<int64_t> dims(data.begin(), data.begin() + axis);
  dims.insert(dims.end(), block.begin(), block.end());
  dims.insert(dims.end(), data.begin() + axis + arrays, data.end());
  return Shape(dims);
}

// The shape of the pieces that inputs `first` and behind address in `data`; unknown while one is.
Shape Pieces(const Attrs& attrs, const ShapeVector& in, const Shape& data, size_t first) {
  if (!data.known()) return Shape();
  const Shape block = Block(attrs, in, first);
  return block.known() ? Addressed(attrs, data, block, static_cast<int>(in.size() - first)) : Shape();
}

// data as (outer, size, inner): `index` has `num` places in the middle.
struct Places {
  int64_t outer, size, inner, num;
  const int64_t* index;
};

template <typename Inputs>
ShapeVector ShapesOf(const Inputs& in) {
  ShapeVector shapes;
  for (int i = 0; i < in.size(); ++i) shapes.push_back(in[i].shape);
  return shapes;
}

const int64_t* FlattenOnHost(KernelArgs& a, const std::vector<const int64_t*>& columns, const int64_t* sizes, int64_t num) {
  int64_t* flat = static_cast<int64_t*>(a.workspace(static_cast<size_t>(std::max<int64_t>(num, 1)) * sizeof(int64_t)));
  const int axis = Axis(*a.attrs);
  for (size_t d = 0; d < columns.size(); ++d) {
    const int64_t* column = columns[d];
    const int64_t size = sizes[d];
    const bool first = d == 0;
    ParallelFor(num, 0, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t given = column[i], index = given < 0 ? given + size : given;
        MXNET_CHECK_KIND(index >= 0 && index < size, Index)
            << "[" << a.attrs->op->name << "] index " << given << " is out of bounds for axis " << axis + static_cast<int>(d)
            << " with size " << size;
        flat[i] = first ? index : flat[i] * size + index;
      }
    });
  }
  return flat;
}

const int64_t* FlattenOnDevice(KernelArgs& a, const std::vector<const int64_t*>& columns, const Shape& sizes, int64_t num) {
  const int64_t k = static_cast<int64_t>(columns.size()), bytes = num * static_cast<int64_t>(sizeof(int64_t));
  TBlob table;
  table.dtype = kInt64;
  table.shape = Shape({k, num});
  if (k == 1) {
    table.dptr = const_cast<int64_t*>(columns[0]);
  } else {
    table.dptr = a.workspace(static_cast<size_t>(std::max<int64_t>(k * bytes, 1)));
    for (int64_t d = 0; d < k; ++d) CopyBytes(a.run, columns[static_cast<size_t>(d)], static_cast<char*>(table.dptr) + d * bytes, bytes);
  }
  return FlatIndicesOnDevice(a, table, sizes, Axis(*a.attrs));
}

// Inputs `first` and behind as places in an array of shape `data`. Negative indices count from the
// end; others out of range are refused.
Places PlacesOf(KernelArgs& a, const Shape& data, int first) {
  const int k = a.in.size() - first, axis = Axis(*a.attrs);
  const Shape block = Block(*a.attrs, ShapesOf(a.in), static_cast<size_t>(first));
  std::vector<const int64_t*> columns;
  for (int i = first; i < a.in.size(); ++i) {
    TBlob numbers = a.in[i];
    numbers.dptr = const_cast<int64_t*>(ReadIndices(a, a.in[i]));
    numbers.dtype = kInt64;
    columns.push_back(static_cast<const int64_t*>(RepeatedTo(a, numbers, block)));
  }
  const Shape sizes(std::vector<int64_t>(data.begin() + axis, data.begin() + axis + k));
  const int64_t num = block.Size();
  return {data.Prod(0, axis), sizes.Size(), data.Prod(axis + k, data.ndim()), num,
          a.run.ctx.is_gpu() ? FlattenOnDevice(a, columns, sizes, num) : FlattenOnHost(a, columns, sizes.begin(), num)};
}

bool DataType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "the result", &(*out)[0], (*in)[0]);
  AssignType(attrs, "data", &(*in)[0], (*out)[0]);
  return std::find(in->begin(), in->end(), kDTypeUnknown) == in->end();
}

// ---- [data, index...]

bool IndexShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape result = Pieces(attrs, *in, (*in)[0], 1);
  if (!result.known()) return false;
  AssignShape(attrs, "the result", &(*out)[0], result);
  return true;
}

void Index(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const Places p = PlacesOf(a, a.in[0].shape, 1);
  TakeRows(a.run, a.in[0], p.outer, p.size, p.inner, p.index, p.num, a.out[0].dptr);
}

// ---- [ograd of _index_axes_assign, index...] -> gradient of value before broadcasting

void AssignBack(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const Places p = PlacesOf(a, a.in[0].shape, 1);
  TakeKeptRows(a, a.in[0], p.outer, p.size, p.inner, p.index, p.num, a.out[0].dptr);
}

// ---- [ograd, data, index...] -> gradient of data

void IndexBack(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const Places p = PlacesOf(a, a.out[0].shape, 2);
  AddRows(a, a.in[0].dptr, p.outer, p.size, p.inner, p.index, p.num, a.out[0]);
}

// ---- [data, value, index...] -> data with other values at the places

bool AssignedShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "the result", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "data", &(*in)[0], (*out)[0]);
  const Shape pieces = Pieces(attrs, *in, (*in)[0], 2);
  const Shape& value = (*in)[1];
  if (!pieces.known() || !value.known()) return false;
  MXNET_CHECK_KIND(value.ndim() <= pieces.ndim() && BroadcastShape(attrs.op->name, value, pieces) == pieces, Value)
      << "[" << attrs.op->name << "] value has shape " << value << "; it must broadcast to " << pieces;
  return true;
}

bool AssignedType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "value", &(*in)[1], (*in)[0]);
  return DataType(attrs, in, out);
}

// The values, which must not change while the array is written: x[key] = x reads what it writes.
const void* ApartFrom(KernelArgs& a, const TBlob& array, const void* values, int64_t bytes) {
  const char *from = static_cast<const char*>(values), *to = array.data<char>();
  if (from + bytes <= to || to + array.Bytes() <= from) return values;
  void* copy = a.workspace(static_cast<size_t>(bytes));
  CopyBytes(a.run, values, copy, bytes);
  return copy;
}

void Assign(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const Shape pieces = Pieces(*a.attrs, ShapesOf(a.in), a.out[0].shape, 2);
  const int64_t bytes = pieces.Size() * static_cast<int64_t>(DTypeSize(a.out[0].dtype));
  const void* values = ApartFrom(a, a.out[0], RepeatedTo(a, a.in[1], pieces), bytes);
  const Places p = PlacesOf(a, a.out[0].shape, 2);
  CopyThrough(a);
  if (pieces.Size() > 0) PutRows(a, values, p.outer, p.size, p.inner, p.index, p.num, a.out[0]);
}

std::vector<NodeEntry> Indices(const NodePtr& node, size_t first) {
  std::vector<NodeEntry> indices;
  for (size_t i = first; i < static_cast<size_t>(node->num_inputs()); ++i) indices.push_back(node->inputs[i]);
  return indices;
}

// `name` on `head` and the index arrays of `node`, which begin at `first`.
NodeEntry OnSamePlaces(const char* name, const NodePtr& node, std::vector<NodeEntry> head, size_t first) {
  const std::vector<NodeEntry> indices = Indices(node, first);
  head.insert(head.end(), indices.begin(), indices.end());
  AttrDict dict = {{"axis", std::to_string(Axis(*node->attrs))}, {"num_args", std::to_string(head.size())}};
  return MakeOp(name, head, dict);
}

// That of `take` needs nothing of data but its shape. Wrapping makes negative indices what they are
// here.
NodeEntry OfOneArray(const NodePtr& node, const NodeEntry& ograd) {
  return MakeOp("_backward_take", {ograd, node->inputs[1], node->inputs[0]},
                {{"axis", std::to_string(Axis(*node->attrs))}, {"mode", "wrap"}});
}

int Inputs(const Attrs& attrs) { return attrs.get<IndexAxesParam>().num_args; }

[[maybe_unused]] const bool registered = [] {
  Op::Register("_index_axes")
      .describe(
          "data with neighbouring dimensions, from `axis` on, addressed by an index array each; the arrays are broadcast together and "
          "their dimensions stand where those were.\n\nNegative indices count from the end; others out of range are refused.")
      .set_param<IndexAxesParam>()
      .set_variadic("data", Inputs)
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(IndexShape)
      .set_infer_type(DataType)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        std::vector<NodeEntry> grads(static_cast<size_t>(node->num_inputs()));
        grads[0] = node->num_inputs() == 2 ? OfOneArray(node, ograds[0])
                                           : OnSamePlaces("_backward_index_axes", node, {ograds[0], node->inputs[0]}, 1);
        return grads;
      })
      .set_kernel(Index);
  Op::Register("_backward_index_axes")
      .describe("Gradient of _index_axes with several arrays: sums of the gradient of the result by place.")
      .set_param<IndexAxesParam>()
      .set_variadic("data", Inputs)
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(LikeInputsShape(1))
      .set_infer_type(DataType)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        std::vector<NodeEntry> grads(static_cast<size_t>(node->num_inputs()));
        grads[0] = OnSamePlaces("_index_axes", node, {ograds[0]}, 2);
        return grads;
      })
      .set_kernel(IndexBack);
  Op::Register("_index_axes_assign")
      .describe(
          "data with other values where _index_axes(data, index...) reads: inputs are data, a value, which is broadcast, and the index "
          "arrays. Of several values for one place the last is kept.")
      .set_param<IndexAxesParam>()
      .set_variadic("data", Inputs)
      .set_dtypes(dtypes::kAll)
      .set_inplace({{0, 0}})
      .set_infer_shape(AssignedShape)
      .set_infer_type(AssignedType)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        const NodeEntry& value = node->inputs[1];
        std::vector<NodeEntry> grads(static_cast<size_t>(node->num_inputs()));
        grads[0] = OnSamePlaces("_index_axes_assign", node, {ograds[0], MakeOp("zeros_like", {value})}, 2);
        grads[1] = MakeOp("_sum_like", {OnSamePlaces("_backward_index_axes_assign", node, {ograds[0]}, 2), value});
        return grads;
      })
      .set_kernel(Assign);
  Op::Register("_backward_index_axes_assign")
      .describe(
          "Gradient of the value of _index_axes_assign, in the shape of what the index arrays address: the gradient of the result there, "
          "and zeros for every value that was not kept, as another one followed for the same place.")
      .set_param<IndexAxesParam>()
      .set_variadic("data", Inputs)
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(IndexShape)
      .set_infer_type(DataType)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        std::vector<NodeEntry> grads(static_cast<size_t>(node->num_inputs()));
        grads[0] = OnSamePlaces("_index_axes_assign", node, {MakeOp("zeros_like", {node->inputs[0]}), ograds[0]}, 1);
        return grads;
      })
      .set_kernel(AssignBack);
  return true;
}();

}  // namespace
}  // namespace mxnet
