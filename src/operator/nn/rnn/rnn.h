/* Parameters and geometry of the fused recurrent layers. */
#ifndef MXNET_OPERATOR_NN_RNN_RNN_H_
#define MXNET_OPERATOR_NN_RNN_RNN_H_

#include "operator/nn/rnn/rnn_kernels.h"
#include "operator/record/optional_number.h"
#include "operator/record/param.h"

namespace mxnet {
namespace nn {

enum RnnMode : int { kRnnRelu, kRnnTanh, kLstm, kGru };

struct RNNParam : public Parameter<RNNParam> {
  uint32_t state_size, num_layers;
  bool bidirectional, state_outputs, use_sequence_length, lstm_state_clip_nan;
  int mode;
  float p;
  std::optional<int> projection_size;
  OptionalNumber lstm_state_clip_min, lstm_state_clip_max;
  MXNET_DECLARE_PARAM(RNNParam) {
    MXNET_FIELD(state_size).set_range(1, 1 << 20).describe("Number of hidden units of a layer and direction.");
    MXNET_FIELD(num_layers).set_range(1, 1024).describe("Number of stacked layers.");
    MXNET_FIELD(bidirectional).set_default(false).describe("Also run each layer backwards in time, and concatenate.");
    MXNET_FIELD(mode)
        .add_enum("rnn_relu", kRnnRelu)
        .add_enum("rnn_tanh", kRnnTanh)
        .add_enum("lstm", kLstm)
        .add_enum("gru", kGru)
        .describe("The cell.");
    MXNET_FIELD(p).set_default(0.0f).set_range(0, 1).describe("Dropout between layers, in training.");
    MXNET_FIELD(state_outputs).set_default(false).describe("Also return the last states.");
    MXNET_FIELD(projection_size).set_default(std::optional<int>()).describe("lstm: the hidden state is projected to this size.");
    MXNET_FIELD(lstm_state_clip_min).set_default(OptionalNumber()).describe("lstm: least cell state.");
    MXNET_FIELD(lstm_state_clip_max).set_default(OptionalNumber()).describe("lstm: greatest cell state.");
    MXNET_FIELD(lstm_state_clip_nan).set_default(false).describe("lstm: with clipping, replace NaN by the greatest cell state.");
    MXNET_FIELD(use_sequence_length).set_default(false).describe("Another input gives the length of each sequence.");
  }
};

/*
 * Where things are. Parameters: the weights of all layers and directions (input to hidden, hidden
 * to hidden, projection), then all biases (input, hidden). Gates are in the order i f g o (lstm)
 * and r z n (gru).
 */
struct RnnDims {
  int64_t steps, batch, input, hidden, out, layers, directions, gates;  // out: size of the hidden state (projected)
  RnnDims(const RNNParam& p, const Shape& data)
      : steps(data[0]),
        batch(data[1]),
        input(data[2]),
        hidden(p.state_size),
        out(p.projection_size.has_value() ? p.projection_size.value() : p.state_size),
        layers(p.num_layers),
        directions(p.bidirectional ? 2 : 1),
        gates(p.mode == kLstm  ? 4
              : p.mode == kGru ? 3
                               : 1) {}
  bool projection = false;
  int64_t LayerInput(int64_t layer) const { return layer == 0 ? input : out * directions; }
  int64_t WeightSize(int64_t layer) const { return gates * hidden * (LayerInput(layer) + out) + (projection ? out * hidden : 0); }
  int64_t BiasOffset() const {
    int64_t sum = 0;
    for (int64_t l = 0; l < layers; ++l) sum += directions * WeightSize(l);
    return sum;
  }
  int64_t ParamSize() const { return BiasOffset() + layers * directions * 2 * gates * hidden; }
  int64_t WeightOffset(int64_t layer, int64_t direction) const {
    int64_t sum = 0;
    for (int64_t l = 0; l < layer; ++l) sum += directions * WeightSize(l);
    return sum + direction * WeightSize(layer);
  }
  int64_t BiasAt(int64_t layer, int64_t direction) const { return BiasOffset() + (layer * directions + direction) * 2 * gates * hidden; }
  /*
   * Kept for the gradient, per layer: with dropout in front of it, mask and result of that; the
   * layer's output; and per direction and step the gates, the cell state (lstm) or the hidden part
   * of the candidate (gru), and with a projection the unprojected hidden state.
   */
  bool gated = false, dropout = false;
  int64_t DropoutSize(int64_t layer) const { return dropout && layer > 0 ? 2 * steps * batch * LayerInput(layer) : 0; }
  int64_t KeptSize(int64_t layer) const {
    return DropoutSize(layer) + steps * batch * (directions * out + directions * hidden * (gates + gated + projection));
  }
  int64_t ReserveSize() const {
    int64_t sum = 0;
    for (int64_t l = 0; l < layers; ++l) sum += KeptSize(l);
    return sum;
  }
};
/* Places in the parameters of one layer and direction, in elements. */
struct RnnWeightsAt {
  int64_t input, hidden, projection, input_bias, hidden_bias;
  RnnWeightsAt(const RnnDims& d, int64_t layer, int64_t dir)
      : input(d.WeightOffset(layer, dir)),
        hidden(input + d.gates * d.hidden * d.LayerInput(layer)),
        projection(hidden + d.gates * d.hidden * d.out),
        input_bias(d.BiasAt(layer, dir)),
        hidden_bias(input_bias + d.gates * d.hidden) {}
};
/* Places in what is kept of one layer, in elements from where that begins; -1: not kept. */
struct RnnKeptAt {
  int64_t mask = -1, dropped = -1, output;  // (steps, batch, layer input) twice; (steps, batch, directions * out)
  int64_t gates[2], cell[2], hidden[2];     // (steps, batch, gates * hidden); (steps, batch, hidden)
  RnnKeptAt(const RnnDims& d, int64_t layer) {
    const int64_t cells = d.steps * d.batch, dropout = d.DropoutSize(layer);
    if (dropout) mask = 0, dropped = dropout / 2;
    int64_t at = dropout;
    auto take = [&at](bool wanted, int64_t size) {
      const int64_t here = wanted ? at : -1;
      if (wanted) at += size;
      return here;
    };
    output = take(true, cells * d.directions * d.out);
    for (int64_t dir = 0; dir < d.directions; ++dir) {
      gates[dir] = take(true, cells * d.gates * d.hidden);
      cell[dir] = take(d.gated, cells * d.hidden);
      hidden[dir] = take(d.projection, cells * d.hidden);
    }
  }
};
inline CellClip ClipOf(const RNNParam& p) {
  CellClip c;
  c.on = p.lstm_state_clip_min.has_value() && p.lstm_state_clip_max.has_value();
  c.nan = p.lstm_state_clip_nan;
  if (c.on) c.low = p.lstm_state_clip_min.value(), c.high = p.lstm_state_clip_max.value();
  return c;
}
inline RnnDims DimsOf(const RNNParam& p, const Shape& data) {
  RnnDims d(p, data);
  d.projection = p.projection_size.has_value();
  d.gated = p.mode == kLstm || p.mode == kGru;
  d.dropout = p.p > 0;
  return d;
}

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_RNN_RNN_H_
