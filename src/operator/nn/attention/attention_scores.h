/* From the scores of attention to its weights: mask, lengths and softmax. */
#ifndef MXNET_OPERATOR_NN_ATTENTION_ATTENTION_SCORES_H_
#define MXNET_OPERATOR_NN_ATTENTION_ATTENTION_SCORES_H_

#include "operator/nn/attention/attention.h"
#include "operator/nn/softmax/softmax_kernels.h"

namespace mxnet {
namespace nn {

class AttentionScores {
 public:
  /* Of the mask and the lengths behind the arrays, which are inputs `first` and the next; the mask
   * may be float32, half precision or boolean. They must live as long. */
  AttentionScores(KernelArgs& args, int first, const AttentionDims& d);

  /* So many columns count in some row of the head; the weights of the others are 0. */
  int64_t Columns(int64_t head) const;

  /* softmax(scale * scores + mask) in place, for n rows of a head from row `first` on, and the
   * first `columns` columns, which are all that count. On the calling thread. */
  void Softmax(int64_t head, int64_t first, int64_t n, int64_t columns, float scale, float* scores) const;

  /* What the softmax loops are told about rows of so many columns. */
  SoftmaxCall Call(int64_t columns) const;

 private:
  bool AllowedOnly(int64_t head, int64_t row, int64_t columns, float scale, float* scores) const;

  TBlob mask_;           // without memory: none
  bool allows_ = false;  // a boolean mask, which says what counts
  int64_t columns_, step_[3] = {0, 0, 0};
  const int64_t* lengths_ = nullptr;
  int64_t lengths_each_ = 1;
  const bool safe_, zeros_;
};

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_ATTENTION_ATTENTION_SCORES_H_
