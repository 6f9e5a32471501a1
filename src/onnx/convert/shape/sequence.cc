/*
 * Sequences and optionals. They are lists of values while the graph is made; only their
 * elements are in the graph.
 */
#include <algorithm>

#include "onnx/convert/operands.h"

namespace mxnet {
namespace onnx {

namespace {

using Elements = std::vector<Value>;

Value SequenceOf(Elements elements, int element_dtype) {
  Value v;
  v.kind = Value::kSequence;
  v.element_dtype = elements.empty() ? element_dtype : elements[0].dtype();
  v.elements = std::make_shared<Elements>(std::move(elements));
  return v;
}

const Elements& ElementsOf(const Call& c, int i) {
  const Value& v = c.in(i);
  if (v.kind != Value::kSequence) c.Refuse("input " + Text(i) + " is not a sequence");
  return *v.elements;
}

/* A place in a sequence, counted from its end where negative; `behind`: the end is one. */
size_t PlaceOf(const Call& c, int i, size_t count, bool behind) {
  const int64_t size = static_cast<int64_t>(count), given = c.Int(i), at = given < 0 ? given + size : given;
  if (at < 0 || at >= size + (behind ? 1 : 0)) c.Refuse("position " + Text(given) + " in a sequence of " + Text(size) + " elements");
  return static_cast<size_t>(at);
}

void Empty(Call& c) { c.Out(SequenceOf({}, c.DTypeAttr("dtype", kFloat32))); }

void Construct(Call& c) {
  if (c.num_inputs() == 0) c.Refuse("no input; accepted: at least one");
  c.Out(SequenceOf(c.inputs(), kFloat32));
}

void At(Call& c) {
  const Elements& elements = ElementsOf(c, 0);
  c.Out(elements[PlaceOf(c, 1, elements.size(), false)]);
}

void Insert(Call& c) {
  Elements elements = ElementsOf(c, 0);
  const size_t at = c.has(2) ? PlaceOf(c, 2, elements.size(), true) : elements.size();
  elements.insert(elements.begin() + static_cast<std::ptrdiff_t>(at), c.in(1));
  c.Out(SequenceOf(std::move(elements), kFloat32));
}

void Erase(Call& c) {
  Elements elements = ElementsOf(c, 0);
  if (elements.empty()) c.Refuse("the sequence is empty");
  const size_t at = c.has(1) ? PlaceOf(c, 1, elements.size(), false) : elements.size() - 1;
  elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(at));
  c.Out(SequenceOf(std::move(elements), c.in(0).element_dtype));
}

void Length(Call& c) {
  const int64_t length = static_cast<int64_t>(ElementsOf(c, 0).size());
  c.Out(c.Tensor(Shape(0), kInt64, &length));
}

void SplitToSequence(Call& c) {
  const Value& x = c.in(0);
  const int axis = c.Axis(c.Attr("axis", static_cast<int64_t>(0)), x.ndim());
  // keepdims is for no sizes; PyTorch's unbind and onnxruntime have it with sizes of 1, too.
  const bool ones = !c.has(1) || (c.in(1).ndim() == 0 && c.Int(1) == 1);
  const bool keepdims = c.Attr("keepdims", static_cast<int64_t>(1)) != 0 || !ones;
  const int64_t size = x.shape()[axis];
  std::vector<int64_t> parts;
  if (c.has(1) && c.in(1).ndim() == 1) {
    parts = c.Ints(1);
  } else {
    const int64_t each = c.has(1) ? c.Int(1) : 1;
    if (each < 1) c.Refuse("split is " + Text(each) + "; accepted: numbers from 1 on");
    if (size / each > (int64_t{1} << 20)) c.Refuse("a sequence of " + Text(size / each) + " elements; accepted: up to 2^20");
    for (int64_t begin = 0; begin < size; begin += std::min(each, size)) parts.push_back(std::min(each, size - begin));
  }
  Elements elements;
  int64_t begin = 0;
  for (int64_t part : parts) {
    if (part < 0 || part > size - begin) c.Refuse("split " + Text(parts) + " of a dimension of " + Text(size) + " entries");
    Shape shape = x.shape();
    shape[axis] = part;
    Value piece = part ? SliceAxis(c, x, axis, begin, begin + part) : c.Filled(shape, x.dtype(), 0);
    if (!keepdims) {
      std::vector<int64_t> dims = DimsOf(piece.shape());
      dims.erase(dims.begin() + axis);
      piece = c.Reshape(piece, Shape(dims));
    }
    elements.push_back(std::move(piece));
    begin += part;
  }
  if (begin != size) c.Refuse("split " + Text(parts) + " of a dimension of " + Text(size) + " entries");
  c.Out(SequenceOf(std::move(elements), x.dtype()));
}

void ConcatFromSequence(Call& c) {
  const Elements& elements = ElementsOf(c, 0);
  if (!c.has_attr("axis")) c.Refuse("axis is absent");
  if (elements.empty()) c.Refuse("the sequence is empty");
  const bool new_axis = c.Attr("new_axis", static_cast<int64_t>(0)) != 0;
  SameDTypes(c, elements);
  const int rank = elements[0].ndim() + (new_axis ? 1 : 0);
  const int axis = c.Axis(c.Attr("axis", static_cast<int64_t>(0)), rank);
  Elements parts;
  for (const Value& v : elements) {
    std::vector<int64_t> dims = DimsOf(v.shape());
    if (new_axis && static_cast<int>(dims.size()) >= axis) dims.insert(dims.begin() + axis, 1);
    bool fits = static_cast<int>(dims.size()) == rank;
    for (int i = 0; fits && i < rank; ++i)
      fits = (i == axis && !new_axis) || parts.empty() || dims[static_cast<size_t>(i)] == parts[0].shape()[i];
    if (!fits) c.Refuse("elements have shapes " + elements[0].shape().str() + " and " + v.shape().str());
    parts.push_back(c.Reshape(v, Shape(dims)));
  }
  c.Out(Join(c, parts, axis));
}

void Optional(Call& c) {
  c.Ignore("type");  // of an optional without element
  c.Out(c.has(0) ? c.in(0) : Value());
}

void HasElement(Call& c) {
  const bool has = c.has(0);
  c.Out(c.Tensor(Shape(0), kBool, &has));
}

void GetElement(Call& c) { c.Out(c.in(0)); }

}  // namespace

const Rules& SequenceRules() {
  static const Rules rules = {
      {"", "SequenceEmpty", 11, kNewest, Empty, nullptr},
      {"", "SequenceConstruct", 11, kNewest, Construct, nullptr},
      {"", "SequenceAt", 11, kNewest, At, nullptr},
      {"", "SequenceInsert", 11, kNewest, Insert, nullptr},
      {"", "SequenceErase", 11, kNewest, Erase, nullptr},
      {"", "SequenceLength", 11, kNewest, Length, nullptr},
      {"", "SplitToSequence", 11, kNewest, SplitToSequence, nullptr},
      {"", "ConcatFromSequence", 11, kNewest, ConcatFromSequence, nullptr},
      {"", "Optional", 15, kNewest, Optional, nullptr},
      {"", "OptionalHasElement", 15, kNewest, HasElement, nullptr},
      {"", "OptionalGetElement", 15, kNewest, GetElement, nullptr},
  };
  return rules;
}

}  // namespace onnx
}  // namespace mxnet
