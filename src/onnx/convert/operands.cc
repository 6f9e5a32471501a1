#include "onnx/convert/operands.h"

#include <algorithm>
#include <cmath>

#include "onnx/builder.h"

namespace mxnet {
namespace onnx {

std::vector<double> NumbersOf(const Value& v) { return FloatsIn(v.array); }

std::vector<int64_t> IntegersOf(const Value& v) { return IntsIn(v.array); }

Value NumbersAt(const Call& c, int i) {
  const SmallType* small = c.small(i);
  return small && small->format ? c.Op("_from_small_float", {c.in(i)}, {{"format", small->format}}) : c.in(i);
}

Value SmallFloats(const Call& c, const Value& x, const SmallType& type, bool saturate, const std::string& round_mode) {
  const bool wide = x.dtype() == kFloat64 || x.dtype() == kInt64 || x.dtype() == kUint64;
  return c.Op("_to_small_float", {c.Cast(x, wide ? kFloat64 : kFloat32)},
              {{"format", type.format}, {"saturate", Text(saturate)}, {"round_mode", round_mode}});
}

bool ScalarOf(const Value& v, double* number) {
  if (v.kind != Value::kTensor || !v.known() || v.size() != 1) return false;
  *number = NumbersOf(v)[0];
  const double exact = 9007199254740992.0;  // 2^53: not all integers above have a double
  return std::isfinite(*number) && (!IsInteger(v.dtype()) || std::fabs(*number) <= exact);
}

std::vector<int64_t> DimsOf(const Shape& shape) { return std::vector<int64_t>(shape.begin(), shape.end()); }

Shape BroadcastOf(const Call& c, const Shape& a, const Shape& b) {
  const int rank = std::max(a.ndim(), b.ndim());
  std::vector<int64_t> dims(static_cast<size_t>(rank), 1);
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.ndim()), ib = i - (rank - b.ndim());
    const int64_t da = ia < 0 ? 1 : a[ia], db = ib < 0 ? 1 : b[ib];
    if (da != db && da != 1 && db != 1)
      c.Refuse("shapes " + a.str() + " and " + b.str() + " do not broadcast: sizes " + Text(da) + " and " + Text(db) +
               " must be equal, or one of them 1");
    dims[static_cast<size_t>(i)] = da == 1 ? db : da;
  }
  return Shape(dims);
}

void SameDTypes(const Call& c, const std::vector<Value>& values) {
  for (const Value& v : values) {
    if (v.kind != Value::kTensor) c.Refuse("an input is not a tensor of numbers");
    if (v.dtype() != values[0].dtype())
      c.Refuse(std::string("inputs are ") + DTypeName(values[0].dtype()) + " and " + DTypeName(v.dtype()) +
               "; accepted: inputs of one type");
  }
}

Value CountUp(const Call& c, int64_t n) {
  std::vector<int64_t> numbers(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) numbers[static_cast<size_t>(i)] = i;
  return c.IntTensor(numbers);
}

Value SliceAxis(const Call& c, const Value& x, int axis, int64_t begin, int64_t end) {
  if (begin == 0 && end == x.shape()[axis]) return x;
  if (begin >= end) {  // slices of operators have elements
    Shape shape = x.shape();
    shape[axis] = 0;
    return c.Filled(shape, x.dtype(), 0);
  }
  return c.Op("slice_axis", {x}, {{"axis", Text(axis)}, {"begin", Text(begin)}, {"end", Text(end)}});
}

Value Join(const Call& c, const std::vector<Value>& values, int axis) {
  std::vector<Value> full;
  for (const Value& v : values)
    if (c.ForAnyShape() ? !v.empty() : v.shape()[axis] != 0) full.push_back(v);
  if (full.empty()) return values[0];
  if (full.size() == 1) return full[0];
  return c.Op("Concat", full, {{"num_args", Text(static_cast<int64_t>(full.size()))}, {"dim", Text(axis)}});
}

