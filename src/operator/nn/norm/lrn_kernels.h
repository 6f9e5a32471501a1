/* Local response normalization of neighbouring positions, for several instruction sets. */
#ifndef MXNET_OPERATOR_NN_NORM_LRN_KERNELS_H_
#define MXNET_OPERATOR_NN_NORM_LRN_KERNELS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {

namespace nn {
constexpr int64_t kLrnPositions = 64;  // of one call at most

struct LrnCall {
  int64_t channels, step;     // elements between neighbouring channels
  int64_t half;               // channels on either side
  double knorm, alpha, beta;  // alpha: divided by the window's size
};
}  // namespace nn

/* dtype: float32 or float64. `n` positions that lie side by side, from the pointers on. */
MXNET_CPU_DECLARE(void LrnForward(const nn::LrnCall& call, int dtype, const void* x, void* y, int64_t n);
                  /* workspace: 2 * channels * kLrnPositions numbers. */
                  void LrnBackward(const nn::LrnCall& call, int dtype, const void* og, const void* x, void* dx, int64_t n,
                                   double* workspace);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_NORM_LRN_KERNELS_H_
