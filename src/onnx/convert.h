/*
 * How ONNX operators become operators of this library.
 *
 * A graph is made anew for each set of input shapes, so a converter knows the shape and dtype of
 * everything, and the contents of what does not depend on the inputs' values: weights, and shapes
 * that were computed. What a converter asks of the library's operators (Call::Op) is computed at
 * once where all operands are known, and otherwise becomes a node of the graph; converters do not
 * see the difference.
 *
 * A converter that needs contents which are not known yet throws NeedsValue by asking for them
 * (Call::Known and those that build on it). The graph is then cut there: what precedes runs, and
 * the converter is called again with the contents. So it asks before it makes anything, and never
 * catches NeedsValue.
 *
 * Adding an operator: a row in the table of its family (a file of src/onnx/convert) with the
 * opsets that the converter serves. Several rows may name one operator, with different opsets.
 * Attributes that no converter asked for are an error, so a converter asks for every attribute
 * that it accepts, and refuses values of it that it does not serve (Call::Refuse).
 */
#ifndef MXNET_ONNX_CONVERT_H_
#define MXNET_ONNX_CONVERT_H_

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mxnet/node.h"
#include "onnx/file/model.h"

namespace mxnet {
namespace onnx {

namespace detail {
/* What a converter has looked at of a result whose contents are not known. */
struct Look {
  static constexpr int kShape = -1, kEmpty = -2;
  const Node* node;
  int axis;  // or one of these
};
/* While a Recipe is written. */
inline thread_local std::vector<Look>* looked_at = nullptr;
}  // namespace detail

/* What an ONNX name stands for while a graph is made. Converters see shapes by the functions alone,
 * which a Recipe relies on. */
struct Value {
  enum Kind : int {
    kNone,      // an optional input that was left out, an optional without element
    kTensor,    // known contents (`array`), or an entry of the graph
    kStrings,   // known strings
    kSequence,  // of values
  };
  Kind kind = kNone;
  TensorType type;  // of tensors; dtype kStringType for strings. Always known
  NDArray array;    // none: computed when the graph runs
  NodeEntry entry;  // of the graph; of known contents once something in the graph reads it
  std::shared_ptr<const std::vector<std::string>> strings;
  std::shared_ptr<const std::vector<Value>> elements;
  int element_dtype = kFloat32;  // of an empty sequence

  Value() = default;
  explicit Value(NDArray known) : kind(kTensor), type(known.type()), array(std::move(known)) {}
  bool known() const { return kind == kStrings || (kind == kTensor && !array.is_none()); }
  const Shape& shape() const {
    LookAt(detail::Look::kShape);
    return type.shape;
  }
  int ndim() const { return type.shape.ndim(); }
  int dtype() const { return type.dtype; }
  int64_t size() const { return shape().Size(); }
  // The same as shape()[axis] and size() == 0, for what depends on no more.
  int64_t dim(int axis) const {
    LookAt(axis);
    return type.shape[axis];
  }
  bool empty() const {
    LookAt(detail::Look::kEmpty);
    return type.shape.Size() == 0;
  }

 private:
  void LookAt(int what) const {
    if (__builtin_expect(detail::looked_at != nullptr, 0) && kind == kTensor && array.is_none())
      detail::looked_at->push_back({entry.node.get(), what});
  }
};

/* A value of known strings. */
Value StringsValue(const Shape& shape, std::vector<std::string> strings);

/* Thrown by Call::Known for contents that are computed when the graph runs. */
struct NeedsValue {
  std::vector<int> inputs;                      // of the node that is being converted
  std::optional<int64_t> bound = std::nullopt;  // only whether the number is at most this
};

/* Where nodes go. One for the time in which one graph is made. */
class GraphBuilder;

/* One node of an ONNX graph that is being converted. */
class Call {
 public:
  Call(const NodeProto& node, int64_t opset, const char* argument, std::vector<Value> inputs, GraphBuilder* builder)
      : node(node), opset(opset), argument(argument), inputs_(std::move(inputs)), builder_(builder), outputs_(node.outputs.size()) {}

