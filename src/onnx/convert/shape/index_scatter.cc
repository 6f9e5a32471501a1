/*
 * Writing at indices.
 */
#include "mxnet/op.h"
#include "onnx/builder.h"
#include "onnx/convert/attention/attention.h"
#include "onnx/convert/make.h"
#include "onnx/convert/operands.h"
#include "onnx/convert/shape/index.h"

namespace mxnet {
namespace onnx {

namespace {

/*
 * x with `updates` at the places of `columns` (k, ...), whose rows are coordinates of the first k
 * dimensions; what both have there is combined.
 */
Value Scattered(const Call& c, const Value& x, const Value& columns, const Value& updates, const std::string& reduction) {
  if (updates.size() == 0) return x;
  if (reduction == "none") return c.Op("_npx_index_update", {x, columns, updates});
  if (reduction == "add" && x.dtype() != kBool) return c.Op("_npx_index_add", {x, columns, updates});
  return c.Op("_onnx_scatter_fold", {x, columns, updates}, {{"fold", reduction}});
}

std::string ReductionOf(const Call& c) {
  const std::string reduction = c.Attr("reduction", "none");
  if (reduction != "none" && reduction != "add" && reduction != "mul" && reduction != "min" && reduction != "max")
    c.Refuse("reduction=" + reduction + "; accepted: none, add, mul, min, max");
  return reduction;
}

void CheckIndices(const Call& c, const Value& indices) {
  if (indices.kind != Value::kTensor || (indices.dtype() != kInt32 && indices.dtype() != kInt64))
    c.Refuse("indices are not int32 or int64");
}

/* 0, 1, ... along one dimension of `shape`, as a row of coordinates (1, shape...). */
Value Coordinates(const Call& c, int axis, const Shape& shape) {
  Shape one(shape.ndim(), 1);
  one[axis] = shape[axis];
  std::vector<int64_t> dims = DimsOf(shape);
  dims.insert(dims.begin(), 1);
  return c.Reshape(c.BroadcastTo(c.Reshape(CountUp(c, shape[axis]), one), shape), Shape(dims));
}

/* Are indices (k, 1, ...) repeated, so that whole rows are written? Then these, as (k,). */
Value WholeRows(const Call& c, const Value& indices, const Shape& x) {
  c.builder()->LookBack();
  if (indices.ndim() < 2 || indices.known() || !indices.entry.node || indices.entry.node->is_variable()) return Value();
  const AttrDict& attrs = indices.entry.node->attrs->dict;
  const auto from = attrs.find("__from__");
  std::vector<int64_t> one(static_cast<size_t>(indices.ndim()), 1);
  one[0] = indices.shape()[0];
  if (from == attrs.end() || from->second != Text(one)) return Value();
  for (int i = 1; i < x.ndim(); ++i)
    if (indices.shape()[i] != x[i]) return Value();
  Value rows;  // what was repeated: nothing else reads the repetition, as a rule
  rows.kind = Value::kTensor, rows.type = {Shape(one), indices.dtype()}, rows.entry = indices.entry.node->inputs[0];
  return c.Reshape(rows, Shape{one[0]});
}

void ScatterElementsNumbers(Call& c) {
  const Value &x = c.in(0), &indices = c.in(1), &updates = c.in(2);
  const int rank = x.ndim(), axis = c.Axis(c.Attr("axis", static_cast<int64_t>(0)), rank);
  const std::string reduction = ReductionOf(c);
  CheckIndices(c, indices);
  SameDTypes(c, {x, updates});
  bool fits = indices.ndim() == rank && indices.shape() == updates.shape();
  for (int i = 0; fits && i < rank; ++i) fits = i == axis || indices.shape()[i] <= x.shape()[i];
  if (!fits)
    c.Refuse("indices have shape " + indices.shape().str() + " and updates " + updates.shape().str() + " for an array of shape " +
             x.shape().str());
  if (indices.size() == 0) return c.Out(x);
  if (axis == 0) {
    const Value whole = WholeRows(c, indices, x.shape());
    if (whole.kind == Value::kTensor)
      return c.Out(
          Scattered(c, x, c.Reshape(c.Cast(NotNegative(c, whole, x.shape()[0]), kInt64), Shape{1, whole.size()}), updates, reduction));
  }
  std::vector<Value> rows;
  for (int i = 0; i < rank; ++i) {
    if (i != axis) {
      rows.push_back(Coordinates(c, i, indices.shape()));
      continue;
    }
    std::vector<int64_t> dims = DimsOf(indices.shape());
    dims.insert(dims.begin(), 1);
    rows.push_back(c.Reshape(c.Cast(NotNegative(c, indices, x.shape()[axis]), kInt64), Shape(dims)));
  }
  c.Out(Scattered(c, x, Join(c, rows, 0), updates, reduction));
}

/* Strings can only be put there. */
void ScatterElements(Call& c) {
  if (c.in(0).kind == Value::kStrings && ReductionOf(c) != "none") c.Refuse("reduction=" + ReductionOf(c) + " of strings; accepted: none");
  MoveElements(c, ScatterElementsNumbers);
}

/* Numbers first, first + step, ... of an axis, `count` of them. */
struct Progression {
  int64_t first = 0, step = 1, count = 1;
};

/* Known numbers along one axis at most of a grid, as a progression; `axis`: that one, or -1. */
bool ReadProgression(const NDArray& numbers, int64_t size, int rank, Progression* made, int* axis) {
  const Shape& shape = numbers.shape();
  if (shape.ndim() > rank || shape.Size() == 0) return false;
  *axis = -1;
  for (int i = 0; i < shape.ndim(); ++i) {
    if (shape[i] == 1) continue;
    if (*axis >= 0) return false;
    *axis = i + rank - shape.ndim();
  }
  std::vector<int64_t> at = IntsIn(numbers);
  for (int64_t& i : at) i += i < 0 ? size : 0;
  *made = {at[0], at.size() > 1 ? at[1] - at[0] : 1, static_cast<int64_t>(at.size())};
  for (size_t i = 1; i < at.size(); ++i)
    if (at[i] - at[i - 1] != made->step) return false;
  return made->step > 0 && at[0] >= 0 && at.back() < size;
}

/*
 * The progressions of whose grid `indices` (grid..., depth) are the coordinates: joined from
 * numbers along one axis each, in the order of the axes, which were repeated along the others.
 * Exporters write so what a slice is assigned. Empty: they are not, or it does not show.
 */
std::vector<Progression> GridOf(const Call& c, const Value& indices, const Shape& x) {
  const auto made_by = [](const NodeEntry& e, const char* op) {
    return e.node && !e.node->is_variable() && e.node->attrs->op == Op::Get(op);
  };
  c.builder()->LookBack();
  const Shape& shape = indices.shape();
  const int rank = shape.ndim() - 1;
  if (indices.known() || !made_by(indices.entry, "concat")) return {};
  const std::vector<NodeEntry>& parts = indices.entry.node->inputs;
  if (static_cast<int64_t>(parts.size()) != shape[rank]) return {};  // or another axis than the last
  std::vector<Progression> grid;
  int last = -1;
  for (size_t i = 0; i < parts.size(); ++i) {
    NodeEntry e = parts[i];
    if (made_by(e, "_npi_reshape")) e = e.node->inputs[0];
    if (made_by(e, "_npi_broadcast_to")) e = e.node->inputs[0];
    const auto numbers = c.builder()->constants().find(e.node.get());
    Progression one;
    int axis;
    const bool known = numbers != c.builder()->constants().end();
    if (!known || !ReadProgression(numbers->second, x[static_cast<int>(i)], rank, &one, &axis)) return {};
    if (axis >= 0) {
      for (int between = last + 1; between < axis; ++between)
        if (shape[between] != 1) return {};
      if (axis <= last || shape[axis] != one.count) return {};
      last = axis;
    }
    grid.push_back(one);
  }
  for (int behind = last + 1; behind < rank; ++behind)
    if (shape[behind] != 1) return {};
  return grid;
}

Value AssignedSlice(const Call& c, const Value& x, const std::vector<Progression>& grid, const Value& updates) {
  Sizes begin, end, step, dims;
  for (const Progression& p : grid) {
    begin.push_back(p.first), end.push_back(p.first + (p.count - 1) * p.step + 1), step.push_back(p.step);
    dims.push_back(p.count);
  }
  for (int i = static_cast<int>(grid.size()); i < x.ndim(); ++i) {
    begin.push_back(0), end.push_back(x.shape()[i]), step.push_back(1);
    dims.push_back(x.shape()[i]);
  }
  return c.Op("_slice_assign", {x, c.Reshape(updates, Shape(dims))}, {{"begin", Text(begin)}, {"end", Text(end)}, {"step", Text(step)}});
}

void ScatterNdNumbers(Call& c) {
  const Value &x = c.in(0), &indices = c.in(1), &updates = c.in(2);
  const std::string reduction = ReductionOf(c);
  CheckIndices(c, indices);
  SameDTypes(c, {x, updates});
  if (indices.ndim() < 1 || x.ndim() < 1)
    c.Refuse("indices and data have shapes " + indices.shape().str() + " and " + x.shape().str() + "; accepted: at least one dimension");
  const int last = indices.ndim() - 1;
  const int64_t depth = indices.shape()[last];
  if (depth > x.ndim())
    c.Refuse("indices of shape " + indices.shape().str() + " address " + Text(depth) + " dimensions of " + x.shape().str());
  std::vector<int64_t> dims(indices.shape().begin(), indices.shape().begin() + last);
  dims.insert(dims.end(), x.shape().begin() + depth, x.shape().end());
  if (updates.shape() != Shape(dims)) c.Refuse("updates have shape " + updates.shape().str() + "; accepted: " + Shape(dims).str());
  if (updates.size() == 0) return c.Out(x);
  if (depth == 0) c.Refuse("indices have shape " + indices.shape().str() + "; accepted: at least one coordinate");
  const std::vector<Progression> grid = reduction == "none" ? GridOf(c, indices, x.shape()) : std::vector<Progression>();
  if (!grid.empty()) return c.Out(AssignedSlice(c, x, grid, updates));
  std::vector<int64_t> order = {last};
  for (int i = 0; i < last; ++i) order.push_back(i);
  const Value columns = c.Transpose(c.Cast(indices, kInt64), order);
  std::vector<Value> rows;
  for (int64_t i = 0; i < depth; ++i) rows.push_back(NotNegative(c, SliceAxis(c, columns, 0, i, i + 1), x.shape()[static_cast<int>(i)]));
  Value places = Join(c, rows, 0);
  if (places.ndim() == 1) places = c.Reshape(places, Shape{depth, 1});
  std::vector<int64_t> pieces = DimsOf(places.shape());
  pieces.erase(pieces.begin());
  pieces.insert(pieces.end(), x.shape().begin() + depth, x.shape().end());
  c.Out(Scattered(c, x, places, c.Reshape(updates, Shape(pieces)), reduction));
}

void ScatterNd(Call& c) {
  if (c.in(0).kind == Value::kStrings && ReductionOf(c) != "none") c.Refuse("reduction=" + ReductionOf(c) + " of strings; accepted: none");
  MoveElements(c, ScatterNdNumbers);
}

/* New entries of a cache, from a place on that each sequence has for itself. */
void TensorScatter(Call& c) {
  SameDTypes(c, {c.in(0), c.in(1)});
  const Value cache = Cache(c, c.in(0)), update = c.Cast(c.in(1), cache.dtype());
  const int rank = cache.ndim(), axis = c.Axis(c.Attr("axis", static_cast<int64_t>(-2)), rank);
  const std::string mode = c.Attr("mode", "linear");
  if (mode != "linear" && mode != "circular") c.Refuse("mode=" + mode + "; accepted: linear, circular");
  bool fits = update.ndim() == rank && axis > 0;
  for (int i = 0; fits && i < rank; ++i) fits = i == axis ? update.shape()[i] <= cache.shape()[i] : update.shape()[i] == cache.shape()[i];
  if (!fits)
    c.Refuse("update has shape " + update.shape().str() + " for a cache of shape " + cache.shape().str() + " and axis " + Text(axis));
  if (update.size() == 0) return c.Out(cache);
  const int64_t size = cache.shape()[axis], length = update.shape()[axis], batch = cache.shape()[0];
  Value start = c.has(2) ? c.Cast(c.in(2), kInt64) : c.Filled(Shape{batch}, kInt64, 0);
  if (start.shape() != Shape{batch}) c.Refuse("write_indices has shape " + start.shape().str() + "; accepted: " + Shape{batch}.str());
  Value place = c.Op("_npi_add", {c.Reshape(start, Shape{batch, 1}), CountUp(c, length)});
  if (mode == "circular") place = WithNumber(c, "_npi_mod_scalar", place, static_cast<double>(size));
  // coordinates of the dimensions up to the sequence; what is behind it is written as a piece
  const Shape front(update.shape().dims(), axis + 1);
  std::vector<int64_t> place_dims(static_cast<size_t>(axis + 1), 1), row(front.begin(), front.end());
  place_dims[0] = batch;
  place_dims.back() = length;
  row.insert(row.begin(), 1);
  std::vector<Value> rows;
  for (int i = 0; i < axis; ++i) rows.push_back(Coordinates(c, i, front));
  rows.push_back(c.Reshape(c.BroadcastTo(c.Reshape(place, Shape(place_dims)), front), Shape(row)));
  c.Out(c.Op("_npx_index_update", {cache, Join(c, rows, 0), update}));
}

}  // namespace

Rules ScatterRules() {
  return {
      {"", "Scatter", 9, 10, ScatterElements, nullptr},
      {"", "ScatterElements", 11, kNewest, ScatterElements, nullptr},
      {"", "ScatterND", 11, kNewest, ScatterNd, nullptr},
      {"", "TensorScatter", 24, kNewest, TensorScatter, nullptr},
  };
}

}  // namespace onnx
}  // namespace mxnet
