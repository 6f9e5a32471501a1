/* Loops of dropout for several instruction sets. Element i of a sequence that starts at `counter` stays where word i of it is below `keep`, a fraction of 2^32. */
#ifndef MXNET_OPERATOR_NN_DROPOUT_KERNELS_H_
#define MXNET_OPERATOR_NN_DROPOUT_KERNELS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {

MXNET_CPU_DECLARE(
  /* mask[i] = scale where element i stays, else 0. `begin` is a multiple of 4. */
  void DropoutMask(int dtype, uint64_t seed, uint64_t counter, uint64_t keep, double scale, void* mask, int64_t begin, int64_t end);
  /* y[i] = x[i] * scale where element first + i stays, else 0; x may be y. */
  void DropoutApply(uint64_t seed, uint64_t counter, uint64_t keep, float scale, int64_t first, const float* x, float* y, int64_t n);
)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_DROPOUT_KERNELS_H_
