/* Steps of recurrent layers on a GPU: what is elementwise between two products with the hidden
 * weights, one generated kernel each. */
#ifndef MXNET_OPERATOR_NN_RNN_GPU_RNN_STEPS_H_
#define MXNET_OPERATOR_NN_RNN_GPU_RNN_STEPS_H_

#include "mxnet/run_context.h"
#include "operator/nn/rnn/rnn.h"
#include "operator/random/gpu_random.h"

namespace mxnet {
namespace nn {

/*
 * What is the same for all steps of one direction. Arrays are of `dtype`, float32 or float64, and
 * lie as RnnKeptAt says; those that products read, and the layer's inputs, are of `operand`: the
 * same, or a 16-bit type.
 */
struct RnnDirection {
  int dtype = kFloat32, operand = kFloat32, mode = kRnnRelu;
  bool narrow() const { return operand != dtype; }
  int64_t batch = 0, hidden = 0, out = 0, gates = 0, width = 0;  // width: of a row of the layer's output
  bool projection = false;
  CellClip clip;
  const TBlob* lengths = nullptr;  // of the sequences, any dtype; null: all are whole
};

/* Arrays of one step; those of a time begin there, those of the output also at the direction's
 * column. */
struct RnnStep {
  int64_t time = 0;
  void* gates = nullptr;                                       // input part (in), results (out)
  const void* recurrent = nullptr;                             // hidden part of all gates
  const void *input_bias = nullptr, *hidden_bias = nullptr;    // operands
  void *h = nullptr, *c = nullptr;                             // states, changed in place; with a projection h stays
  void *cell = nullptr, *hidden = nullptr, *output = nullptr;  // kept; null where not kept. hidden: with a projection, else output
  void *h_operand = nullptr, *hidden_operand = nullptr, *output_operand = nullptr;  // where `narrow`: h, hidden and output again
};
void RnnStepOnDevice(const RunContext& run, const RnnDirection& direction, const RnnStep& step);
/* h and output from the projected hidden state; sequences that are over keep their h, and their
 * output is 0. */
void RnnProjectedOnDevice(const RunContext& run, const RnnDirection& direction, const void* projected, const RnnStep& step);

struct RnnStepBack {
  int64_t time = 0, before = -1;  // before: the time of the step before; -1: this is the first
  const void *gates = nullptr, *cell = nullptr, *cell_before = nullptr,
             *first_cell = nullptr;  // cell: kept states, cell_before at `before`; the first states are operands
  const void *first_state = nullptr, *output_before = nullptr, *up = nullptr;  // up: gradient of the output
  const void* dhidden = nullptr;                                               // with a projection: gradient of the unprojected state
  void *dh = nullptr, *dc = nullptr;                                           // dh: less what the product with drecurrent adds
  void *previous = nullptr, *dgates = nullptr, *drecurrent = nullptr, *dprojected = nullptr;  // operands
};
/* With a projection, before the product that gives dhidden: previous and dprojected are written,
 * and dh is used up. */
void RnnProjectedBackOnDevice(const RunContext& run, const RnnDirection& direction, const RnnStepBack& step);
void RnnStepBackOnDevice(const RunContext& run, const RnnDirection& direction, const RnnStepBack& step);

/* mask and to = from * mask of the CPU's numbers; without `draws` the mask is 1. `operand`, where
 * direction.narrow(): `to` again. */
void RnnDropoutOnDevice(const RunContext& run, const RnnDirection& direction, const DeviceDraws* draws, float p, const TBlob& from,
                        void* mask, void* to, void* operand);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_RNN_GPU_RNN_STEPS_H_
