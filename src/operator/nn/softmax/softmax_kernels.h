/* Softmax loops for several instruction sets. */
#ifndef MXNET_OPERATOR_NN_SOFTMAX_SOFTMAX_KERNELS_H_
#define MXNET_OPERATOR_NN_SOFTMAX_SOFTMAX_KERNELS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {

namespace nn {
struct SoftmaxCall {
  int64_t length = 0;            // of the axis
  int64_t inner = 1;             // elements behind the axis
  int64_t first = 0, last = -1;  // of these, the ones to compute; -1: all
  int64_t Last() const { return last < 0 ? inner : last; }
  double scale = 1;  // data is multiplied by this first (1 / temperature, negative for softmin)
  bool log = false;
  bool safe = true;                     // sums in double (MXNET_SAFE_ACCUMULATION)
  const int64_t* lengths = nullptr;     // per (outer, inner): how many elements count; null: all
  const unsigned char* mask = nullptr;  // per element, 0: does not count; null: all do
};
}  // namespace nn

/* Slices [begin, end) of the outer dimension. dtype: float32 or float64. y may be x; dx may be og
 * or y. */
MXNET_CPU_DECLARE(void SoftmaxForward(const nn::SoftmaxCall& call, int dtype, const void* x, void* y, int64_t begin, int64_t end);
                  void SoftmaxBackward(const nn::SoftmaxCall& call, int dtype, const void* og, const void* y, void* dx, int64_t begin,
                                       int64_t end);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_SOFTMAX_SOFTMAX_KERNELS_H_
