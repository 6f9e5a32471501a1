/*
 * Products of rows of bfloat16 with packed weights (packed_bfloat_kernels.h), as float32 sums: for
 * operators that go on with these.
 *
 * REQUIRES  BfloatGemmsHere(), of packed_bfloat.h.
 * THREADS   every function may be called from several threads at once.
 */
#ifndef MXNET_OPERATOR_NN_CPU_GEMM_HALF_SUMS_H_
#define MXNET_OPERATOR_NN_CPU_GEMM_HALF_SUMS_H_

#include <cstdint>

#include "base/half.h"

namespace mxnet {
namespace nn {

constexpr int64_t kHalfRows = 224;  // of a block, whose sums stay in the second-level cache

struct HalfMatrix {
  const bfloat16* rows = nullptr;
  int64_t pitch = 0;  // even; an odd row has a zero behind it
  int64_t count = 0, depth = 0;
};
/* sums(count, columns of the panels) = rows * panels [begin, end) + bias; that of column j is
 * bias[j], whole vectors of 16. On the calling thread. */
void HalfSums(const HalfMatrix& a, int64_t filters, const bfloat16* packed, int64_t begin, int64_t end, const float* bias, float* sums,
              int64_t ld);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_CPU_GEMM_HALF_SUMS_H_
