/* Sums of products of a filter that slides along a vector. */
#ifndef MXNET_OPERATOR_LINALG_CONVOLVE_LOOPS_H_
#define MXNET_OPERATOR_LINALG_CONVOLVE_LOOPS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {

/* A vector of `size` elements behind `before` zeros, with zeros behind it as far as they are
 * needed. `before` may be negative: so many elements are left out. */
struct SlidingVector {
  const void* data;
  int64_t size, before;
};

MXNET_CPU_DECLARE(
    /* out[i] = sum over j < taps of vector[i + j] * filter[j] for begin <= i < end, in the type of
     * `compute` (pointwise::Compute), of which all are. No overlap. */
    void Slide(int compute, const SlidingVector& vector, const void* filter, int64_t taps, int64_t begin, int64_t end, void* out);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_LINALG_CONVOLVE_LOOPS_H_
