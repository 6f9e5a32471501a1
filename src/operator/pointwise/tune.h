/*
 * How many threads a pointwise loop gets (MXNET_USE_OPERATOR_TUNING). What one element costs is
 * measured once per loop, the first time that loop meets enough elements for the question to arise,
 * on data in the first-level cache; what waking a team costs is measured once per team size.
 * Several threads are used where they save more than they cost.
 */
#ifndef MXNET_OPERATOR_POINTWISE_TUNE_H_
#define MXNET_OPERATOR_POINTWISE_TUNE_H_

#include <cstdint>

#include "operator/pointwise/loops/loops.h"

namespace mxnet {
namespace pointwise {

constexpr int64_t kTuneFrom = 2048;  // fewer elements are never divided

/*
 * Tuned for operands of this dtype? Not when the variable leaves the dtype out, and not when
 * MXNET_CPU_PARALLEL_SIZE differs from its default: who sets it wants that limit. Then the threads
 * are OmpThreads(elements).
 */
bool Tuned(int dtype);

/* Nanoseconds per element of a loop that is called with this mask. */
double LoopCost(Loop loop, int compute, unsigned mask);
/* The same for a conversion of load = LoadFn(dtype, compute), or of StoreFn when `load` is false; 0
 * where there is none to do. */
double ConvertCost(int dtype, int compute, bool load);

/* Threads worth using for work that takes one thread so many nanoseconds; at most
 * MXNET_USE_NUM_CORES_OPERATOR_TUNING and OmpMaxThreads(). */
int ThreadsForCost(double nanoseconds);

}  // namespace pointwise
}  // namespace mxnet
#endif  // MXNET_OPERATOR_POINTWISE_TUNE_H_
