/* Loops over images that are sampled, resized and correlated, for several instruction sets. dtype
 * is float32 or float64 everywhere. */
#ifndef MXNET_OPERATOR_VISION_SPATIAL_SPATIAL_KERNELS_H_
#define MXNET_OPERATOR_VISION_SPATIAL_SPATIAL_KERNELS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {

namespace nn {

constexpr int64_t kSamplePoints = 256;  // of one call at most

/* `channels` planes of height x width, one behind the other, and points at which they are sampled:
 * x[i], y[i] from -1 (middle of the first pixel) to 1 (middle of the last). */
struct SampleCall {
  int64_t channels, height, width;
  const void *x, *y;
  int64_t points;
  int64_t step;  // elements between the results of neighbouring channels
};

/* Where elements of a resized line come from: (1 - part) from[i] + part from[i] + next[i]. */
struct LineSources {
  const int32_t *first, *second;
  const void* part;
};

/* One row of correlations: `columns` pixels of `first`, channels last, with `displacements` rows of
 * `second` that begin `step` elements apart. */
struct CorrelateCall {
  int64_t columns, channels, displacements, step;
  bool multiply, of_second;  // of_second: the gradient of the second image
};

}  // namespace nn

MXNET_CPU_DECLARE(
    /* out[c * step + i]: plane c at point i, 0 outside of it. */
    void SamplePlanes(const nn::SampleCall& call, int dtype, const void* planes, void* out);
    /* The same transposed: adds what og gives to the planes. */
    void SampleToPlanes(const nn::SampleCall& call, int dtype, const void* og, void* planes);
    /* Gradients of x and y, as numbers from -1 to 1. */
    void SamplePoints(const nn::SampleCall& call, int dtype, const void* planes, const void* og, void* dx, void* dy);
    /* Lines of resized images. */
    void ResizeLine(const nn::LineSources& from, int dtype, const void* line, void* out, int64_t n);
    void BlendLines(int dtype, const void* upper, const void* lower, double part, void* out, int64_t n);
    /* line[...] += weight * what out's elements give back to their sources. */
    void ResizeLineBack(const nn::LineSources& from, int dtype, const void* out, void* line, int64_t n);
    /* to[i] += weight * from[i]; there may be two destinations. */
    void AddScaled(int dtype, const void* from, double weight, void* to, int64_t n);
    /* out[d * columns + x]: sum over channels of first * second, or of |first - second|. */
    void CorrelateRow(const nn::CorrelateCall& call, int dtype, const void* first, const void* second, void* out);
    /* For each pixel x: to[x, :] += weights[x] * other[x, :] if multiply. Else the slope of
       |first - second|, where `own` is the image whose gradient it is: that of first is 1 where
       both are equal. */
    void CorrelateRowBack(const nn::CorrelateCall& call, int dtype, const void* weights, const void* own, const void* other, void* to);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_VISION_SPATIAL_SPATIAL_KERNELS_H_
