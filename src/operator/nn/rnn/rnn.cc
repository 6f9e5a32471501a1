// Record of RNN: stacked vanilla, LSTM (Hochreiter and Schmidhuber 1997) and GRU (Cho et al. 2014)
// layers in one operator.
#include "operator/nn/rnn/rnn.h"

#include "operator/control/written_out.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/rnn/rnn_twice.h"
#include "operator/record/draws_in_training.h"
#include "operator/record/dtypes.h"
#include "operator/record/traits.h"
#include "operator/record/traits_graph.h"

namespace mxnet {
namespace nn {

MXNET_REGISTER_PARAM(RNNParam);

namespace {

const RNNParam& P(const Attrs& a) { return a.get<RNNParam>(); }
int Inputs(const Attrs& a) { return 3 + (P(a).mode == kLstm) + P(a).use_sequence_length; }
// output, state, cell, reserve: states are computed always, so that positions do not depend on
// state_outputs
int Outputs(const Attrs& a) { return 3 + (P(a).mode == kLstm); }
int Visible(const Attrs& a) { return P(a).state_outputs ? (P(a).mode == kLstm ? 3 : 2) : 1; }

std::vector<std::string> InputNames(const Attrs& a) {
  std::vector<std::string> names = {"data", "parameters", "state"};
  if (P(a).mode == kLstm) names.push_back("state_cell");
  if (P(a).use_sequence_length) names.push_back("sequence_length");
  return names;
}
std::vector<std::string> OutputNames(const Attrs& a) {
  std::vector<std::string> names = {"output", "state_output"};
  if (P(a).mode == kLstm) names.push_back("statecell_output");
  names.push_back("reserve");
  return names;
}

bool ForwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const RNNParam& p = P(attrs);
  MXNET_CHECK_KIND(!p.projection_size.has_value() || (p.mode == kLstm && p.projection_size.value() >= 1), Value)
      << Named(attrs) << "projection_size is for mode lstm, and at least 1";
  const Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  MXNET_CHECK_KIND(data.ndim() == 3, Value) << Named(attrs) << "data has shape " << data << "; (steps, batch, features) is needed";
  const RnnDims d = DimsOf(p, data);
  Shape state{d.layers * d.directions, data[1], d.out}, cell{d.layers * d.directions, data[1], d.hidden};
  if (data[2] >= 0) AssignShape(attrs, "parameters", &(*in)[1], Shape{d.ParamSize()});
  AssignShape(attrs, "state", &(*in)[2], state);
  AssignShape(attrs, "state_output", &(*out)[1], state);
  if (p.mode == kLstm) {
    AssignShape(attrs, "state_cell", &(*in)[3], cell);
    AssignShape(attrs, "statecell_output", &(*out)[2], cell);
  }
  if (p.use_sequence_length) AssignShape(attrs, "sequence_length", &in->back(), Shape{data[1]});
  AssignShape(attrs, "output", &(*out)[0], Shape{data[0], data[1], d.out * d.directions});
  if (!data.known()) return false;
  AssignShape(attrs, "reserve", &out->back(), Shape{d.ReserveSize()});
  return true;
}

bool ForwardType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const bool lengths = P(attrs).use_sequence_length;
  int all = kDTypeUnknown;
  for (size_t i = 0; i + lengths < in->size(); ++i) AssignType(attrs, "input", &all, (*in)[i]);
  for (size_t i = 0; i + 1 < out->size(); ++i) AssignType(attrs, "output", &all, (*out)[i]);
  if (all == kDTypeUnknown) return false;
  MXNET_CHECK_KIND(IsFloating(all), Type) << Named(attrs) << "data is " << DTypeName(all)
                                          << "; accepted are float32, float64, float16, bfloat16";
  for (size_t i = 0; i + lengths < in->size(); ++i) (*in)[i] = all;
  for (size_t i = 0; i + 1 < out->size(); ++i) (*out)[i] = all;
  out->back() = IsHalf(all) ? static_cast<int>(kFloat32) : all;
  if (lengths && in->back() == kDTypeUnknown) in->back() = kInt32;
  return true;
}

// Backward inputs: gradients of output, state and cell; then the inputs; then output and reserve.
int GradientHeads(const Attrs& a) { return 2 + (P(a).mode == kLstm); }
int GradientInputs(const Attrs& a) { return GradientHeads(a) + Inputs(a) + 1; }
int GradientOutputs(const Attrs& a) { return 3 + (P(a).mode == kLstm); }

std::vector<NodeEntry> Gradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const Attrs& a = *node->attrs;
  std::vector<NodeEntry> inputs(ograds.begin(), ograds.begin() + GradientHeads(a));
  inputs.insert(inputs.end(), node->inputs.begin(), node->inputs.end());
  inputs.push_back(NodeEntry{node, static_cast<uint32_t>(Outputs(a) - 1), 0});
  NodePtr back = MakeNodeLike("_backward_RNN", *node, std::move(inputs));
  std::vector<NodeEntry> grads(node->inputs.size());
  for (int i = 0; i < GradientOutputs(a); ++i) grads[i] = NodeEntry{back, static_cast<uint32_t>(i), 0};
  return grads;
}