bool SameStacks(const Value& a, const Value& b) {
  if (a.ndim() != b.ndim() || a.ndim() < 3) return false;
  for (int i = 0; i < a.ndim() - 2; ++i)
    if (a.shape()[i] != b.shape()[i]) return false;
  return true;
}

Value Dense(const Call& c, const Value& x, const Value& weight, const Value& bias) {
  return c.Op("FullyConnected", {x, weight, bias},
              {{"num_hidden", Text(weight.dim(0))}, {"no_bias", Text(bias.kind == Value::kNone)}, {"flatten", "False"}});
}

Value NotNegative(const Call& c, const Value& indices, int64_t size) {
  if (indices.known()) {
    std::vector<int64_t> numbers = IntegersOf(indices);
    for (int64_t& i : numbers) {
      if (i < -size || i >= size)
        c.Refuse("index " + Text(i) + " of a dimension of " + Text(size) + " entries; accepted: " + Text(-size) + " to " + Text(size - 1));
      if (i < 0) i += size;
    }
    return c.Tensor(indices.shape(), kInt64, numbers.data());
  }
  const Value wide = c.Cast(indices, kInt64);
  return c.Op("_npi_where",
              {WithNumber(c, "_npi_less_scalar", wide, 0), WithNumber(c, "_npi_add_scalar", wide, static_cast<double>(size)), wide});
}

Value Numbered(const Call& c, const Value& v, std::vector<std::string>* strings) {
  if (v.kind != Value::kStrings) return v;
  std::vector<int64_t> numbers(v.strings->size());
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(strings->size() + i);
  strings->insert(strings->end(), v.strings->begin(), v.strings->end());
  return c.Tensor(v.shape(), kInt64, numbers.data());
}

Value Lettered(const Call& c, const Value& numbers, const std::vector<std::string>& strings) {
  std::vector<std::string> result;
  for (int64_t number : IntegersOf(numbers)) {
    if (number < 0 || number >= static_cast<int64_t>(strings.size())) c.Refuse("strings cannot be filled in");
    result.push_back(strings[static_cast<size_t>(number)]);
  }
  return StringsValue(numbers.shape(), std::move(result));
}

void MoveElements(Call& c, Converter convert) {
  std::vector<Value> inputs = c.inputs();
  std::vector<std::string> strings;
  bool any = false;  // also arrays without elements
  for (Value& v : inputs) {
    any = any || v.kind == Value::kStrings;
    v = Numbered(c, v, &strings);
  }
  if (!any) return convert(c);
  for (int i = 0; i < c.num_inputs(); ++i)
    if (c.has(i) && c.in(i).kind == Value::kTensor) c.Known(i);  // indices, and conditions
  Call inner(c.node, c.opset, c.argument, std::move(inputs), c.builder());
  convert(inner);
  inner.CheckAttributes();
  for (const Attribute& a : c.node.attributes) c.Ignore(a.name.c_str());
  for (size_t i = 0; i < inner.outputs().size(); ++i) {
    const Value& moved = inner.outputs()[i];
    if (moved.kind != Value::kNone) c.Out(static_cast<int>(i), Lettered(c, moved, strings));
  }
}

void ConvertAs(Call& c, const char* op, int64_t opset, std::vector<Value> inputs, const std::vector<const char*>& own,
               const std::vector<Attribute>& given) {
  const Rule* const rule = FindRule("", op, opset);
  NodeProto more;
  if (!given.empty()) {
    more = c.node;
    more.attributes.insert(more.attributes.end(), given.begin(), given.end());
  }
  Call inner(given.empty() ? c.node : more, opset, rule->argument, std::move(inputs), c.builder());
  for (const char* name : own) inner.Ignore(name);
  rule->convert(inner);
  inner.CheckAttributes();
  for (const Attribute& a : c.node.attributes) c.Ignore(a.name.c_str());
  for (size_t i = 0; i < inner.outputs().size(); ++i)
    if (inner.outputs()[i].kind != Value::kNone) c.Out(static_cast<int>(i), inner.outputs()[i]);
}

}  // namespace onnx
}  // namespace mxnet
