/* Bins of one width, for several instruction sets. */
#ifndef MXNET_OPERATOR_INDEXING_HISTOGRAM_KERNELS_H_
#define MXNET_OPERATOR_INDEXING_HISTOGRAM_KERNELS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {

/* Edges 0 and `bins` are infinite: low and high bound the values. */
struct EvenBins {
  double low, high;
  int32_t bins;
  const double* edges;
};

MXNET_CPU_DECLARE(
    /* The bin of each of n values. The quotient tells it, or its neighbour if the edges say so.
     * Values outside and NaN get the number of bins. */
    void FindEvenBins(const EvenBins& b, const double* values, int64_t n, int32_t* to);
    /* The same of n values of float32. */
    void FindEvenBinsOfFloats(const EvenBins& b, const float* values, int64_t n, int32_t* to);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_INDEXING_HISTOGRAM_KERNELS_H_
