/* Dense layers with few rows of data, for several instruction sets: every weight is read once, as
 * it lies. */
#ifndef MXNET_OPERATOR_NN_CPU_GEMM_SMALL_M_GEMM_H_
#define MXNET_OPERATOR_NN_CPU_GEMM_SMALL_M_GEMM_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {

/*
 * Whether SmallMGemm is the way: one row always (packing the weights gains nothing and holds them
 * twice), up to eight where the weights are too many for the caches, and up to five where the whole
 * product takes less than the vector library's call (from six rows on the packed kernel does).
 * Against oneDNN 3.2 with packed weights, one Zen 3 core, 4096 x 9216: 1 row 1.35 times as fast, 2
 * to 8 rows 1.6 to 2.4; 4 x 4: 7 to 12; 64 x 64: 1.1 to 2.1.
 */
inline bool IsSmallMGemm(int64_t m, int64_t n, int64_t k) {
  return m == 1 || (m <= 8 && n * k >= (int64_t(4) << 20)) || (m < 6 && n <= 20480 && k <= 20480 && m * n * k <= 20480);
}

/*
 * out(m, j) = data(m, k) * weight(j, k)^T + bias(j) for j in [begin, end); out has n columns. bias
 * may be null. An element's sum does not depend on begin and end.
 */
MXNET_CPU_DECLARE(void SmallMGemm(int64_t m, int64_t n, int64_t k, const float* data, const float* weight, const float* bias, float* out,
                                  int64_t begin, int64_t end);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_CPU_GEMM_SMALL_M_GEMM_H_
