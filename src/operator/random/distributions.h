/*
 * Samplers over a counter-based stream. A sample is a function of (seed, counter) alone, so the
 * result does not depend on threads.
 */
#ifndef MXNET_OPERATOR_RANDOM_DISTRIBUTIONS_H_
#define MXNET_OPERATOR_RANDOM_DISTRIBUTIONS_H_

#include <cmath>
#include <cstdint>

#include "operator/shared/random_philox.h"

namespace mxnet {

#define MX_DEVICE
#include "operator/random/distributions.cuh"
#undef MX_DEVICE

using SampleFn = double (*)(RandomStream*, double, double);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RANDOM_DISTRIBUTIONS_H_
