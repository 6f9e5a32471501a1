#include "operator/nn/rnn/rnn_twice.h"

#include <cstring>
#include <string>

#include "operator/control/make_foreach.h"
#include "operator/control/written_out.h"
#include "operator/matrix/move.h"
#include "operator/nn/rnn/rnn.h"
#include "operator/nodes/graph_operators.h"
#include "operator/record/dtypes.h"

namespace mxnet {
namespace nn {
namespace {

using control::Entries;
using written::Add;
using written::Less;
using written::Number;
using written::Slice;
using written::Times;

// ---- what dropout multiplied the inputs of the layers above the first with

void DropoutMasks(KernelArgs& a) {  // reserve, data -> (layers - 1, steps, batch, inputs of a layer)
  const RnnDims d = DimsOf(a.param<RNNParam>(), a.in[1].shape);
  const auto size = static_cast<int64_t>(DTypeSize(a.in[0].dtype));
  auto* to = static_cast<char*>(a.out[0].dptr);
  const auto* from = static_cast<const char*>(a.in[0].dptr);
  for (int64_t l = 0; l < d.layers; from += d.KeptSize(l++) * size) {
    const RnnKeptAt at(d, l);
    if (at.mask < 0) continue;
    const int64_t bytes = d.DropoutSize(l) / 2 * size;
    CopyBytes(a.run, from + at.mask * size, to, bytes);
    to += bytes;
  }
}

MXNET_REGISTER_OP(_rnn_dropout_masks)
    .describe("What RNN's dropout multiplied the inputs of the layers above the first with, as its `reserve` keeps it.")
    .set_param<RNNParam>()
    .set_inputs({"reserve", "data"})
    .set_dtypes(dtypes::kAll)
    .set_shape_only_from(1)
    .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
      const Shape& data = (*in)[1];
      if (!data.known()) return false;
      const RnnDims d = DimsOf(attrs.get<RNNParam>(), data);
      AssignShape(attrs, "reserve", &(*in)[0], Shape{d.ReserveSize()});
      AssignShape(attrs, "output", &(*out)[0], Shape{d.layers - 1, d.steps, d.batch, d.out * d.directions});
      return true;
    })
    .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
      AssignType(attrs, "output", &(*out)[0], (*in)[0]);
      return (*out)[0] != kDTypeUnknown;
    })
    .set_zero_gradient()
    .set_kernel(DropoutMasks);

// ---- parameters

/* Of one layer and direction. */
struct Weights {
  NodeEntry input, hidden, projection, input_bias, hidden_bias;
};

NodeEntry Rows(const NodeEntry& x, int64_t rows) { return MakeOp("Reshape", {x}, {{"shape", "(" + std::to_string(rows) + ", -1)"}}); }

/* All that lies behind the weights of the first layer has a known size. It is found from the
 * end. */
Weights WeightsOf(const RnnDims& d, const NodeEntry& parameters, int64_t layer, int64_t dir) {
  const int64_t gh = d.gates * d.hidden, hidden_size = gh * d.out, projected = d.projection ? d.out * d.hidden : 0;
  const int64_t biases = d.layers * d.directions * 2 * gh;
  int64_t behind = biases;  // of the end of this layer's weights
  for (int64_t l = layer + 1; l < d.layers; ++l) behind += d.directions * d.WeightSize(l);
  NodeEntry own;  // (1, size)
  if (layer == 0) {
    own = Slice(Rows(Slice(parameters, 0, 0, -behind), d.directions), 0, dir, dir + 1);
  } else {
    const int64_t size = d.WeightSize(layer), end = behind + (d.directions - 1 - dir) * size;
    own = Rows(Slice(parameters, 0, -(end + size), -end), 1);
  }
  const int64_t bias = biases - (layer * d.directions + dir) * 2 * gh;
  Weights w;
  w.input = Rows(Slice(own, 1, 0, -(hidden_size + projected)), gh);
  w.hidden = Rows(Slice(own, 1, -(hidden_size + projected), -projected), gh);
  if (d.projection) w.projection = Rows(Slice(own, 1, -projected, 0), d.out);
  w.input_bias = Slice(parameters, 0, -bias, -(bias - gh));
  w.hidden_bias = Slice(parameters, 0, -(bias - gh), -(bias - 2 * gh));
  return w;
}

NodeEntry Connected(const NodeEntry& x, const NodeEntry& weight, const NodeEntry& bias, int64_t size) {
  AttrDict dict = {{"num_hidden", std::to_string(size)}, {"flatten", "0"}, {"no_bias", bias ? "0" : "1"}};
  return MakeOp("FullyConnected", bias ? Entries{x, weight, bias} : Entries{x, weight}, std::move(dict));
}

// ---- one step of a cell

Entries Gates(const NodeEntry& x, int64_t count) {
  const NodeEntry all = MakeOp("SliceChannel", {x}, {{"num_outputs", std::to_string(count)}, {"axis", "-1"}});
  Entries gates;
  for (int64_t i = 0; i < count; ++i) gates.push_back({all.node, static_cast<uint32_t>(i), 0});
  return gates;
}
NodeEntry Sigmoid(const NodeEntry& x) { return MakeOp("sigmoid", {x}); }
NodeEntry Tanh(const NodeEntry& x) { return MakeOp("tanh", {x}); }

