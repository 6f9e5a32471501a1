/* Recurrent layers: what the operator RNN serves, and steps written out for the rest. */
#ifndef MXNET_ONNX_CONVERT_RECURRENT_RECURRENT_H_
#define MXNET_ONNX_CONVERT_RECURRENT_RECURRENT_H_

#include <string>
#include <vector>

#include "onnx/convert/make.h"

namespace mxnet {
namespace onnx {

struct Activation {
  std::string name;  // in lower case
  double alpha = 0, beta = 0;
};

/* Bahdanau's attention to a memory, around the cell of an LSTM: what it finds for a step's hidden
 * state is data of the next step. */
struct MemoryAttention {
  Value data_weight;          // (directions, gates * hidden, found): that of the cell for what is found
  Value query, keys, vector;  // (directions, hidden, units), (directions, depth, units), (directions, units)
  Value memory, exists;       // (batch, length, depth), zeros behind its end; (batch, length), or none: all of it
  Value layer;                // (directions, hidden + depth, found), or none: what is found is the memory's
  int64_t found = 0;
};

/* One LSTM, GRU or RNN node. Weights are those of ONNX: (directions, gates * hidden, ...). */
struct Recurrent {
  enum Cell { kRnn, kGru, kLstm };
  Cell cell;
  int64_t steps = -1, batch = -1, input, hidden, directions, gates;
  bool of_any_sizes = false;  // steps and batch are not known
  bool reverse;               // the only direction is backwards
  bool batch_first;
  Value x;          // (steps, batch, input)
  Value w, r, b;    // b may be none: (directions, 2 * gates * hidden)
  Value lengths;    // (batch,) or none
  Value h, c;       // (directions, batch, hidden); c may be none
  Value peepholes;  // or none
  const MemoryAttention* attention = nullptr;
  std::vector<Activation> activations;  // of all directions
  double clip = 0;
  bool input_forget = false, linear_before_reset = false;
};

struct RecurrentResult {
  Value y;     // (steps, directions, batch, hidden)
  Value h, c;  // (directions, batch, hidden)
};

/* Can RNN compute it? */
bool HasOperator(const Recurrent& layer);
RecurrentResult ByOperator(const Call& c, const Recurrent& layer);
RecurrentResult ByStep(const Call& c, const Recurrent& layer);
/* Attributes and inputs of LSTM, GRU or RNN, but for weights. `any_sizes`: where what is made
 * serves arrays of other shapes (Call::ForAnyShape), steps and batch are left out. */
Recurrent ReadRecurrent(const Call& c, Recurrent::Cell cell, const Value& w, const Value& r, bool any_sizes = false);
void GiveRecurrent(Call& c, const Recurrent& layer);
void ConvertAttnLSTM(Call& c);
/* The outputs, in the node's own layout. */
void GiveResult(Call& c, const Recurrent& layer, const RecurrentResult& made);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_CONVERT_RECURRENT_RECURRENT_H_