  const NodeProto& node;
  const int64_t opset;         // of the node's domain
  const char* const argument;  // what the row gave along; may be null

  // ---- operands
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  /* Is that input there? */
  bool has(int i) const { return i < num_inputs() && inputs_[static_cast<size_t>(i)].kind != Value::kNone; }
  /* Throws Error(kValue) when it was left out. */
  const Value& in(int i) const;
  const std::vector<Value>& inputs() const { return inputs_; }
  int num_outputs() const { return static_cast<int>(node.outputs.size()); }
  /* Does anybody read that output? */
  bool wants(int i) const { return i < num_outputs() && !node.outputs[static_cast<size_t>(i)].empty(); }

  /* Is it known, and not data of a call whose nodes run on arrays? */
  bool IsWeight(int i) const;

  /* The contents of an input, on the CPU; throws NeedsValue. Ints and Floats convert from any dtype
   * of numbers. */
  const NDArray& Known(int i) const;
  std::vector<int64_t> Ints(int i) const;
  std::vector<double> Floats(int i) const;
  int64_t Int(int i) const;  // of one element
  double Float(int i) const;
  /* Is the integer at most `bound`? A plan that asks so serves all numbers with the same answer. */
  bool AtMost(int i, int64_t bound) const;
  const std::vector<std::string>& Strings(int i) const;

  /* The type of an input that is stored in bytes; null: another. */
  const SmallType* small(int i) const { return static_cast<size_t>(i) < node.small.size() ? node.small[static_cast<size_t>(i)] : nullptr; }

  // ---- attributes: absent ones are `otherwise`; of another type: Error(kValue)
  bool has_attr(const char* name) const;
  int64_t Attr(const char* name, int64_t otherwise) const;
  float Attr(const char* name, float otherwise) const;
  std::string Attr(const char* name, const char* otherwise) const;
  std::vector<int64_t> Attr(const char* name, std::vector<int64_t> otherwise) const;
  std::vector<float> Attr(const char* name, std::vector<float> otherwise) const;
  std::vector<std::string> Attr(const char* name, std::vector<std::string> otherwise) const;
  /* The node's own lists, which may be long; empty where they are absent. */
  const std::vector<int64_t>& IntsAttr(const char* name) const;
  const std::vector<float>& FloatsAttr(const char* name) const;
  const std::vector<std::string>& StringsAttr(const char* name) const;
  /* Null when it is absent. */
  const Constant* TensorAttr(const char* name) const;
  const GraphProto* GraphAttr(const char* name) const;
  /* The dtype that a DataType attribute stands for; Error(kValue) when this library has none, or
   * numbers of the type are no numbers of the dtype: floats of 8 and 4 bits. */
  int DTypeAttr(const char* name, int otherwise) const;
  /* An attribute without meaning here (consumed_inputs, ...). */
  void Ignore(const char* name) const { asked_.insert(name); }

  /*
   * Is what is made to serve arrays of other shapes, too (Recipe)? Then a converter had better not
   * look at shapes: operators infer them, and what does not fit is an error when they run.
   */
  static bool ForAnyShape() { return detail::looked_at != nullptr; }

  /* Is the graph to be trained, by to_block? */
  bool ForTraining() const;

  // ---- making things
  /* The first result of an operator of this library on these operands; values of kind kNone at the
   * end are left out. Throws Error(kValue) of inference. */
  Value Op(const char* op, const std::vector<Value>& operands, AttrDict attrs = {}) const;
  /* All results. */
  std::vector<Value> Ops(const char* op, const std::vector<Value>& operands, AttrDict attrs = {}) const;
  Value Scalar(double value, int dtype) const;                           // shape ()
  Value IntTensor(const std::vector<int64_t>& values) const;             // int64, shape (n,)
  Value Tensor(const Shape& shape, int dtype, const void* bytes) const;  // a copy
  Value Filled(const Shape& shape, int dtype, double value) const;
  // Often needed; each returns `x` itself where nothing is to be done.
  Value Cast(const Value& x, int dtype) const;
  Value Reshape(const Value& x, const Shape& shape) const;
  /* `sizes`: -1 once, for what the other ones leave. */
  Value ReshapeTo(const Value& x, const std::vector<int64_t>& sizes) const;
  Value Transpose(const Value& x, const std::vector<int64_t>& axes) const;
  Value BroadcastTo(const Value& x, const Shape& shape) const;

