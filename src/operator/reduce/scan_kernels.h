/* Serial loops along one axis in memory, compiled for each instruction set. */
#ifndef MXNET_OPERATOR_REDUCE_SCAN_KERNELS_H_
#define MXNET_OPERATOR_REDUCE_SCAN_KERNELS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {
namespace reduce {

/* The first of the largest elements until now, and its place. */
struct ExtremeSoFar {
  uint64_t key = 0;
  int64_t at = 0;
};

constexpr int64_t kHalfRows = 16, kHalfColumns = 256;

}  // namespace reduce

/*
 * FindExtreme: takes in n elements x of pointwise::Compute's type `compute`, whose first one stands
 * at `first`. `max`: the largest is looked for, else the smallest; the first of equals wins, and
 * the first NaN over everything.
 * RunningSumFloat: x[j] = *sum + the sum of x[0 .. j], or of x[j .. n) with `reverse`; *sum becomes
 * the whole sum.
 * RunningSumHalves: running sums of each column of n columns that already have sums, where every
 * sum is rounded to float16: y[i][j] = sums[j] = sums[j] + x[i][j], row by row. x holds numbers of
 * float16. RunningSumHalvesAlong: the same along kHalfRows rows of n numbers each, which lie
 * kHalfColumns apart; the numbers behind n, to the next multiple of 4, are zeros, or y's to write.
 */
MXNET_CPU_DECLARE(void FindExtreme(int compute, bool max, const void* x, int64_t first, int64_t n, reduce::ExtremeSoFar* so_far);
                  void RunningSumFloat(float* x, int64_t n, bool reverse, double* sum);
                  void RunningSumHalves(const float* x, float* y, int64_t n, float* sums);
                  void RunningSumHalvesAlong(const float* x, float* y, int64_t n, bool reverse, float* sums);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_REDUCE_SCAN_KERNELS_H_
