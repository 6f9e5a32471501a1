/*
 * Samplers over a counter-based stream. A sample is a function of (seed, counter) alone, so the
 * result does not depend on threads.
 */
#ifndef MXNET_OPERATOR_RANDOM_DISTRIBUTIONS_H_
#define MXNET_OPERATOR_RANDOM_DISTRIBUTIONS_H_

#include <cmath>
#include <cstdint>

#include "operator/random_philox.h"

namespace mxnet {

#define MXNET_SAMPLER
#define MXNET_DISTRIBUTIONS(...) __VA_ARGS__
#include "operator/random/distributions.inc"
#undef MXNET_DISTRIBUTIONS
#undef MXNET_SAMPLER

using SampleFn = double (*)(RandomStream*, double, double);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RANDOM_DISTRIBUTIONS_H_
