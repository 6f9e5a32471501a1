/* Draws that many elements share one loop, for several instruction sets: the numbers of
 * distributions.cuh and gpu_random.cc. */
#ifndef MXNET_OPERATOR_RANDOM_DRAW_KERNELS_H_
#define MXNET_OPERATOR_RANDOM_DRAW_KERNELS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {

/* Numbers of np_draws.cc that are free of parameters, as distributions.cuh defines them. */
enum class BaseDraw { kUnit, kNormal, kExponential, kGumbel, kLogistic, kLaplace, kRayleigh, kLogExponential };

MXNET_CPU_DECLARE(
    /* Four numbers from each counter from `first` on: y = a + b v, v uniform in [0, 1) (results
     * stay
   * below a + b) or standard normal. */
    void DrawFloats(bool normal, uint64_t seed, uint64_t first, float a, float b, float* y, int64_t n);
    /* Two numbers from each counter: low plus an integer below `range`, modulo 2^64. */
    void DrawInts(uint64_t seed, uint64_t first, uint64_t low, uint64_t range, uint64_t* y, int64_t n);
    /* SampleGamma's numbers where its first trial is taken at once; negative where it is not. */
    void DrawGammas(uint64_t seed, uint64_t first, double alpha, double beta, double* y, int64_t n);
    /* One number from each counter: exponentially distributed with the given rate. */
    void DrawExponentials(uint64_t seed, uint64_t first, double rate, double* y, int64_t n);
    /* One number from each counter. */
    void DrawBases(BaseDraw kind, uint64_t seed, uint64_t first, double* z, int64_t n);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RANDOM_DRAW_KERNELS_H_
