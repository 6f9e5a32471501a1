/* Loops of dropout for several instruction sets. Element i of a sequence that starts at `counter`
 * stays where word i of it is below `keep`, a fraction of 2^32. */
#ifndef MXNET_OPERATOR_NN_ACTIVATION_DROPOUT_KERNELS_H_
#define MXNET_OPERATOR_NN_ACTIVATION_DROPOUT_KERNELS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {
namespace nn {

/* What stays of a dropout with probability p: words below `threshold`, times `scale`. */
struct Keep {
  explicit Keep(float p) {
    const double keep = 1.0 - static_cast<double>(p);
    threshold = static_cast<uint64_t>(keep * 4294967296.0);
    scale = keep > 0 ? 1.0 / keep : 0.0;
  }
  uint64_t threshold;
  double scale;
};
/* So many counters have a word for each of n elements. */
inline uint64_t CountersOfDropout(int64_t n) { return static_cast<uint64_t>(n) / 4 + 1; }

}  // namespace nn

MXNET_CPU_DECLARE(
    /* mask[i] = scale where element i stays, else 0. `begin` is a multiple of 4. */
    void DropoutMask(int dtype, uint64_t seed, uint64_t counter, uint64_t keep, double scale, void* mask, int64_t begin, int64_t end);
    /* y[i] = x[i] * scale where element first + i stays, else 0; x may be y. */
    void DropoutApply(uint64_t seed, uint64_t counter, uint64_t keep, float scale, int64_t first, const float* x, float* y, int64_t n);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_ACTIVATION_DROPOUT_KERNELS_H_
