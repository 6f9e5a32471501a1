/*
 * Reading at indices. Writing at indices is in index_scatter.cc, conditions and order in
 * index_choose.cc.
 */
#include "onnx/convert/shape/index.h"

#include <algorithm>

#include "onnx/convert/make.h"
#include "onnx/convert/operands.h"
#include "onnx/file/torch_notes.h"

namespace mxnet {
namespace onnx {

namespace {

void CheckIndices(const Call& c, const Value& indices) {
  if (indices.kind != Value::kTensor || (indices.dtype() != kInt32 && indices.dtype() != kInt64))
    c.Refuse("indices are not int32 or int64");
}

/* Rows of a table, of which the one called padding does not learn, as in PyTorch. */
Value WithPadding(const Call& c, const Value& rows, const Value& indices) {
  const int64_t padding = c.Attr(kPaddingAttribute, static_cast<int64_t>(-1));
  if (padding < 0 || !c.ForTraining() || rows.known()) return rows;
  std::vector<int64_t> dims(indices.shape().begin(), indices.shape().end());
  dims.resize(static_cast<size_t>(rows.ndim()), 1);
  const Value is_padding = c.Reshape(BinaryNumber(c, "equal", indices, static_cast<double>(padding)), Shape(dims));
  return c.Op("_npi_where", {is_padding, c.Op("BlockGrad", {rows}), rows});
}

void GatherNumbers(Call& c) {
  const Value &x = c.in(0), &indices = c.in(1);
  const int axis = c.Axis(c.Attr("axis", static_cast<int64_t>(0)), x.ndim());
  CheckIndices(c, indices);
  const bool take = !x.empty() && !indices.empty() && (!indices.known() || c.ForAnyShape());
  if (take && !indices.known())
    return c.Out(WithPadding(c, c.Op("take", {x, indices}, {{"axis", Text(axis)}, {"mode", "from_end"}}), indices));
  const Value places = NotNegative(c, indices, x.dim(axis));
  if (take) return c.Out(c.Op("take", {x, places}, {{"axis", Text(axis)}, {"mode", "clip"}}));
  std::vector<int64_t> dims(x.shape().begin(), x.shape().begin() + axis);
  dims.insert(dims.end(), indices.shape().begin(), indices.shape().end());
  dims.insert(dims.end(), x.shape().begin() + axis + 1, x.shape().end());
  if (Shape(dims).Size() == 0) return c.Out(c.Filled(Shape(dims), x.dtype(), 0));
  if (places.size() == 1 && places.known()) {
    const int64_t at = IntegersOf(places)[0];
    return c.Out(c.Reshape(SliceAxis(c, x, axis, at, at + 1), Shape(dims)));
  }
  c.Out(c.Op("take", {x, places}, {{"axis", Text(axis)}, {"mode", "clip"}}));
}

void Gather(Call& c) {
  c.Ignore(kPaddingAttribute);  // of strings
  MoveElements(c, GatherNumbers);
}

/* 0, 1, ... along one of `rank` dimensions. */
Value CountAlong(const Call& c, int64_t size, int axis, int rank) {
  Shape shape(rank, 1);
  shape[axis] = size;
  return c.Reshape(CountUp(c, size), shape);
}

void GatherElementsNumbers(Call& c) {
  const Value &x = c.in(0), &indices = c.in(1);
  const int rank = x.ndim(), axis = c.Axis(c.Attr("axis", static_cast<int64_t>(0)), rank);
  CheckIndices(c, indices);
  bool fits = indices.ndim() == rank;
  for (int i = 0; fits && i < rank; ++i) fits = i == axis || indices.shape()[i] <= x.shape()[i];
  if (!fits)
    c.Refuse("indices have shape " + indices.shape().str() + " for an array of shape " + x.shape().str() +
             "; accepted: as many dimensions, and none larger but axis " + Text(axis));
  if (indices.size() == 0) return c.Out(c.Filled(indices.shape(), x.dtype(), 0));
  std::vector<Value> operands = {x};
  for (int i = 0; i < rank; ++i) operands.push_back(i == axis ? c.Cast(indices, kInt64) : CountAlong(c, indices.shape()[i], i, rank));
  c.Out(c.Op("_index_axes", operands, {{"num_args", Text(rank + 1)}, {"axis", "0"}}));
}

void GatherElements(Call& c) { MoveElements(c, GatherElementsNumbers); }

void GatherNdNumbers(Call& c) {
  const Value &x = c.in(0), &indices = c.in(1);
  const int batch = static_cast<int>(c.Attr("batch_dims", static_cast<int64_t>(0)));
  CheckIndices(c, indices);
  if (x.ndim() < 1 || indices.ndim() < 1 || batch < 0 || batch >= std::min(x.ndim(), indices.ndim()))
    c.Refuse("batch_dims=" + Text(batch) + " of shapes " + x.shape().str() + " and " + indices.shape().str() +
             "; accepted: 0 to the smaller rank - 1");
  const int last = indices.ndim() - 1;
  const int64_t depth = indices.shape()[last];
  bool fits = depth >= 1 && depth <= x.ndim() - batch;
  for (int i = 0; fits && i < batch; ++i) fits = x.shape()[i] == indices.shape()[i];
  if (!fits)
    c.Refuse("indices have shape " + indices.shape().str() + " for an array of shape " + x.shape().str() +
             " with batch_dims=" + Text(batch));
  std::vector<int64_t> dims(indices.shape().begin(), indices.shape().begin() + last);
  dims.insert(dims.end(), x.shape().begin() + batch + depth, x.shape().end());
  if (Shape(dims).Size() == 0) return c.Out(c.Filled(Shape(dims), x.dtype(), 0));
  // the dimension of coordinates comes first, and each index of the batch is one more of them
  std::vector<int64_t> order = {last};
  for (int i = 0; i < last; ++i) order.push_back(i);
  Value columns = c.Transpose(c.Cast(indices, kInt64), order);
  if (columns.ndim() == 1) columns = c.Reshape(columns, Shape{depth, 1});
  std::vector<Value> rows;
  Shape row = columns.shape();
  row[0] = 1;
  for (int i = 0; i < batch; ++i) rows.push_back(c.BroadcastTo(CountAlong(c, x.shape()[i], i + 1, row.ndim()), row));
  rows.push_back(columns);
  c.Out(c.Reshape(c.Op("gather_nd", {x, Join(c, rows, 0)}), Shape(dims)));
}

void GatherNd(Call& c) { MoveElements(c, GatherNdNumbers); }

void OneHotNumbers(Call& c) {
  const Value &indices = c.in(0), &values = c.in(2);
  const int64_t depth = c.in(1).size() == 1 ? c.Int(1) : -1;
  if (depth < 0) c.Refuse("depth is not one number from 0 on");
  if (values.size() != 2) c.Refuse("values have shape " + values.shape().str() + "; accepted: (2,)");
  const int axis = c.Axis(c.Attr("axis", static_cast<int64_t>(-1)), indices.ndim() + 1), last = indices.ndim();
  std::vector<int64_t> order;
  for (int i = 0; i < last; ++i) order.push_back(i);
  order.insert(order.begin() + axis, last);
  std::vector<int64_t> dims = DimsOf(indices.shape());
  dims.insert(dims.begin() + axis, depth);
  if (Shape(dims).Size() == 0) return c.Out(c.Filled(Shape(dims), values.dtype(), 0));
  const Value wide = c.Cast(indices, kInt64);
  const Value places = c.Op(
      "_npi_where", {WithNumber(c, "_npi_less_scalar", wide, 0), WithNumber(c, "_npi_add_scalar", wide, static_cast<double>(depth)), wide});
  const AttrDict attrs = {{"depth", Text(depth)}, {"dtype", DTypeName(values.dtype())}};
  double off, on;
  if (values.known() && ScalarOf(SliceAxis(c, values, 0, 0, 1), &off) && ScalarOf(SliceAxis(c, values, 0, 1, 2), &on)) {
    AttrDict numbers = attrs;
    numbers["off_value"] = Text(off);
    numbers["on_value"] = Text(on);
    return c.Out(c.Transpose(c.Op("one_hot", {places}, numbers), order));
  }
  AttrDict flags = attrs;
  flags["dtype"] = "bool";
  const Value hot = c.Transpose(c.Op("one_hot", {places}, flags), order);
  c.Out(c.Op("_npi_where", {hot, c.Reshape(SliceAxis(c, values, 0, 1, 2), Shape(0)), c.Reshape(SliceAxis(c, values, 0, 0, 1), Shape(0))}));
}

void OneHot(Call& c) { MoveElements(c, OneHotNumbers); }

void ReverseSequenceNumbers(Call& c) {
  const Value &x = c.in(0), &lengths = c.in(1);
  const int64_t time = c.Attr("time_axis", static_cast<int64_t>(0)), batch = c.Attr("batch_axis", static_cast<int64_t>(1));
  if (x.ndim() < 2 || time + batch != 1 || time * batch != 0)
    c.Refuse("time_axis=" + Text(time) + ", batch_axis=" + Text(batch) + "; accepted: 0 and 1 in either order");
  if (lengths.ndim() != 1 || lengths.size() != x.shape()[static_cast<int>(batch)])
    c.Refuse("sequence_lens has shape " + lengths.shape().str() + "; accepted: one number for each sequence");
  const bool swapped = time == 1;
  std::vector<int64_t> order = {1, 0};
  for (int i = 2; i < x.ndim(); ++i) order.push_back(i);
  const Value y = c.Op("SequenceReverse", {swapped ? c.Transpose(x, order) : x, lengths}, {{"use_sequence_length", "True"}, {"axis", "0"}});
  c.Out(swapped ? c.Transpose(y, order) : y);
}

void ReverseSequence(Call& c) { MoveElements(c, ReverseSequenceNumbers); }

Rules MakeRules() {
  Rules rules = {
      {"", "Gather", 1, kNewest, Gather, nullptr},
      {"", "GatherElements", 11, kNewest, GatherElements, nullptr},
      {"", "GatherND", 11, kNewest, GatherNd, nullptr},
      {"", "OneHot", 9, kNewest, OneHot, nullptr},
      {"", "ReverseSequence", 10, kNewest, ReverseSequence, nullptr},
  };
  for (const Rules& more : {ScatterRules(), ChooseRules()}) rules.insert(rules.end(), more.begin(), more.end());
  return rules;
}

}  // namespace

const Rules& IndexRules() {
  static const Rules rules = MakeRules();
  return rules;
}

}  // namespace onnx
}  // namespace mxnet
