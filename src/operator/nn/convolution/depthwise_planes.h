/* Depthwise convolutions of planes, channels first, with stride 1: the vector library reorders such
 * data before and after, which takes longer than the sums. */
#ifndef MXNET_OPERATOR_NN_CONVOLUTION_DEPTHWISE_PLANES_H_
#define MXNET_OPERATOR_NN_CONVOLUTION_DEPTHWISE_PLANES_H_

#include <cstdint>

#include "base/cpu_dispatch.h"
#include "operator/nn/onednn/hooks.h"

namespace mxnet {
namespace nn {

/* Either pass; false where the convolution is another one. */
bool DepthwisePlanes(KernelArgs& args, const ConvCall& call);

/* The same of sequences with their channels last, forward, in steps of 1, of any window. */
bool DepthwiseSequences(KernelArgs& args, const ConvCall& call);

constexpr int64_t kMostTaps = 49;

}  // namespace nn

/* n and columns are multiples of 16, but in SumOfSteps. */
MXNET_CPU_DECLARE(
    /* to[r][i] = start + sum over a window, size x size from from[r][i] on; size is 3, 5 or 7. */
    void SumOfWindow(int64_t size, const float* weights, float start, const float* from, int64_t pitch, int64_t rows, int64_t columns,
                     float* to, int64_t to_pitch);
    /* to[i] = start + sum over t of weights[t] * from[i + places[t]]. */
    void SumOfTaps(int64_t taps, const float* weights, const int64_t* places, float start, const float* from, int64_t n, float* to);
    /* sums[16 * t + i % 16] += from[i + places[t]] * by[i]. */
    void DotsOfTaps(int64_t taps, const int64_t* places, const float* from, const float* by, int64_t n, float* sums);
    /* to[c] = start[c], or 0, + sum over t of weights[t * n + c] * from[t * step + c]. */
    void SumOfSteps(int64_t taps, const float* weights, const float* start, const float* from, int64_t step, int64_t n, float* to);
    double SumOfNumbers(const float* from, int64_t n);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_CONVOLUTION_DEPTHWISE_PLANES_H_