/* The next hidden state and, of lstm, the next cell state. x: input part of the gates. */
Entries Cell(const RNNParam& p, const RnnDims& d, const NodeEntry& x, const Entries& states, const Entries& weights) {
  const NodeEntry& h = states[0];
  const NodeEntry recurrent = Connected(h, weights[0], weights[1], d.gates * d.hidden);
  if (p.mode == kRnnRelu) return {MakeOp("relu", {Add(x, recurrent)})};
  if (p.mode == kRnnTanh) return {Tanh(Add(x, recurrent))};
  if (p.mode == kGru) {
    const Entries a = Gates(x, 3), b = Gates(recurrent, 3);
    const NodeEntry r = Sigmoid(Add(a[0], b[0])), z = Sigmoid(Add(a[1], b[1])), n = Tanh(Add(a[2], Times(r, b[2])));
    return {Add(n, Times(z, Less(h, n)))};
  }
  const Entries g = Gates(Add(x, recurrent), 4);
  NodeEntry c = Add(Times(Sigmoid(g[1]), states[1]), Times(Sigmoid(g[0]), Tanh(g[2])));
  const CellClip clip = ClipOf(p);
  if (clip.on) c = Number("_minimum_scalar", Number("_maximum_scalar", c, clip.low), clip.high);
  NodeEntry out = Times(Sigmoid(g[3]), Tanh(c));
  if (d.projection) out = Connected(out, weights[2], NodeEntry(), d.out);
  return {out, c};
}

/* `live`, (steps, batch, 1): 1 within a sequence, 0 behind its end; null: all within. States stay
 * as they are where it is 0. Returns the stacked outputs and the last states. */
Entries Direction(const RNNParam& p, const RnnDims& d, const NodeEntry& x, const NodeEntry& live, const Weights& w, const Entries& states) {
  Entries data = {Connected(x, w.input, w.input_bias, d.gates * d.hidden)}, constants = {w.hidden, w.hidden_bias};
  if (live) data.push_back(live);
  if (d.projection) constants.push_back(w.projection);
  return control::MakeForeach(data, states, constants, [&](const Entries& slices, const Entries& before, const Entries& weights) {
    Entries next = Cell(p, d, slices[0], before, weights);
    NodeEntry out = next[0];
    if (live) {
      out = Times(out, slices[1]);
      for (size_t i = 0; i < next.size(); ++i) next[i] = Add(before[i], Times(Less(next[i], before[i]), slices[1]));
    }
    next.insert(next.begin(), out);
    return next;
  });
}

NodeEntry Reversed(const NodeEntry& x) { return MakeOp("reverse", {x}, {{"axis", "(0,)"}}); }
NodeEntry Stack(const Entries& parts) { return MakeOp("stack", parts, {{"num_args", std::to_string(parts.size())}, {"axis", "0"}}); }
NodeEntry StateOf(const NodeEntry& states, int64_t place) { return written::Reshape(Slice(states, 0, place, place + 1), "(-3, 0)"); }

}  // namespace

std::vector<NodeEntry> WriteOutRnn(const Node& backward, const std::vector<NodeEntry>& inputs) {
  const auto& p = backward.attrs->get<RNNParam>();
  const bool lstm = p.mode == kLstm;
  const RnnDims d = DimsOf(p, Shape{0, 0, 0});  // of what data's shape tells, nothing is used
  NodeEntry x = inputs[0], live, masks;
  if (p.use_sequence_length) {
    const NodeEntry lengths = graph_ops::CastGradient(inputs.back(), x);
    live = MakeOp("broadcast_lesser", {written::Places(x, 0, "(-1, 1)"), written::Reshape(lengths, "(1, -1)")});
    live = written::Reshape(live, "(0, 0, 1)");
  }
  if (d.dropout && d.layers > 1)
    masks = graph_ops::CastGradient({MakeNodeLike("_rnn_dropout_masks", backward, {backward.inputs.back(), x}), 0, 0}, x);
  Entries last[2];
  for (int64_t l = 0; l < d.layers; ++l) {
    if (masks && l > 0) x = Times(x, written::Reshape(Slice(masks, 0, l - 1, l), "(-3, 0, 0)"));
    Entries outputs;
    for (int64_t dir = 0; dir < d.directions; ++dir) {
      const int64_t place = l * d.directions + dir;
      Entries states = {StateOf(inputs[2], place)};
      if (lstm) states.push_back(StateOf(inputs[3], place));
      const NodeEntry within = live && dir == 1 ? Reversed(live) : live;
      const Entries ran = Direction(p, d, dir == 1 ? Reversed(x) : x, within, WeightsOf(d, inputs[1], l, dir), states);
      outputs.push_back(dir == 1 ? Reversed(ran[0]) : ran[0]);
      for (int s = 0; s <= static_cast<int>(lstm); ++s) last[s].push_back(ran[1 + s]);
    }
    x = d.directions == 2 ? written::Concat(outputs, 2) : outputs[0];
  }
  Entries results = {x, Stack(last[0])};
  if (lstm) results.push_back(Stack(last[1]));
  return results;
}

}  // namespace nn
}  // namespace mxnet
