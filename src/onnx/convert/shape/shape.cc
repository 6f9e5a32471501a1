/*
 * The same elements in another shape or order. Slices and what puts arrays together are in
 * shape_slice.cc, casts and constants in shape_cast.cc.
 */
#include "onnx/convert/shape/shape.h"

#include <algorithm>

#include "onnx/convert/operands.h"

namespace mxnet {
namespace onnx {

namespace {

/* Also of strings. */
Value Reshaped(const Call& c, const Value& v, const Shape& shape) {
  if (v.kind != Value::kStrings) return c.Reshape(v, shape);
  Value moved = v;
  moved.type.shape = shape;
  return moved;
}

void Identity(Call& c) { c.Out(c.num_inputs() == 0 ? Value() : c.inputs()[0]); }

void ShapeOf(Call& c) {
  const int64_t rank = c.in(0).ndim();
  int64_t begin = c.Attr("start", static_cast<int64_t>(0)), end = c.Attr("end", rank);
  if (begin < 0) begin += rank;
  if (end < 0) end += rank;
  begin = std::max<int64_t>(0, std::min(begin, rank));
  end = std::max<int64_t>(0, std::min(end, rank));
  if (c.ForAnyShape() && c.in(0).kind == Value::kTensor && begin == 0 && end == rank && rank > 0)
    return c.Out(c.Op("shape_array", {c.in(0)}));
  std::vector<int64_t> dims;
  for (int64_t i = begin; i < end; ++i) dims.push_back(c.in(0).shape()[static_cast<int>(i)]);
  c.Out(c.IntTensor(dims));
}

void SizeOf(Call& c) {
  const int64_t size = c.in(0).size();
  c.Out(c.Tensor(Shape(0), kInt64, &size));
}

/* The size of `wanted` that is -1 where others are 0 and as many of `from` are, as in a batch
 * without examples: these stand for one another, and what is left tells it. 0: it does not. */
int64_t InferredOfNothing(const Shape& from, const std::vector<int64_t>& wanted) {
  const auto rest = [](const auto& sizes) {
    int64_t zeros = 0, product = 1;
    for (const int64_t d : sizes) {
      zeros += d == 0;
      if (d > 0 && __builtin_mul_overflow(product, d, &product)) product = 0;
    }
    return std::make_pair(zeros, product);
  };
  const auto given = rest(from), asked = rest(wanted);
  return given.first == asked.first && asked.second > 0 && given.second % asked.second == 0 ? given.second / asked.second : 0;
}

/* Resolves 0 (copied, unless zeros are sizes) and -1 (inferred). */
Shape Resolved(const Call& c, const Shape& from, std::vector<int64_t> wanted, bool zero_is_size) {
  const std::string given = Text(wanted);
  int inferred = -1;
  int64_t others = 1;
  for (size_t i = 0; i < wanted.size(); ++i) {
    int64_t& d = wanted[i];
    if (d == 0 && !zero_is_size) {
      if (static_cast<int>(i) >= from.ndim())
        c.Refuse("shape " + given + " copies dimension " + Text(static_cast<int64_t>(i)) + " of " + from.str() + ", which has fewer");
      d = from[static_cast<int>(i)];
    }
    if (d < -1 || (d == -1 && inferred >= 0)) c.Refuse("shape " + given + "; accepted: sizes, and -1 once");
    if (d == -1) {
      inferred = static_cast<int>(i);
    } else if (__builtin_mul_overflow(others, d, &others)) {
      c.Refuse("shape " + given + " has more elements than can be counted");
    }
  }
  if (inferred >= 0) {
    const int64_t size = from.Size();
    if (others == 0 ? size != 0 : size % others != 0) c.Refuse("an array of shape " + from.str() + " does not fit into shape " + given);
    wanted[static_cast<size_t>(inferred)] = others == 0 ? InferredOfNothing(from, wanted) : size / others;
  } else if (others != from.Size()) {
    c.Refuse("an array of shape " + from.str() + " does not fit into shape " + given);
  }
  return Shape(wanted);
}

void Reshape(Call& c) {
  const std::vector<int64_t> wanted = c.has(1) ? c.Ints(1) : c.Attr("shape", std::vector<int64_t>());
  const bool zero_is_size = c.Attr("allowzero", static_cast<int64_t>(0)) != 0;
  c.Ignore("consumed_inputs");
  const auto code = [&](int64_t d) { return d > 0 || d == -1; };
  if (c.ForAnyShape() && c.in(0).kind == Value::kTensor && std::all_of(wanted.begin(), wanted.end(), code))
    return c.Out(c.ReshapeTo(c.in(0), wanted));
  c.Out(Reshaped(c, c.in(0), Resolved(c, c.in(0).shape(), wanted, zero_is_size)));
}

void Flatten(Call& c) {
  const int64_t given = c.Attr("axis", static_cast<int64_t>(1));
  if (c.ForAnyShape() && c.in(0).kind == Value::kTensor && given == 1 && c.in(0).ndim() > 1) {
    int64_t row = 1;
    for (int i = 1; i < c.in(0).ndim(); ++i) row *= c.in(0).dim(i);
    return c.Out(c.ReshapeTo(c.in(0), {-1, row}));
  }
  const Shape& shape = c.in(0).shape();
  const int64_t axis = given < 0 ? given + shape.ndim() : given;
  if (axis < 0 || axis > shape.ndim()) c.Refuse("axis=" + Text(given) + "; accepted: " + Text(-shape.ndim()) + " to " + Text(shape.ndim()));
  const int at = static_cast<int>(axis);
  c.Out(Reshaped(c, c.in(0), Shape{shape.Prod(0, at), shape.Prod(at, shape.ndim())}));
}

void Squeeze(Call& c) {
  const Shape& shape = c.in(0).shape();
  const bool given = c.has(1) || c.has_attr("axes");
  const std::vector<int64_t> axes = c.Axes(c.has(1) ? c.Ints(1) : c.Attr("axes", std::vector<int64_t>()), shape.ndim());
  std::vector<int64_t> dims;
  for (int i = 0; i < shape.ndim(); ++i) {
    const bool named = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (named && shape[i] != 1) c.Refuse("axis " + Text(i) + " of " + shape.str() + " has not size 1");
    if (named || (!given && shape[i] == 1)) continue;
    dims.push_back(shape[i]);
  }
  c.Out(Reshaped(c, c.in(0), Shape(dims)));
}

void Unsqueeze(Call& c) {
  std::vector<int64_t> axes = c.has(1) ? c.Ints(1) : c.Attr("axes", std::vector<int64_t>());
  const int rank = c.in(0).ndim() + static_cast<int>(axes.size());
  axes = c.Axes(std::move(axes), rank);
  if (c.ForAnyShape() && c.in(0).kind == Value::kTensor) {
    std::sort(axes.begin(), axes.end());
    Value v = c.in(0);
    for (const int64_t axis : axes) v = c.Op("expand_dims", {v}, {{"axis", Text(axis)}});
    return c.Out(v);
  }
  const Shape& shape = c.in(0).shape();
  std::vector<int64_t> dims;
  int next = 0;
  for (int i = 0; i < rank; ++i) {
    const int64_t times = std::count(axes.begin(), axes.end(), i);
    if (times > 1) c.Refuse("axis " + Text(i) + " is given " + Text(times) + " times");
    dims.push_back(times ? 1 : shape[next++]);
  }
  c.Out(Reshaped(c, c.in(0), Shape(dims)));
}

void TransposeNumbers(Call& c) {
  const int rank = c.in(0).ndim();
  std::vector<int64_t> axes;
  for (int i = 0; i < rank; ++i) axes.push_back(rank - 1 - i);
  axes = c.Attr("perm", axes);
  const std::vector<int64_t> given = axes;
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;  // PyTorch's exporter leaves them so
  std::vector<int64_t> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  bool each_once = static_cast<int>(axes.size()) == rank;
  for (size_t i = 0; each_once && i < sorted.size(); ++i) each_once = sorted[i] == static_cast<int64_t>(i);
  if (!each_once) c.Refuse("perm=" + Text(given) + "; accepted: each of the " + Text(rank) + " dimensions once");
  c.Out(c.Transpose(c.in(0), axes));
}

void Transpose(Call& c) { MoveElements(c, TransposeNumbers); }

void ExpandNumbers(Call& c) {
  const std::vector<int64_t> wanted = c.Ints(1);
  for (int64_t d : wanted)
    if (d < 0) c.Refuse("shape " + Text(wanted) + "; accepted: sizes from 0 on");
  c.Out(c.BroadcastTo(c.in(0), BroadcastOf(c, c.in(0).shape(), Shape(wanted))));
}

void Expand(Call& c) { MoveElements(c, ExpandNumbers); }

Rules MakeRules() {
  Rules rules = {
      {"", "Identity", 1, kNewest, Identity, nullptr},   {"", "Shape", 1, kNewest, ShapeOf, nullptr},
      {"", "Size", 1, kNewest, SizeOf, nullptr},         {"", "Reshape", 1, kNewest, Reshape, nullptr},
      {"", "Flatten", 1, kNewest, Flatten, nullptr},     {"", "Squeeze", 1, kNewest, Squeeze, nullptr},
      {"", "Unsqueeze", 1, kNewest, Unsqueeze, nullptr}, {"", "Transpose", 1, kNewest, Transpose, nullptr},
      {"", "Expand", 8, kNewest, Expand, nullptr},
  };
  for (const Rules& more : {SliceRules(), CastRules()}) rules.insert(rules.end(), more.begin(), more.end());
  return rules;
}

}  // namespace

const Rules& ShapeRules() {
  static const Rules rules = MakeRules();
  return rules;
}

}  // namespace onnx
}  // namespace mxnet
