/* Sums of arrays in CPU memory. */
#ifndef MXNET_KVSTORE_REDUCE_H_
#define MXNET_KVSTORE_REDUCE_H_

#include <vector>

#include "base/threads/omp.h"
#include "mxnet/base.h"
#include "mxnet/env.h"

namespace mxnet {

/*
 * Each of `out` = sum of `in`, all of one dtype and size; of one array it is a copy. Each `out` may
 * be one of `in`, and else overlaps with none. Order and rounding do not depend on the number of
 * threads: integers wrap, 16-bit floats are added in float32 and rounded once, bool is "any".
 */
void SumArrays(const std::vector<TBlob>& in, const std::vector<TBlob>& out);

/* The reduction's own thread count, beyond its own bound: sums of one process overlap with
 * operators that use all threads. */
inline int ReductionThreads(int64_t n) { return n > Env::Get().kvstore_bigarray_bound ? Env::Get().kvstore_reduction_nthreads : 1; }

}  // namespace mxnet
#endif  // MXNET_KVSTORE_REDUCE_H_
