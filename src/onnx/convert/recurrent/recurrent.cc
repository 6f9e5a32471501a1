#include "onnx/convert/recurrent/recurrent.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace mxnet {
namespace onnx {

namespace {

std::string Lower(std::string text) {
  for (char& letter : text) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return text;
}

struct Defaults {
  bool takes_alpha, takes_beta;
  double alpha, beta;
};

const std::map<std::string, Defaults>& Activations() {
  static const std::map<std::string, Defaults> all = {
      {"relu", {false, false, 0, 0}},        {"tanh", {false, false, 0, 0}},           {"sigmoid", {false, false, 0, 0}},
      {"softsign", {false, false, 0, 0}},    {"softplus", {false, false, 0, 0}},       {"affine", {true, true, 1, 0}},
      {"leakyrelu", {true, false, 0.01, 0}}, {"scaledtanh", {true, true, 1, 1}},       {"hardsigmoid", {true, true, 0.2, 0.5}},
      {"elu", {true, false, 1, 0}},          {"thresholdedrelu", {true, false, 1, 0}},
  };
  return all;
}

std::vector<Activation> ReadActivations(const Call& c, const std::vector<std::string>& otherwise, int64_t directions) {
  std::vector<std::string> names = c.Attr("activations", std::vector<std::string>{});
  const std::vector<float> alpha = c.Attr("activation_alpha", std::vector<float>{}), beta = c.Attr("activation_beta", std::vector<float>{});
  if (names.empty())
    for (int64_t d = 0; d < directions; ++d) names.insert(names.end(), otherwise.begin(), otherwise.end());
  if (names.size() != otherwise.size() * static_cast<size_t>(directions))
    c.Refuse("attribute activations has " + Text(static_cast<int64_t>(names.size())) + " names; accepted are " +
             Text(static_cast<int64_t>(otherwise.size()) * directions));
  std::vector<Activation> made;
  size_t next_alpha = 0, next_beta = 0;
  for (const std::string& name : names) {
    Activation a;
    a.name = Lower(name);
    const auto found = Activations().find(a.name);
    if (found == Activations().end()) c.Refuse("attribute activations has \"" + name + "\", which is not known");
    a.alpha = found->second.alpha, a.beta = found->second.beta;
    // One number for each activation, or only for those that take one.
    if (alpha.size() == names.size()) {
      if (found->second.takes_alpha) a.alpha = alpha[made.size()];
    } else if (found->second.takes_alpha && next_alpha < alpha.size()) {
      a.alpha = alpha[next_alpha++];
    }
    if (beta.size() == names.size()) {
      if (found->second.takes_beta) a.beta = beta[made.size()];
    } else if (found->second.takes_beta && next_beta < beta.size()) {
      a.beta = beta[next_beta++];
    }
    made.push_back(a);
  }
  return made;
}

std::vector<std::string> DefaultActivations(Recurrent::Cell cell) {
  if (cell == Recurrent::kLstm) return {"sigmoid", "tanh", "tanh"};
  if (cell == Recurrent::kGru) return {"sigmoid", "tanh"};
  return {"tanh"};
}

/* For each sequence of the data, however many there are: the operator says what does not fit. */
Value StateForAny(const Call& c, const Recurrent& layer, int input) {
  if (c.has(input)) return layer.batch_first ? c.Transpose(c.in(input), {1, 0, 2}) : c.in(input);
  const Value one = c.Filled(Shape{layer.directions, 1, layer.hidden}, layer.x.dtype(), 0);
  return c.Op("broadcast_like", {one, layer.x}, {{"lhs_axes", "(1,)"}, {"rhs_axes", "(1,)"}});
}

Value State(const Call& c, const Recurrent& layer, int input) {
  if (layer.of_any_sizes) return StateForAny(c, layer, input);
  const Shape shape{layer.directions, layer.batch, layer.hidden};
  if (!c.has(input)) return c.Filled(shape, layer.x.dtype(), 0);
  const Value& given = c.in(input);
  const Value state = layer.batch_first && given.ndim() == 3 ? c.Transpose(given, {1, 0, 2}) : given;
  if (state.shape() != shape) c.Refuse("input " + Text(input) + " has shape " + Text(given.shape()) + "; a state has " + Text(shape));
  return state;
}

/* What says nothing of shapes. */
void ReadFormula(const Call& c, Recurrent* layer) {
  if (layer->cell == Recurrent::kLstm) {
    if (c.has(7)) layer->peepholes = c.in(7);
    layer->input_forget = c.Attr("input_forget", int64_t{0}) != 0;
  }
  if (layer->cell == Recurrent::kGru) layer->linear_before_reset = c.Attr("linear_before_reset", int64_t{0}) != 0;
  layer->clip = c.Attr("clip", 0.0f);
  c.Ignore("output_sequence");
  layer->activations = ReadActivations(c, DefaultActivations(layer->cell), layer->directions);
}

/* `any`: a recipe that looks at none is as good; steps that are written out cannot do without. */
void ReadSizes(const Call& c, bool any, Recurrent* layer) {
  layer->of_any_sizes = any && c.ForAnyShape() && layer->w.known() && layer->r.known() && HasOperator(*layer);
  if (layer->of_any_sizes)
    layer->input = layer->w.shape()[2];
  else
    layer->steps = layer->x.shape()[0], layer->batch = layer->x.shape()[1], layer->input = layer->x.shape()[2];
}

void ConvertCell(Call& c, Recurrent::Cell cell) {
  CheckRank(c, 1, 3, 3);
  CheckRank(c, 2, 3, 3);
  GiveRecurrent(c, ReadRecurrent(c, cell, c.in(1), c.in(2), true));
}

void ConvertLSTM(Call& c) { ConvertCell(c, Recurrent::kLstm); }
void ConvertGRU(Call& c) { ConvertCell(c, Recurrent::kGru); }
void ConvertRNN(Call& c) { ConvertCell(c, Recurrent::kRnn); }

/* The memory and its weights, of the inputs behind those of LSTM. */
MemoryAttention ReadAttention(const Call& c, const Value& weight, int64_t input, int64_t hidden, int64_t batch) {
  for (const int i : {8, 9, 11}) CheckRank(c, i, 3, 3);
  CheckRank(c, 10, 2, 2);
  MemoryAttention a;
  a.query = c.in(8), a.keys = c.in(9), a.vector = c.in(10), a.memory = c.in(11);
  const int64_t directions = weight.shape()[0], length = a.memory.shape()[1], depth = a.memory.shape()[2], units = a.vector.shape()[1];
  a.found = depth;
  if (c.has(13)) CheckRank(c, 13, 3, 3), a.layer = c.in(13), a.found = a.layer.shape()[2];
  if (a.query.shape() != Shape{directions, hidden, units} || a.keys.shape() != Shape{directions, depth, units} ||
      a.vector.shape()[0] != directions || a.memory.shape()[0] != batch || length < 1 || depth < 1 ||
      weight.shape()[2] != input + a.found || (c.has(13) && a.layer.shape() != Shape{directions, hidden + depth, a.found}))
    c.Refuse("W has shape " + Text(weight.shape()) + ", QW " + Text(a.query.shape()) + ", MW " + Text(a.keys.shape()) + ", V " +
             Text(a.vector.shape()) + ", M " + Text(a.memory.shape()) + (c.has(13) ? ", AW " + Text(a.layer.shape()) : "") +
             " for data of " + Text(input) + " numbers and " + Text(hidden) + " hidden ones");
  a.data_weight = SliceAxis(c, weight, 2, input, input + a.found);
  if (!c.has(12)) return a;
  if (c.in(12).shape() != Shape{batch}) c.Refuse("memory_seq_lens has shape " + Text(c.in(12).shape()) + " for a batch of " + Text(batch));
  const Value places = c.Cast(c.Reshape(CountUp(c, length), Shape{1, length}), c.in(12).dtype());
  a.exists = Binary(c, "less", places, c.Reshape(c.in(12), Shape{batch, 1}));
  a.memory = Where(c, c.Reshape(a.exists, Shape{batch, length, 1}), a.memory, c.Scalar(0, a.memory.dtype()));
  return a;
}

}  // namespace

/* LSTM whose data has beside it what its last state found in a memory. */
void ConvertAttnLSTM(Call& c) {
  CheckRank(c, 0, 3, 3);
  CheckRank(c, 1, 3, 3);
  CheckRank(c, 2, 3, 3);
  const int64_t batch = c.in(0).shape()[1], input = c.in(0).shape()[2];
  const Value &w = c.in(1), &r = c.in(2);
  if (w.shape()[2] <= input) c.Refuse("W has shape " + Text(w.shape()) + " for data of " + Text(input) + " numbers, and what is found");
  Recurrent layer = ReadRecurrent(c, Recurrent::kLstm, SliceAxis(c, w, 2, 0, input), r);
  const MemoryAttention attention = ReadAttention(c, w, input, layer.hidden, batch);
  layer.attention = &attention;
  GiveRecurrent(c, layer);
}

Recurrent ReadRecurrent(const Call& c, Recurrent::Cell cell, const Value& w, const Value& r, bool any_sizes) {
  CheckRank(c, 0, 3, 3);
  Recurrent layer;
  layer.cell = cell;
  layer.gates = cell == Recurrent::kLstm ? 4 : cell == Recurrent::kGru ? 3 : 1;
  const std::string direction = c.Attr("direction", "forward");
  const int kind = OneOf(c, "direction", direction, {"forward", "reverse", "bidirectional"});
  layer.directions = kind == 2 ? 2 : 1, layer.reverse = kind == 1;
  layer.batch_first = c.Attr("layout", int64_t{0}) != 0;
  layer.x = layer.batch_first ? c.Transpose(c.in(0), {1, 0, 2}) : c.in(0);
  layer.w = w, layer.r = r;
  layer.hidden = r.shape()[2];
  ReadFormula(c, &layer);
  ReadSizes(c, any_sizes, &layer);
  const int64_t named = c.Attr("hidden_size", layer.hidden);
  if (named != layer.hidden || w.shape() != Shape{layer.directions, layer.gates * layer.hidden, layer.input} ||
      r.shape() != Shape{layer.directions, layer.gates * layer.hidden, layer.hidden})
    c.Refuse("data has shape " + Text(c.in(0).shape()) + ", W " + Text(w.shape()) + ", R " + Text(r.shape()) + ", hidden_size is " +
             Text(named) + ", direction \"" + direction + "\"");
  if (c.has(3)) layer.b = c.in(3);
  if (c.has(3) && layer.b.shape() != Shape{layer.directions, 2 * layer.gates * layer.hidden})
    c.Refuse("B has shape " + Text(layer.b.shape()));
  if (c.has(4)) layer.lengths = c.in(4);
  if (c.has(4) && !layer.of_any_sizes && layer.lengths.shape() != Shape{layer.batch})
    c.Refuse("sequence_lens has shape " + Text(layer.lengths.shape()));
  layer.h = State(c, layer, 5);
  if (cell == Recurrent::kLstm) {
    layer.c = State(c, layer, 6);
    if (c.has(7) && layer.peepholes.shape() != Shape{layer.directions, 3 * layer.hidden})
      c.Refuse("P has shape " + Text(layer.peepholes.shape()));
  }
  return layer;
}

void GiveRecurrent(Call& c, const Recurrent& layer) {
  RecurrentResult made;
  if (!layer.of_any_sizes && (layer.steps == 0 || layer.batch == 0)) {
    made.y = c.Filled(Shape{layer.steps, layer.directions, layer.batch, layer.hidden}, layer.x.dtype(), 0);
    made.h = layer.h, made.c = layer.c;
  } else {
    made = HasOperator(layer) ? ByOperator(c, layer) : ByStep(c, layer);
  }
  GiveResult(c, layer, made);
}

void GiveResult(Call& c, const Recurrent& layer, const RecurrentResult& made) {
  if (c.wants(0)) c.Out(0, layer.batch_first ? c.Transpose(made.y, {2, 0, 1, 3}) : made.y);
  if (c.wants(1)) c.Out(1, layer.batch_first ? c.Transpose(made.h, {1, 0, 2}) : made.h);
  if (c.wants(2) && layer.cell == Recurrent::kLstm) c.Out(2, layer.batch_first ? c.Transpose(made.c, {1, 0, 2}) : made.c);
}

const Rules& RecurrentRules() {
  static const Rules rules = {
      {"", "LSTM", 7, kNewest, ConvertLSTM, nullptr},
      {"", "GRU", 7, kNewest, ConvertGRU, nullptr},
      {"", "RNN", 7, kNewest, ConvertRNN, nullptr},
      {"com.microsoft", "AttnLSTM", 1, kNewest, ConvertAttnLSTM, nullptr},
  };
  return rules;
}

}  // namespace onnx
}  // namespace mxnet
