/* The gradient of SoftmaxOutput for labels that are classes. */
#ifndef MXNET_OPERATOR_NN_LOSS_SOFTMAX_OUTPUT_H_
#define MXNET_OPERATOR_NN_LOSS_SOFTMAX_OUTPUT_H_

#include <cstdint>

namespace mxnet {
namespace nn {

template <typename T>
struct LabelGradient {
  int64_t classes, inner;
  T scale, on, off;  // targets of the label's class and of the others
  bool use_ignore;
  T ignore;  // label of positions that do not count
  /* dx = (y - target) * scale * og of one slice (classes, inner), with labels (inner); og may be
   * null. T: float or double. */
  void Slice(const T* label, const T* y, const T* og, T* dx) const;
};

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_LOSS_SOFTMAX_OUTPUT_H_