  // ---- results
  void Out(int i, Value v);
  void Out(Value v) { Out(0, std::move(v)); }
  std::vector<Value>& outputs() { return outputs_; }

  /* Throws Error(kValue): "[onnx] node NAME (DOMAIN.OP, opset N): WHAT". */
  [[noreturn]] void Refuse(const std::string& what) const;
  /* Axis in [0, rank); Refuses others. */
  int Axis(int64_t axis, int rank) const;
  std::vector<int64_t> Axes(std::vector<int64_t> axes, int rank) const;
  /* Throws for attributes that nobody asked for. */
  void CheckAttributes() const;
  std::string Place() const;
  GraphBuilder* builder() const { return builder_; }

 private:
  const Attribute* Find(const char* name, AttributeKind kind) const;
  std::vector<Value> inputs_;
  GraphBuilder* builder_;
  std::vector<Value> outputs_;
  mutable std::set<std::string> asked_;
};

/* "(2, 3)", "True", "0.5" as parameters of operators are written. */
std::string Text(const std::vector<int64_t>& values);
std::string Text(const Shape& shape);
std::string Text(double value);
inline std::string Text(int64_t value) { return std::to_string(value); }
inline std::string Text(int value) { return std::to_string(value); }
inline std::string Text(bool value) { return value ? "True" : "False"; }
inline std::string Text(const char* value) { return value; }

using Converter = void (*)(Call&);

constexpr int64_t kNewest = 1 << 20;

/* A row: from which opset (of the domain) to which. */
struct Rule {
  const char* domain;
  const char* op;
  int64_t from, to;
  Converter convert;
  const char* argument;
};

/* The row that serves; null when there is none. */
const Rule* FindRule(const std::string& domain, const std::string& op, int64_t opset);
/* Is there a row for any opset? */
bool KnowsOp(const std::string& domain, const std::string& op);
std::vector<const Rule*> AllRules();

// The families, convert/*.cc. Each returns its table.
using Rules = std::vector<Rule>;
const Rules& PointwiseRules();
const Rules& ReduceRules();
const Rules& ShapeRules();         // reshapes, slices, concatenation, padding, casts
const Rules& IndexRules();         // gather, scatter, top-k, where, one-hot
const Rules& MatrixRules();        // MatMul, Gemm, Einsum, Det
const Rules& NeuralRules();        // convolution, pooling, resizing
const Rules& NormRules();          // normalisation, softmax, losses
const Rules& AttentionRules();     // attention, rotary embeddings
const Rules& RecurrentRules();     // LSTM, GRU, RNN
const Rules& QuantizedRules();     // ai.onnx and com.microsoft
const Rules& IntegerRules();       // nodes that take the place of others (integers.h)
const Rules& FusedRules();         // what onnxruntime's optimizer writes
const Rules& ExperimentalRules();  // of the first opsets
const Rules& MicrosoftRules();     // com.microsoft's forms of operators of ai.onnx
const Rules& SequenceRules();      // sequences, optionals
const Rules& SignalRules();        // DFT, STFT, windows
const Rules& RandomRules();
const Rules& TreeRules();    // ai.onnx.ml
const Rules& TextRules();    // strings
const Rules& VisionRules();  // NonMaxSuppression, RoiAlign, GridSample, ...
const Rules& CoreRules();    // Constant, and what runs graphs: If, Loop, Scan, SequenceMap

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_CONVERT_H_
