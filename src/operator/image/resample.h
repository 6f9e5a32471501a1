/*
 * Resampling of images (height, width, channels), on the CPU. The methods are those that OpenCV 3.4
 * numbers 0 to 5, to the last bit: sample positions at the centres of pixels, weights in float,
 * products of bytes in 11-bit fixed point (8-bit for kLinearExact).
 */
#ifndef MXNET_OPERATOR_IMAGE_RESAMPLE_H_
#define MXNET_OPERATOR_IMAGE_RESAMPLE_H_

#include <cstdint>

namespace mxnet {
namespace image {

enum Interpolation : int { kNearest, kLinear, kCubic, kArea, kLanczos, kLinearExact, kInterpolations };

struct ImageSize {
  int64_t height, width, channels;
};

/*
 * REQUIRES: sizes of at least 1; CanResample(dtype, method); `from` and `to` do not overlap. A row
 * of `from` has `pitch` elements. Rows of the result are split over threads.
 */
void Resample(int dtype, Interpolation method, const void* from, ImageSize from_size, int64_t pitch, void* to, int64_t height,
              int64_t width);

/* A part of an image. */
struct Window {
  int64_t y = 0, x = 0, height = 0, width = 0;
};

/* What `want`, a part of the result of height * width, is made from. */
Window ResampleSource(Interpolation method, ImageSize from_size, int64_t height, int64_t width, const Window& want);

/*
 * As Resample of bytes, but only a part of the result, from a part of the source. `from` is the
 * first pixel of `have`, which covers ResampleSource(...). On the calling thread alone.
 * REQUIRES: 8 bytes behind the last pixel may be read.
 */
void ResampleWindow(Interpolation method, const uint8_t* from, ImageSize from_size, const Window& have, uint8_t* to, int64_t height,
                    int64_t width, const Window& want);

/* Weights of the 4 or 8 pixels around a sample, in one dimension. It lies `x`, 0 to 1, behind the
 * last pixel of their first half. */
void CubicWeights(float x, float* weights);
void LanczosWeights(float x, float* weights);

/* Dtypes and methods that Resample takes: kUint8, kFloat32 and kFloat64, and for kNearest other
 * integers, too. kLinearExact of floats is kLinear. */
bool CanResample(int dtype, int method);

}  // namespace image
}  // namespace mxnet
#endif  // MXNET_OPERATOR_IMAGE_RESAMPLE_H_
