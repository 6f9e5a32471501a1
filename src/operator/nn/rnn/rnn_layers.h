/* Where the parts of RNN's reserve and of its parameters are, as pointers. */
#ifndef MXNET_OPERATOR_NN_RNN_RNN_LAYERS_H_
#define MXNET_OPERATOR_NN_RNN_RNN_LAYERS_H_

#include <algorithm>

#include "operator/nn/rnn/rnn.h"

namespace mxnet {
namespace nn {

/* The reserve of one layer. */
template <typename T>
struct Kept {
  T *mask, *dropped, *output, *gates[2], *cell[2], *hidden[2];  // null where not kept
};

template <typename T>
Kept<T> KeptOf(const RnnDims& d, int64_t layer, T* reserve) {
  for (int64_t l = 0; l < layer; ++l) reserve += d.KeptSize(l);
  const RnnKeptAt at(d, layer);
  auto place = [reserve](int64_t offset) { return offset < 0 ? nullptr : reserve + offset; };
  Kept<T> k = {place(at.mask), place(at.dropped), place(at.output), {}, {}, {}};
  for (int64_t dir = 0; dir < d.directions; ++dir)
    k.gates[dir] = place(at.gates[dir]), k.cell[dir] = place(at.cell[dir]), k.hidden[dir] = place(at.hidden[dir]);
  return k;
}

/* Weights of one layer and direction. */
template <typename T>
struct Weights {
  T *input = nullptr, *hidden = nullptr, *projection = nullptr, *input_bias = nullptr, *hidden_bias = nullptr;
  /* `params` null: all of them are. */
  Weights(const RnnDims& d, int64_t layer, int64_t dir, T* params) {
    if (!params) return;
    const RnnWeightsAt at(d, layer, dir);
    input = params + at.input, hidden = params + at.hidden, projection = d.projection ? params + at.projection : nullptr;
    input_bias = params + at.input_bias, hidden_bias = params + at.hidden_bias;
  }
};

inline int64_t LengthOf(const RnnDims& d, const int64_t* lengths, int64_t n) {
  return lengths ? std::min(std::max<int64_t>(lengths[n], 0), d.steps) : d.steps;
}

/* What a layer reads: the operator's input or the layer below, perhaps dropped out. */
template <typename T>
const T* LayerInput(const RnnDims& d, int64_t layer, const Kept<T>& k, T* data, T* reserve) {
  return layer == 0 ? data : k.dropped ? k.dropped : KeptOf(d, layer - 1, reserve).output;
}

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_RNN_RNN_LAYERS_H_