bool BackwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const int first = GradientHeads(attrs);
  bool known = true;
  for (size_t i = 0; i < out->size(); ++i) {
    AssignShape(attrs, "gradient", &(*out)[i], (*in)[first + i]);
    known = known && (*out)[i].known();
  }
  return known;
}
bool BackwardType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const int first = GradientHeads(attrs);
  for (size_t i = 0; i < out->size(); ++i) AssignType(attrs, "gradient", &(*out)[i], (*in)[first + i]);
  return (*out)[0] != kDTypeUnknown;
}

double Flops(const Attrs& a, Span<const TBlob> in, Span<const TBlob>) {
  return 2.0 * static_cast<double>(in[1].Size()) * in[0].shape[0] * in[0].shape[1];
}

MXNET_REGISTER_OP(RNN)
    .set_expensive_to_recompute()
    .describe(
        "Stacked recurrent layers over whole sequences: rnn_relu, rnn_tanh, lstm or gru.\n\n"
        "data has shape (steps, batch, features), state and state_cell (layers * directions, batch, state_size). `parameters` is one "
        "vector: for every layer and\n"
        "direction the weights from input to hidden and from hidden to hidden (gates i f g o, or r z n) and, with projection_size, the "
        "projection; then for every\n"
        "layer and direction the two biases. The candidate of gru is tanh(W x + b + r * (U h + c)). The output has shape (steps, batch, "
        "directions * state_size);\n"
        "with state_outputs the last states follow. With sequence_length outputs behind the end are 0. float16, bfloat16, float32, "
        "float64.")
    .alias("_npx_rnn")
    .set_trait(Role::kRnn)
    .set_trait(Quantized{
        "_contrib_quantized_rnn", {1, 2, 3, 4}, [](const Attrs& a) { return P(a).mode == kLstm && !P(a).use_sequence_length; }, true})
    .set_param<RNNParam>()
    .set_inputs({"data", "parameters", "state", "state_cell", "sequence_length"}, Inputs)
    .set_list_inputs(InputNames)
    .set_outputs({"output", "state_output", "statecell_output", "reserve"}, Outputs, Visible)
    .set_list_outputs(OutputNames)
    .set_infer_shape(ForwardShape)
    .set_infer_type(ForwardType)
    .set_dtypes(dtypes::kFloats)
    .set_flops(Flops)
    .set_uses_random()
    .set_depends_on_training()
    .set_trait(AsksForWeights{0b10})
    .set_trait(DrawsInTraining{})     // of the dropout between layers
    .set_trait(HonoursNullOutputs{})  // of what it keeps for the backward pass
    .set_gradient(Gradient);

MXNET_REGISTER_OP(_backward_RNN)
    .describe("Gradients of RNN with respect to data, parameters and states.")
    .set_param<RNNParam>()
    .set_inputs({"ograd", "state_ograd", "cell_ograd", "data", "parameters", "state", "state_cell", "sequence_length", "reserve"},
                GradientInputs)
    .set_dtypes(dtypes::kAll)
    .set_outputs({"data_grad", "parameters_grad", "state_grad", "state_cell_grad"}, GradientOutputs)
    .set_infer_shape(BackwardShape)
    .set_infer_type(BackwardType)
    .set_gradient(GradientOfWrittenOut(WriteOutRnn, GradientHeads, Inputs));

}  // namespace
}  // namespace nn
}  // namespace mxnet
