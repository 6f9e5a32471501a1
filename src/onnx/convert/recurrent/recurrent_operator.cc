// Recurrent layers as the operator RNN has them: gates in its order, one array of parameters.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "ndarray/run.h"
#include "ndarray/stored.h"
#include "onnx/builder.h"
#include "onnx/convert/recurrent/recurrent.h"

namespace mxnet {
namespace onnx {

namespace {

/* Where the operator's gates are among those of ONNX: i f c o of i o f c; r z h of z r h. */
const int* GateOrder(Recurrent::Cell cell) {
  static constexpr int kLstmOrder[] = {0, 2, 3, 1}, kGruOrder[] = {1, 0, 2}, kRnnOrder[] = {0};
  return cell == Recurrent::kLstm ? kLstmOrder : cell == Recurrent::kGru ? kGruOrder : kRnnOrder;
}

/* Gates of x (gates * hidden, ...) in the operator's order. */
Value Ordered(const Call& c, const Recurrent& layer, const Value& x) {
  if (layer.gates == 1) return x;
  const auto parts = Split(c, x, 0, layer.gates);
  std::vector<Value> ordered;
  for (int64_t gate = 0; gate < layer.gates; ++gate) ordered.push_back(parts[static_cast<size_t>(GateOrder(layer.cell)[gate])]);
  return Concat(c, ordered, 0);
}

/* Known floats, wherever they are. */
class Floats {
 public:
  Floats() = default;
  explicit Floats(const NDArray& array) : size_(array.shape().Size()), array_(array) {
    if (array.delayed() && array.chunk()->stored && CoversChunk(array))
      stored_ = array.chunk()->stored;
    else
      array.WaitToRead();
  }
  /* All of them; `room` holds them where they are not in memory. */
  const float* Read(std::unique_ptr<float[]>* room) const {
    if (!stored_) return size_ ? array_.data().data<float>() : nullptr;
    room->reset(new float[static_cast<size_t>(size_)]);
    stored_->Read(room->get());
    return room->get();
  }

 private:
  int64_t size_ = 0;
  NDArray array_;
  std::shared_ptr<const StoredContents> stored_;
};

/* The operator's parameters, made of a node's weights when they are read: a plan packs them, and
 * then nobody holds either. */
class ParameterContents final : public StoredContents {
 public:
  explicit ParameterContents(const Recurrent& layer)
      : directions_(layer.directions),
        gates_(layer.gates),
        hidden_(layer.hidden),
        input_(layer.input),
        order_(GateOrder(layer.cell)),
        w_(layer.w.array),
        r_(layer.r.array) {
    if (layer.b.kind != Value::kNone) b_ = Floats(layer.b.array);
  }
  void Read(void* to) const override {
    const int64_t size = gates_ * hidden_, of_direction = size * (input_ + hidden_);
    float* const y = static_cast<float*>(to);
    Gates(w_, directions_, hidden_ * input_, y, of_direction);
    Gates(r_, directions_, hidden_ * hidden_, y + size * input_, of_direction);
    Gates(b_, 2 * directions_, hidden_, y + directions_ * of_direction, size);
  }

 private:
  /* Parts of `each` elements for all gates; `stride`: from where all gates of one begin to where
   * those of the next one do. */
  void Gates(const Floats& from, int64_t parts, int64_t each, float* to, int64_t stride) const {
    std::unique_ptr<float[]> room;
    const float* const x = from.Read(&room);
    for (int64_t i = 0; i < parts; ++i)
      for (int64_t gate = 0; gate < gates_; ++gate) {
        float* const here = to + i * stride + gate * each;
        if (x)
          std::copy_n(x + (i * gates_ + order_[gate]) * each, each, here);
        else
          std::fill_n(here, each, 0.f);
      }
  }
  const int64_t directions_, gates_, hidden_, input_;
  const int* const order_;
  const Floats w_, r_;
  Floats b_;
};

bool AreKnownFloats(const Recurrent& layer) {
  for (const Value* v : {&layer.w, &layer.r, &layer.b})
    if (v->kind != Value::kNone && (!v->known() || v->dtype() != kFloat32)) return false;
  return layer.x.dtype() == kFloat32;
}

Value Parameters(const Call& c, const Recurrent& layer) {
  const int64_t size = layer.gates * layer.hidden;
  if (AreKnownFloats(layer)) {
    FoldedWeights* const folded = c.builder()->folded();
    const std::string name = "parameters of RNN, cell " + Text(static_cast<int>(layer.cell));
    std::vector<NDArray> of = {layer.w.array, layer.r.array};
    if (layer.b.kind != Value::kNone) of.push_back(layer.b.array);
    std::vector<NDArray> kept = folded->Find(name, of);
    if (kept.empty()) {
      const Shape shape{layer.directions * size * (layer.input + layer.hidden + 2)};
      kept = folded->Put(name, of, {StoredArray(shape, kFloat32, std::make_shared<ParameterContents>(layer))});
    }
    c.builder()->TellOf(kept[0], nullptr, {layer.w, layer.r});
    return Value(kept[0]);
  }
  std::vector<Value> all;
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

/* (steps, batch, directions * hidden) as (steps, directions, batch, hidden). */
Value DirectionsApart(const Call& c, const Recurrent& layer, const Value& y) {
  if (layer.of_any_sizes && layer.directions == 1) return c.Op("expand_dims", {y}, {{"axis", "1"}});
  if (layer.of_any_sizes) {
    const std::string sizes = Text(std::vector<int64_t>{0, 0, layer.directions, layer.hidden});  // 0: as it is there
    return c.Transpose(c.Op("Reshape", {y}, {{"shape", sizes}}), {0, 2, 1, 3});
  }
  const Value split = c.Reshape(y, Shape{layer.steps, layer.batch, layer.directions, layer.hidden});
  return layer.directions == 1 ? c.Reshape(split, Shape{layer.steps, 1, layer.batch, layer.hidden}) : c.Transpose(split, {0, 2, 1, 3});
}

const char* Mode(const Recurrent& layer) {
  if (layer.cell == Recurrent::kLstm) return "lstm";
  if (layer.cell == Recurrent::kGru) return "gru";
  return layer.activations[0].name == "relu" ? "rnn_relu" : "rnn_tanh";
}

}  // namespace

bool HasOperator(const Recurrent& layer) {
  if (layer.clip != 0 || layer.input_forget || layer.peepholes.kind != Value::kNone || layer.attention) return false;
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
  result.y = DirectionsApart(c, layer, layer.reverse ? Reversed(c, layer, made[0]) : made[0]);
  result.h = made[1];
  if (lstm) result.c = made[2];
  return result;
}

}  // namespace onnx
}  // namespace mxnet
