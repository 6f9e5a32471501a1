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

}  // namespace reduce

/*
 * FindExtreme: takes in n elements x of pointwise::Compute's type `compute`, whose first one stands
 * at `first`. `max`: the largest is looked for, else the smallest; the first of equals wins, and
 * the first NaN over everything.
 * RunningSumFloat: x[j] = *sum + the sum of x[0 .. j], or of x[j .. n) with `reverse`; *sum becomes
 * the whole sum.
 */
MXNET_CPU_DECLARE(void FindExtreme(int compute, bool max, const void* x, int64_t first, int64_t n, reduce::ExtremeSoFar* so_far);
                  void RunningSumFloat(float* x, int64_t n, bool reverse, double* sum);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_REDUCE_SCAN_KERNELS_H_
