#include "onnx/convert/make.h"

#include <algorithm>
#include <numeric>

namespace mxnet {
namespace onnx {

namespace {

template <typename T>
double ReadAs(const NDArray& array) {
  T value;
  array.CopyBytesTo(&value, sizeof(T));
  return static_cast<double>(value);
}

std::string Pairs(const Sizes& before, const Sizes& after) {
  std::string text = "(";
  for (size_t i = 0; i < before.size(); ++i) text += (i ? ", (" : "(") + std::to_string(before[i]) + ", " + std::to_string(after[i]) + ")";
  return text + (before.size() == 1 ? ",)" : ")");
}

}  // namespace

bool IsNumber(const Value& v, double* number) {
  if (v.kind != Value::kTensor || !v.known() || v.size() != 1) return false;
  switch (v.dtype()) {
    case kFloat32: *number = ReadAs<float>(v.array); return true;
    case kFloat64: *number = ReadAs<double>(v.array); return true;
    case kInt32: *number = ReadAs<int32_t>(v.array); return true;
    case kInt8: *number = ReadAs<int8_t>(v.array); return true;
    case kUint8: *number = ReadAs<uint8_t>(v.array); return true;
    default: return false;  // half ones are not worth it; int64 may not fit into a double
  }
}

Value BinaryNumber(const Call& c, const char* op, const Value& a, double b) {
  return c.Op(("_npi_" + std::string(op) + "_scalar").c_str(), {a}, {{"scalar", Text(b)}, {"is_int", Text(!IsFloating(a.dtype()))}});
}

Value Binary(const Call& c, const char* op, const Value& a, const Value& b) {
  double number;
  if (!a.known() && IsFloating(a.dtype()) && b.ndim() <= a.ndim() && IsNumber(b, &number)) return BinaryNumber(c, op, a, number);
  return c.Op(("_npi_" + std::string(op)).c_str(), {a, b});
}

Value Unary(const Call& c, const char* op, const Value& a) { return c.Op(("_npi_" + std::string(op)).c_str(), {a}); }

Value Where(const Call& c, const Value& condition, const Value& x, const Value& y) { return c.Op("_npi_where", {condition, x, y}); }

Value Clip(const Call& c, const Value& x, double least, double most) {
  return c.Op("clip", {x}, {{"a_min", Text(least)}, {"a_max", Text(most)}});
}

Value Sigmoid(const Call& c, const Value& x) { return c.Op("sigmoid", {x}); }

Value Reduce(const Call& c, const char* op, const Value& x, const Sizes& axes, bool keepdims) {
  if (axes.empty()) return x;
  return c.Op(("_npi_" + std::string(op)).c_str(), {x}, {{"axis", Text(axes)}, {"keepdims", Text(keepdims)}});
}

Value SliceAll(const Call& c, const Value& x, const Sizes& begin, const Sizes& end, const Sizes& step) {
  bool all = true;
  std::string ends;
  for (size_t i = 0; i < begin.size(); ++i) {
    const bool whole = begin[i] == 0 && end[i] == x.shape()[static_cast<int>(i)] && step[i] == 1;
    all = all && whole;
    ends += (whole ? std::string("None") : Text(end[i])) + ",";  // None: also of other batches
  }
  return all ? x : c.Op("slice", {x}, {{"begin", Text(begin)}, {"end", "(" + ends + ")"}, {"step", Text(step)}});
}

Value Concat(const Call& c, const std::vector<Value>& parts, int axis) {
  if (parts.size() == 1) return parts[0];
  return c.Op("concat", parts, {{"dim", Text(axis)}, {"num_args", Text(static_cast<int64_t>(parts.size()))}});
}

std::vector<Value> Split(const Call& c, const Value& x, int axis, int64_t parts) {
  const int64_t size = x.shape()[axis];
  if (parts < 1 || size % parts) c.Refuse("axis of " + Text(size) + " elements is to be split into " + Text(parts) + " equal parts");
  std::vector<Value> made;
  for (int64_t i = 0; i < parts; ++i) made.push_back(SliceAxis(c, x, axis, i * (size / parts), (i + 1) * (size / parts)));
  return made;
}

Value Pad(const Call& c, const Value& x, const Sizes& before, const Sizes& after, double value) {
  const auto none = [](int64_t n) { return n == 0; };
  if (std::all_of(before.begin(), before.end(), none) && std::all_of(after.begin(), after.end(), none)) return x;
  return c.Op("_npi_pad", {x}, {{"pad_width", Pairs(before, after)}, {"mode", "constant"}, {"constant_value", Text(value)}});
}

Value Take(const Call& c, const Value& x, const Value& indices, int axis) {
  return c.Op("take", {x, indices}, {{"axis", Text(axis)}, {"mode", "clip"}});
}

Value TakeRows(const Call& c, const Value& x, const Value& indices) {
  return c.Op("take", {x, indices}, {{"axis", "0"}, {"mode", "raise"}});
}

Value ChannelsFirst(const Call& c, const Value& x) {
  Sizes order = {0, x.ndim() - 1};
  for (int i = 1; i + 1 < x.ndim(); ++i) order.push_back(i);
  return c.Transpose(x, order);
}

Value ChannelsLast(const Call& c, const Value& x) {
  Sizes order = {0};
  for (int i = 2; i < x.ndim(); ++i) order.push_back(i);
  order.push_back(1);
  return c.Transpose(x, order);
}

Value AlongAxis(const Call& c, const Value& x, int axis, int rank) {
  Sizes shape(static_cast<size_t>(rank), 1);
  shape[static_cast<size_t>(axis)] = x.size();
  return c.Reshape(x, Shape(shape));
}

Value IntsLike(const Call& c, const Sizes& values, const Sizes& shape, int dtype) {
  return c.Cast(c.Reshape(c.IntTensor(values), Shape(shape)), dtype);
}

Value FloatsLike(const Call& c, const std::vector<double>& values, const Sizes& shape, int dtype) {
  return c.Cast(c.Tensor(Shape(shape), kFloat64, values.data()), dtype);
}

Value MatMul(const Call& c, const Value& a, const Value& b, bool transpose_b) {
  // passes know batch_dot; what serves any shape had better not look at them
  if (!c.ForAnyShape() && IsFloating(a.dtype()) && !a.empty() && !b.empty() && SameStacks(a, b))
    return c.Op("batch_dot", {a, b}, {{"transpose_b", Text(transpose_b)}});
  if (!transpose_b) return c.Op("_npi_matmul", {a, b});
  Sizes axes(static_cast<size_t>(b.ndim()));
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return c.Op("_npi_matmul", {a, c.Transpose(b, axes)});
}

void CheckRank(const Call& c, int input, int least, int most) {
  const Value& x = c.in(input);
  if (x.kind != Value::kTensor) c.Refuse("input " + Text(input) + " is not an array of numbers");
  if (x.ndim() < least || x.ndim() > most)
    c.Refuse("input " + Text(input) + " has shape " + Text(x.shape()) + "; accepted are " + Text(least) + " to " + Text(most) +
             " dimensions");
}

int OneOf(const Call& c, const char* attribute, const std::string& value, const std::vector<const char*>& accepted) {
  std::string names;
  for (size_t i = 0; i < accepted.size(); ++i) {
    if (value == accepted[i]) return static_cast<int>(i);
    names += (i ? ", " : "") + std::string(accepted[i]);
  }
  c.Refuse("attribute " + std::string(attribute) + " is \"" + value + "\"; accepted are " + names);
}

}  // namespace onnx
}  // namespace mxnet
