/* Weights of RNN as the products of the forward pass read them: in float32, or in bfloat16 as
 * rnn_bfloat.h multiplies them. */
#ifndef MXNET_OPERATOR_NN_RNN_RNN_PACKED_H_
#define MXNET_OPERATOR_NN_RNN_RNN_PACKED_H_

#include "base/half.h"
#include "base/round_up.h"
#include "mxnet/kernel_args.h"
#include "operator/nn/rnn/rnn.h"
#include "operator/shared/panel_gemm.h"

namespace mxnet {
namespace nn {

/* By layer and direction. Those that a plan keeps hold all that the forward pass reads of the
 * parameters, except for projections; those in bfloat16 hold all. */
class RnnPacking {
 public:
  RnnPacking() = default;
  /*
   * Packs what pays for this call. In inference plans it is kept while the parameters stay; with
   * MXNET_RNN_USE_WEIGHT_CACHE for ever. `source`: the parameters as the plan knows them;
   * `params`: in float32; null: the source is bfloat16 and stays so.
   */
  RnnPacking(KernelArgs& args, const RNNParam& p, const RnnDims& d, const void* source, float* params);
  bool packed() const { return base_ != nullptr; }
  bool whole() const { return whole_; }
  bool half() const { return half_; }
  /* Gate behind gate; as HalfPackGates does in bfloat16. */
  const float* Hidden(const RnnDims& d, int64_t layer, int64_t dir) const;
  // Of those that hold all.
  const float* Input(const RnnDims& d, int64_t layer, int64_t dir) const { return Hidden(d, layer, dir) + HiddenSize(d); }
  const float* Bias(const RnnDims& d, int64_t layer, int64_t dir) const { return Input(d, layer, dir) + InputSize(d, layer); }
  const float* CandidateBias(const RnnDims& d, int64_t layer, int64_t dir) const { return Bias(d, layer, dir) + d.gates * d.hidden; }
  // In bfloat16.
  const float* Projection(const RnnDims& d, int64_t layer, int64_t dir) const { return Bias(d, layer, dir) + BiasSize(d); }

 private:
  int64_t HiddenSize(const RnnDims& d) const;
  int64_t InputSize(const RnnDims& d, int64_t layer) const;
  /* Vectors of 16 are read behind the last of both biases. */
  static int64_t BiasSize(const RnnDims& d) { return RoundUp(d.gates * d.hidden, int64_t{16}) + RoundUp(d.hidden, int64_t{16}); }
  int64_t Size(const RnnDims& d, int64_t layer) const;
  int64_t WholeSize(const RnnDims& d) const;
  void Fill(const RNNParam& p, const RnnDims& d, float* params, float* to) const;
  void FillHalf(const RNNParam& p, const RnnDims& d, const bfloat16* params, float* to) const;

  const float* base_ = nullptr;
  bool whole_ = false, half_ = false;
};

/* What is added to the products with the input (gates * hidden): both biases, but for the hidden
 * one of GRU's candidate, which belongs inside of the product with the reset gate. */
template <typename T>
void SumBiases(const RNNParam& p, const RnnDims& d, const T* input_bias, const T* hidden_bias, T* sums) {
  for (int64_t j = 0; j < d.gates * d.hidden; ++j) sums[j] = input_bias[j] + (p.mode == kGru && j >= 2 * d.hidden ? T(0) : hidden_bias[j]);
}

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_RNN_RNN_PACKED_H_
