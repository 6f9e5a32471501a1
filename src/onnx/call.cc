// What converters ask of a node, and the small things that many of them make.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "mxnet/op.h"
#include "ndarray/stored.h"
#include "onnx/builder.h"

namespace mxnet {
namespace onnx {

std::string Text(const std::vector<int64_t>& values) {
  std::string text = "(";
  for (size_t i = 0; i < values.size(); ++i) text += (i ? ", " : "") + std::to_string(values[i]);
  return text + (values.size() == 1 ? ",)" : ")");
}

std::string Text(const Shape& shape) { return Text(std::vector<int64_t>(shape.begin(), shape.end())); }

std::string Text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

Value StringsValue(const Shape& shape, std::vector<std::string> strings) {
  Value v;
  v.kind = Value::kStrings;
  v.type = TensorType(shape, kStringType);
  v.strings = std::make_shared<const std::vector<std::string>>(std::move(strings));
  return v;
}

// ---- operands

std::string Call::Place() const {
  return "node " + node.label() + " (" + (node.domain.empty() ? "" : node.domain + ".") + node.op + ", opset " + std::to_string(opset) +
         ")";
}

void Call::Refuse(const std::string& what) const { throw Error(Error::Kind::kValue, "[onnx] " + Place() + ": " + what); }

const Value& Call::in(int i) const {
  if (!has(i)) Refuse("input " + std::to_string(i) + " is not there");
  return inputs_[static_cast<size_t>(i)];
}

bool Call::IsWeight(int i) const {
  const Value& v = in(i);
  return v.known() && (!builder_->on_arrays() || builder_->folded()->Keeps({v.array})[0]);
}

bool Call::ForTraining() const { return builder_->ForTraining(); }

const NDArray& Call::Known(int i) const {
  const Value& v = in(i);
  if (v.kind != Value::kTensor) Refuse("input " + std::to_string(i) + " is not a tensor of numbers");
  if (!v.known()) throw NeedsValue{{i}};
  return v.array;
}

std::vector<int64_t> Call::Ints(int i) const { return IntsIn(Known(i)); }
std::vector<double> Call::Floats(int i) const { return FloatsIn(Known(i)); }

int64_t Call::Int(int i) const {
  if (in(i).size() != 1) Refuse("input " + std::to_string(i) + " has shape " + in(i).shape().str() + "; accepted: one element");
  return Ints(i)[0];
}

bool Call::AtMost(int i, int64_t bound) const {
  if (in(i).known()) return Int(i) <= bound;
  if (const bool* holds = builder_->FindBound(node.inputs[static_cast<size_t>(i)], bound)) return *holds;
  throw NeedsValue{{i}, bound};
}

double Call::Float(int i) const {
  if (in(i).size() != 1) Refuse("input " + std::to_string(i) + " has shape " + in(i).shape().str() + "; accepted: one element");
  return Floats(i)[0];
}

const std::vector<std::string>& Call::Strings(int i) const {
  if (in(i).kind != Value::kStrings) Refuse("input " + std::to_string(i) + " has no strings");
  return *in(i).strings;
}

// ---- attributes

namespace {

const char* KindName(AttributeKind kind) {
  static const char* const names[] = {"nothing", "a float", "an integer", "a string", "a tensor",       "a graph", "floats", "integers",
                                      "strings", "tensors", "graphs",     "a tensor", "sparse tensors", "a type",  "types"};
  const int k = static_cast<int>(kind);
  return k >= 0 && k <= 14 ? names[k] : "something unknown";
}

}  // namespace

const Attribute* Call::Find(const char* name, AttributeKind kind) const {
  asked_.insert(name);
  for (const Attribute& a : node.attributes) {
    if (a.name != name) continue;
    if (a.kind != kind) {
      // an empty list has no type in some files
      const bool empty_list = a.kind == AttributeKind::kUndefined;
      if (empty_list) return nullptr;
      Refuse(std::string("attribute ") + name + " is " + KindName(a.kind) + "; accepted: " + KindName(kind));
    }
    return &a;
  }
  return nullptr;
}

bool Call::has_attr(const char* name) const {
  return std::any_of(node.attributes.begin(), node.attributes.end(), [&](const Attribute& a) { return a.name == name; });
}

int64_t Call::Attr(const char* name, int64_t otherwise) const {
  const Attribute* a = Find(name, AttributeKind::kInt);
  return a ? a->i : otherwise;
}
float Call::Attr(const char* name, float otherwise) const {
  const Attribute* a = Find(name, AttributeKind::kFloat);
  return a ? a->f : otherwise;
}
std::string Call::Attr(const char* name, const char* otherwise) const {
  const Attribute* a = Find(name, AttributeKind::kString);
  return a ? a->s : otherwise;
}
std::vector<int64_t> Call::Attr(const char* name, std::vector<int64_t> otherwise) const {
  const Attribute* a = Find(name, AttributeKind::kInts);
  return a ? a->ints : otherwise;
}
std::vector<float> Call::Attr(const char* name, std::vector<float> otherwise) const {
  const Attribute* a = Find(name, AttributeKind::kFloats);
  return a ? a->floats : otherwise;
}
std::vector<std::string> Call::Attr(const char* name, std::vector<std::string> otherwise) const {
  const Attribute* a = Find(name, AttributeKind::kStrings);
  return a ? a->strings : otherwise;
}
static const Attribute kAbsent;
const std::vector<int64_t>& Call::IntsAttr(const char* name) const {
  const Attribute* a = Find(name, AttributeKind::kInts);
  return (a ? *a : kAbsent).ints;
}
const std::vector<float>& Call::FloatsAttr(const char* name) const {
  const Attribute* a = Find(name, AttributeKind::kFloats);
  return (a ? *a : kAbsent).floats;
}
const std::vector<std::string>& Call::StringsAttr(const char* name) const {
  const Attribute* a = Find(name, AttributeKind::kStrings);
  return (a ? *a : kAbsent).strings;
}
const Constant* Call::TensorAttr(const char* name) const {
  const Attribute* a = Find(name, AttributeKind::kTensor);
  return a ? a->tensor.get() : nullptr;
}
const GraphProto* Call::GraphAttr(const char* name) const {
  const Attribute* a = Find(name, AttributeKind::kGraph);
  return a ? a->graph.get() : nullptr;
}

int Call::DTypeAttr(const char* name, int otherwise) const {
  const Attribute* a = Find(name, AttributeKind::kInt);
  if (!a) return otherwise;
  const int dtype = DTypeOfOnnx(a->i);
  const SmallType* small = SmallTypeOf(a->i);
  if (dtype == kDTypeUnknown || (small && small->format))
    Refuse(std::string("attribute ") + name + " is the type " + OnnxTypeName(a->i) +
           "; accepted: floats of 16, 32 and 64 bits, integers, bool");
  return dtype;
}

void Call::CheckAttributes() const {
  for (const Attribute& a : node.attributes)
    if (!asked_.count(a.name)) Refuse("attribute " + a.name + " is not known for this operator");
}

// ---- making things

std::vector<Value> Call::Ops(const char* op, const std::vector<Value>& operands, AttrDict attrs) const {
  try {
    return builder_->Apply(*this, op, operands, std::move(attrs));
  } catch (NeedsValue& needs) {
    if (needs.inputs.empty())  // of an operator of ours: whatever it reads
      for (int i = 0; i < num_inputs(); ++i)
        if (has(i) && inputs_[static_cast<size_t>(i)].kind == Value::kTensor && !inputs_[static_cast<size_t>(i)].known())
          needs.inputs.push_back(i);
    if (needs.inputs.empty()) Refuse(std::string("the shape of what ") + op + " makes is not known");
    throw;
  }
}

Value Call::Op(const char* op, const std::vector<Value>& operands, AttrDict attrs) const { return Ops(op, operands, std::move(attrs))[0]; }

Value Call::Tensor(const Shape& shape, int dtype, const void* bytes) const { return Value(ConstantArray(shape, dtype, bytes)); }

Value Call::IntTensor(const std::vector<int64_t>& values) const {
  return Tensor(Shape{static_cast<int64_t>(values.size())}, kInt64, values.data());
}

Value Call::Scalar(double value, int dtype) const {
  char bytes[8];
  ConvertElements(&value, kFloat64, bytes, dtype, 1);
  return Tensor(Shape(0), dtype, bytes);
}

Value Call::Filled(const Shape& shape, int dtype, double value) const {
  return Op("_npi_full", {}, {{"shape", Text(shape)}, {"dtype", DTypeName(dtype)}, {"value", Text(value)}});
}

Value Call::Cast(const Value& x, int dtype) const {
  if (x.dtype() == dtype) return x;
  return Op("Cast", {x}, {{"dtype", DTypeName(dtype)}});
}

Value Call::ReshapeTo(const Value& x, const std::vector<int64_t>& sizes) const {
  if (ForAnyShape() && !x.known()) return Op("_npi_reshape", {x}, {{"newshape", Text(sizes)}});
  std::vector<int64_t> dims = sizes;
  int64_t others = 1;
  for (const int64_t d : sizes) others *= d < 0 ? 1 : d;
  for (int64_t& d : dims)
    if (d < 0) d = others == 0 ? 0 : x.size() / others;
  return Reshape(x, Shape(dims));
}

Value Call::Reshape(const Value& x, const Shape& shape) const {
  if (ForAnyShape() && !x.known()) return Op("_npi_reshape", {x}, {{"newshape", Text(shape)}});
  if (x.shape() == shape) return x;
  if (x.size() != shape.Size()) Refuse("shape " + x.shape().str() + " cannot become " + shape.str());
  if (x.known()) {
    Value v(x.array.Reshape(shape));
    builder_->TellOf(v.array, MakeAttrs(mxnet::Op::Get("_npi_reshape"), {{"newshape", Text(shape)}}), {x});
    return v;
  }
  return Op("_npi_reshape", {x}, {{"newshape", Text(shape)}});
}

Value Call::Transpose(const Value& x, const std::vector<int64_t>& axes) const {
  bool same = true;
  for (size_t i = 0; i < axes.size(); ++i) same = same && axes[i] == static_cast<int64_t>(i);
  if (same) return x;
  return Op("_npi_transpose", {x}, {{"axes", Text(axes)}});
}

Value Call::BroadcastTo(const Value& x, const Shape& shape) const {
  if (x.shape() == shape) return x;
  return Op("_npi_broadcast_to", {x}, {{"shape", Text(shape)}, {"__from__", Text(x.shape())}});  // for who wants to know what repeats
}

// ---- results

void Call::Out(int i, Value v) {
  if (i < num_outputs()) outputs_[static_cast<size_t>(i)] = builder_->Widened(v, node.label());
}

int Call::Axis(int64_t axis, int rank) const {
  if (axis < -rank || axis >= rank)
    Refuse("axis " + std::to_string(axis) + " of " + std::to_string(rank) + " dimensions; accepted: " + std::to_string(-rank) + " to " +
           std::to_string(rank - 1));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::vector<int64_t> Call::Axes(std::vector<int64_t> axes, int rank) const {
  for (int64_t& a : axes) a = Axis(a, rank);
  std::vector<int64_t> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) Refuse("axes " + Text(axes) + " repeat one");
  return axes;
}

}  // namespace onnx
}  // namespace mxnet
