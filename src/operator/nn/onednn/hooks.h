/*
 * What a vector library (oneDNN) may take over from the kernels of this folder, in plain types:
 * records and reference kernels do not see the library, and its files do not see parameter structs.
 * A hook is null when its file is not linked; it returns false when it does not take the case
 * (dtype, sizes), and the caller goes on with the reference path.
 */
#ifndef MXNET_OPERATOR_NN_ONEDNN_HOOKS_H_
#define MXNET_OPERATOR_NN_ONEDNN_HOOKS_H_

#include <cstdint>

#include "mxnet/env.h"
#include "mxnet/kernel_args.h"
#include "operator/shared/conv_call.h"
#include "operator/shared/epilogue_op.h"

namespace mxnet {
namespace nn {

/* out(m, n) = post(data(m, k) * weight(n, k)^T + bias(n), plus out itself when `accumulate`) */
struct DenseCall {
  int64_t m = 0, n = 0, k = 0;
  int dtype = kFloat32;
  const void* data = nullptr;
  const void* weight = nullptr;
  const void* bias = nullptr;
  void* out = nullptr;
  bool wide_bias = false;  // float32, where dtype is a 16-bit one
  int weight_input = -1;
  bool accumulate = false;
  EpilogueOp post;
};

/*
 * One recurrent layer in one direction, in inference, without lengths, limits or projection. Gates
 * are in the order of the operator RNN (i f g o; r z n), weights (gates * hidden, inputs) and
 * (gates * hidden, hidden), biases of gates * hidden.
 */
enum class RnnCell : int { kRelu, kTanh, kLstm, kGru };
struct RnnCall {
  RnnCell cell = RnnCell::kTanh;
  bool reversed = false;  // from the last step to the first
  int dtype = kFloat32;
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0;
  const void *data = nullptr, *state = nullptr, *cell_state = nullptr;  // (steps, batch, inputs), (batch, hidden)
  const void *input_weight = nullptr, *hidden_weight = nullptr, *input_bias = nullptr, *hidden_bias = nullptr;
  void* out = nullptr;  // (steps, batch, hidden), rows out_width apart
  int64_t out_width = 0;
  void *state_out = nullptr, *cell_out = nullptr;
  int parameters_input = 1;  // which input of the operator the weights lie in, for its version
  int place = 0;             // number of this layer and direction in the operator
};

struct Hooks {
  bool (*convolution)(KernelArgs& args, const ConvCall& call) = nullptr;
  bool (*dense)(KernelArgs& args, const DenseCall& call) = nullptr;
  bool (*rnn)(KernelArgs& args, const RnnCall& call) = nullptr;
};
extern Hooks g_hooks;

/* The hooks that the environment allows. */
inline Hooks ActiveHooks() { return Env::Get().onednn_enabled ? g_hooks : Hooks(); }

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_ONEDNN_HOOKS_H_
