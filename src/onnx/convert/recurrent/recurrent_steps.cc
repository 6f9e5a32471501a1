// Recurrent layers written out step by step: peepholes, clipping, other activations, GRUs whose
// reset gate comes before the product.
#include "onnx/convert/recurrent/recurrent.h"

namespace mxnet {
namespace onnx {

namespace {

constexpr int64_t kMostSteps = 16384;  // of which a graph is made

Value Activate(const Call& c, const Recurrent& layer, const Activation& a, Value x) {
  if (layer.clip > 0) x = Clip(c, x, -layer.clip, layer.clip);
  if (a.name == "sigmoid") return Sigmoid(c, x);
  if (a.name == "tanh") return Unary(c, "tanh", x);
  if (a.name == "relu") return c.Op("relu", {x});
  if (a.name == "softsign") return c.Op("softsign", {x});
  if (a.name == "softplus") return c.Op("Activation", {x}, {{"act_type", "softrelu"}});
  if (a.name == "affine") return AddNumber(c, MulNumber(c, x, a.alpha), a.beta);
  if (a.name == "scaledtanh") return MulNumber(c, Unary(c, "tanh", MulNumber(c, x, a.beta)), a.alpha);
  if (a.name == "hardsigmoid") return Clip(c, AddNumber(c, MulNumber(c, x, a.alpha), a.beta), 0, 1);
  if (a.name == "leakyrelu") return c.Op("LeakyReLU", {x}, {{"act_type", "leaky"}, {"slope", Text(a.alpha)}});
  if (a.name == "elu") return c.Op("LeakyReLU", {x}, {{"act_type", "elu"}, {"slope", Text(a.alpha)}});
  return Where(c, BinaryNumber(c, "greater", x, a.alpha), x, c.Scalar(0, x.dtype()));  // thresholdedrelu
}

Value OneMinus(const Call& c, const Value& x) { return AddNumber(c, MulNumber(c, x, -1), 1); }

/* One direction. */
struct Steps {
  Steps(const Call& call, const Recurrent& of, const Activation* first) : c(call), layer(of), activations(first) {}

  const Call& c;
  const Recurrent& layer;
  const Activation* activations;
  Value products;                   // (steps, batch, gates * hidden): of data, with both biases where they may be added
  Value r;                          // (gates * hidden, hidden)
  Value candidate, candidate_bias;  // GRU: rows of r and the bias of the candidate's hidden part
  Value peep_i, peep_o, peep_f;
  Value h, cell;

  void Lstm(const Value& data) {
    const auto gates = Split(c, Add(c, data, Dense(c, h, r)), 1, 4);  // i o f c
    const auto peep = [&](const Value& x, const Value& p, const Value& state) {
      return p.kind == Value::kNone ? x : Add(c, x, Mul(c, state, p));
    };
    const Value i = Activate(c, layer, activations[0], peep(gates[0], peep_i, cell));
    const Value f = layer.input_forget ? OneMinus(c, i) : Activate(c, layer, activations[0], peep(gates[2], peep_f, cell));
    const Value g = Activate(c, layer, activations[1], gates[3]);
    next_cell = Add(c, Mul(c, f, cell), Mul(c, i, g));
    const Value o = Activate(c, layer, activations[0], peep(gates[1], peep_o, next_cell));
    Recurrent free = layer;
    free.clip = 0;
    next_h = Mul(c, o, Activate(c, free, activations[2], next_cell));
  }

  void Gru(const Value& data) {
    const int64_t n = layer.hidden;
    const Value both = Add(c, SliceAxis(c, data, 1, 0, 2 * n), Dense(c, h, SliceAxis(c, r, 0, 0, 2 * n)));
    const auto gates = Split(c, Activate(c, layer, activations[0], both), 1, 2);  // z r
    const auto biased = [&](const Value& x) { return candidate_bias.kind == Value::kNone ? x : Add(c, x, candidate_bias); };
    const Value part =
        layer.linear_before_reset ? Mul(c, gates[1], biased(Dense(c, h, candidate))) : biased(Dense(c, Mul(c, gates[1], h), candidate));
    const Value new_h = Activate(c, layer, activations[1], Add(c, SliceAxis(c, data, 1, 2 * n, 3 * n), part));
    next_h = Add(c, Mul(c, OneMinus(c, gates[0]), new_h), Mul(c, gates[0], h));
  }

  void Plain(const Value& data) { next_h = Activate(c, layer, activations[0], Add(c, data, Dense(c, h, r))); }

  Value next_h, next_cell;

  // ---- attention: what was found for the step before, and what it is found by
  Value found, found_weight, query, keys, vector, attention_layer;

  /* What the memory has for the next hidden state. */
  Value Find() const {
    const MemoryAttention& a = *layer.attention;
    const int64_t length = a.memory.shape()[1], units = vector.size();
    const Value asked = c.Reshape(Dense(c, next_h, query), Shape{layer.batch, 1, units});
    Value scores = Sum(c, Mul(c, Unary(c, "tanh", Add(c, keys, asked)), vector), {2}, false);
    if (a.exists.kind != Value::kNone) scores = Where(c, a.exists, scores, c.Scalar(-1e30, scores.dtype()));
    const Value shares = c.Reshape(c.Op("softmax", {scores}, {{"axis", "-1"}}), Shape{layer.batch, 1, length});
    const Value taken = c.Reshape(MatMul(c, shares, a.memory), Shape{layer.batch, a.memory.shape()[2]});
    return attention_layer.kind == Value::kNone ? taken : Dense(c, Concat(c, {next_h, taken}, 1), attention_layer);
  }

