// Recurrent layers as the operator RNN has them: gates in its order, one array of parameters.
#include "onnx/convert/recurrent.h"

namespace mxnet {
namespace onnx {

namespace {

/* Gates of x (gates * hidden, ...) in the operator's order: i f c o of i o f c; r z h of z r h. */
Value Ordered(const Call& c, const Recurrent& layer, const Value& x) {
  if (layer.cell == Recurrent::kRnn) return x;
  const auto parts = Split(c, x, 0, layer.gates);
  return layer.cell == Recurrent::kLstm ? Concat(c, {parts[0], parts[2], parts[3], parts[1]}, 0)
                                        : Concat(c, {parts[1], parts[0], parts[2]}, 0);
}

Value Parameters(const Call& c, const Recurrent& layer) {
  std::vector<Value> all;
  const int64_t size = layer.gates * layer.hidden;
  for (int64_t d = 0; d < layer.directions; ++d) {
    const Value w = c.Reshape(SliceAxis(c, layer.w, 0, d, d + 1), Shape{size, layer.input});
    const Value r = c.Reshape(SliceAxis(c, layer.r, 0, d, d + 1), Shape{size, layer.hidden});
    all.push_back(c.Reshape(Ordered(c, layer, w), Shape{size * layer.input}));
    all.push_back(c.Reshape(Ordered(c, layer, r), Shape{size * layer.hidden}));
  }
  for (int64_t d = 0; d < layer.directions; ++d) {
    if (layer.b.kind == Value::kNone) {
      all.push_back(c.Filled(Shape{2 * size}, layer.x.dtype(), 0));
      continue;
    }
    const Value b = c.Reshape(SliceAxis(c, layer.b, 0, d, d + 1), Shape{2 * size});
    all.push_back(Ordered(c, layer, SliceAxis(c, b, 0, 0, size)));
    all.push_back(Ordered(c, layer, SliceAxis(c, b, 0, size, 2 * size)));
  }
  return Concat(c, all, 0);
}

Value Reversed(const Call& c, const Recurrent& layer, const Value& x) {
  if (layer.lengths.kind == Value::kNone) return c.Op("SequenceReverse", {x});
  return c.Op("SequenceReverse", {x, layer.lengths}, {{"use_sequence_length", "True"}});
}

const char* Mode(const Recurrent& layer) {
  if (layer.cell == Recurrent::kLstm) return "lstm";
  if (layer.cell == Recurrent::kGru) return "gru";
  return layer.activations[0].name == "relu" ? "rnn_relu" : "rnn_tanh";
}

}  // namespace

bool HasOperator(const Recurrent& layer) {
  if (layer.clip != 0 || layer.input_forget || layer.peepholes.kind != Value::kNone) return false;
  if (layer.cell == Recurrent::kGru && !layer.linear_before_reset) return false;
  const auto named = [&](size_t i, const char* name) { return layer.activations[i].name == name; };
  const size_t each = layer.activations.size() / static_cast<size_t>(layer.directions);
  for (size_t i = 0; i < layer.activations.size(); ++i) {
    const bool gate = each > 1 && i % each == 0;
    if (layer.cell == Recurrent::kRnn ? !(named(i, "tanh") || (named(i, "relu"))) || !named(i, layer.activations[0].name.c_str())
                                      : !named(i, gate ? "sigmoid" : "tanh"))
      return false;
  }
  return true;
}

RecurrentResult ByOperator(const Call& c, const Recurrent& layer) {
  const bool lengths = layer.lengths.kind != Value::kNone, lstm = layer.cell == Recurrent::kLstm;
  std::vector<Value> operands = {layer.reverse ? Reversed(c, layer, layer.x) : layer.x, Parameters(c, layer), layer.h};
  if (lstm) operands.push_back(layer.c);
  if (lengths) operands.push_back(layer.lengths);
  const std::vector<Value> made = c.Ops("RNN", operands,
                                        {{"state_size", Text(layer.hidden)},
                                         {"num_layers", "1"},
                                         {"bidirectional", Text(layer.directions == 2)},
                                         {"mode", Mode(layer)},
                                         {"state_outputs", "True"},
                                         {"use_sequence_length", Text(lengths)}});
  RecurrentResult result;
  const Value y = layer.reverse ? Reversed(c, layer, made[0]) : made[0];
  const Value split = c.Reshape(y, Shape{layer.steps, layer.batch, layer.directions, layer.hidden});
  result.y = layer.directions == 1 ? c.Reshape(split, Shape{layer.steps, 1, layer.batch, layer.hidden}) : c.Transpose(split, {0, 2, 1, 3});
  result.h = made[1];
  if (lstm) result.c = made[2];
  return result;
}

}  // namespace onnx
}  // namespace mxnet
