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
#include "mxnet/op.h"
#include "operator/nn/common/epilogue.h"

namespace mxnet {
namespace nn {

/* A convolution of 3 spatial dimensions; 1-D and 2-D ones have leading dimensions of size 1. */
struct ConvDims {
  int64_t batch = 0, channels = 0, filters = 0, groups = 1;  // channels of src, channels of dst
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, dilate[3] = {1, 1, 1}, pad[3] = {0, 0, 0};
  int64_t InSize() const { return in[0] * in[1] * in[2]; }
  int64_t OutSize() const { return out[0] * out[1] * out[2]; }
  int64_t KernelSize() const { return kernel[0] * kernel[1] * kernel[2]; }
};

/* A tensor in one of two memory orders: N,C,spatial or N,spatial,C; for weights O,I,spatial or
 * O,spatial,I. */
struct Ordered {
  void* ptr = nullptr;
  bool channels_last = false;
};

enum class ConvPass : int { kForward, kBackwardData, kBackwardWeights };

/* kForward: src, weight, bias -> dst. kBackwardData: dst, weight -> src. kBackwardWeights: src, dst
 * -> weight, bias. */
struct ConvCall {
  ConvPass pass = ConvPass::kForward;
  ConvDims dims;
  int dtype = kFloat32;
  Ordered src, weight, dst;
  void* bias = nullptr;
  bool wide_bias = false;   // float32, where dtype is a 16-bit one
  int weight_input = -1;    // which input of the operator `weight` is, for its version; -1: do not keep packed weights
  bool accumulate = false;  // kForward, hooks only: dst = post(dst + result)
  EpilogueOp post;
};

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