  /* Gives the step's output. */
  Value Step(int64_t t) {
    Value data = c.Reshape(SliceAxis(c, products, 0, t, t + 1), Shape{layer.batch, layer.gates * layer.hidden});
    if (layer.attention) data = Add(c, data, Dense(c, found, found_weight));
    if (layer.cell == Recurrent::kLstm)
      Lstm(data);
    else if (layer.cell == Recurrent::kGru)
      Gru(data);
    else
      Plain(data);
    const Value next = layer.attention ? Find() : Value();
    if (layer.lengths.kind == Value::kNone) {
      h = next_h, cell = next_cell, found = next;
      return h;
    }
    const Value running = c.Reshape(BinaryNumber(c, "greater", layer.lengths, static_cast<double>(t)), Shape{layer.batch, 1});
    h = Where(c, running, next_h, h);
    if (layer.cell == Recurrent::kLstm) cell = Where(c, running, next_cell, cell);
    if (layer.attention) found = Where(c, running, next, found);
    return Where(c, running, next_h, c.Scalar(0, next_h.dtype()));
  }
};

Value OfDirection(const Call& c, const Value& x, int64_t d) {
  Sizes shape = DimsOf(x.shape());
  shape.erase(shape.begin());
  return c.Reshape(SliceAxis(c, x, 0, d, d + 1), Shape(shape));
}

void SetBias(const Recurrent& layer, int64_t d, Steps* s) {
  const Call& c = s->c;
  if (layer.b.kind == Value::kNone) return;
  const int64_t size = layer.gates * layer.hidden, n = layer.hidden;
  const Value b = OfDirection(c, layer.b, d), wb = SliceAxis(c, b, 0, 0, size), rb = SliceAxis(c, b, 0, size, 2 * size);
  if (layer.cell == Recurrent::kGru) {
    s->products =
        Add(c, s->products,
            Concat(c, {Add(c, SliceAxis(c, wb, 0, 0, 2 * n), SliceAxis(c, rb, 0, 0, 2 * n)), SliceAxis(c, wb, 0, 2 * n, size)}, 0));
    s->candidate_bias = SliceAxis(c, rb, 0, 2 * n, size);
  } else {
    s->products = Add(c, s->products, Add(c, wb, rb));
  }
}

void SetAttention(const Recurrent& layer, int64_t d, Steps* s) {
  if (!layer.attention) return;
  const Call& c = s->c;
  const MemoryAttention& a = *layer.attention;
  const auto turned = [&](const Value& v) { return c.Transpose(OfDirection(c, v, d), {1, 0}); };
  s->found = c.Filled(Shape{layer.batch, a.found}, layer.x.dtype(), 0);
  s->found_weight = OfDirection(c, a.data_weight, d);
  s->query = turned(a.query), s->vector = OfDirection(c, a.vector, d);
  s->keys = Dense(c, a.memory, turned(a.keys));
  if (a.layer.kind != Value::kNone) s->attention_layer = turned(a.layer);
}

}  // namespace

RecurrentResult ByStep(const Call& c, const Recurrent& layer) {
  if (layer.steps > kMostSteps)
    c.Refuse("sequences of " + Text(layer.steps) +
             " steps with peepholes, clipping, attention, unusual activations or linear_before_reset=0; accepted are up to " +
             Text(kMostSteps));
  std::vector<Value> ys, hs, cells;
  const size_t each = layer.activations.size() / static_cast<size_t>(layer.directions);
  for (int64_t d = 0; d < layer.directions; ++d) {
    Steps s(c, layer, layer.activations.data() + each * static_cast<size_t>(d));
    s.r = OfDirection(c, layer.r, d);
    s.products = Dense(c, layer.x, OfDirection(c, layer.w, d));
    SetBias(layer, d, &s);
    SetAttention(layer, d, &s);
    if (layer.cell == Recurrent::kGru) s.candidate = SliceAxis(c, s.r, 0, 2 * layer.hidden, 3 * layer.hidden);
    if (layer.peepholes.kind != Value::kNone) {
      const auto peep = Split(c, OfDirection(c, layer.peepholes, d), 0, 3);
      s.peep_i = peep[0], s.peep_o = peep[1], s.peep_f = peep[2];
    }
    s.h = OfDirection(c, layer.h, d);
    if (layer.cell == Recurrent::kLstm) s.cell = OfDirection(c, layer.c, d);
    const bool backwards = layer.reverse || d == 1;
    std::vector<Value> outputs(static_cast<size_t>(layer.steps));
    for (int64_t i = 0; i < layer.steps; ++i) {
      const int64_t t = backwards ? layer.steps - 1 - i : i;
      outputs[static_cast<size_t>(t)] = c.Reshape(s.Step(t), Shape{1, 1, layer.batch, layer.hidden});
    }
    ys.push_back(Concat(c, outputs, 0));
    hs.push_back(c.Reshape(s.h, Shape{1, layer.batch, layer.hidden}));
    if (layer.cell == Recurrent::kLstm) cells.push_back(c.Reshape(s.cell, Shape{1, layer.batch, layer.hidden}));
  }
  RecurrentResult result;
  result.y = Concat(c, ys, 1), result.h = Concat(c, hs, 0);
  if (!cells.empty()) result.c = Concat(c, cells, 0);
  return result;
}

}  // namespace onnx
}  // namespace mxnet
