/* Softmax over an axis on a GPU: generated kernels, texts in every build. */
#ifndef MXNET_OPERATOR_NN_SOFTMAX_GPU_SOFTMAX_H_
#define MXNET_OPERATOR_NN_SOFTMAX_GPU_SOFTMAX_H_

#include "mxnet/run_context.h"

namespace mxnet {
namespace nn {

struct DeviceSoftmax {
  int64_t outer = 1, length = 1, inner = 1;  // the array around the axis
  double scale = 1;                          // data is multiplied by this first
  bool log = false;
  const TBlob* mask = nullptr;  // kBool, as large as the data: others do not count, and become 0 (log: -inf)
};
/* y = softmax or log_softmax of x; `lengths` (may be null): one number per slice, how many of its
 * elements count; the others become 0. */
void SoftmaxOnDevice(const RunContext& run, const DeviceSoftmax& s, const TBlob& x, const TBlob* lengths, const TBlob& y);
/* dx from the gradient of y and y itself. */
void SoftmaxBackwardOnDevice(const RunContext& run, const DeviceSoftmax& s, const TBlob& og, const TBlob& y, const TBlob& dx);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_SOFTMAX_GPU_SOFTMAX_H_
