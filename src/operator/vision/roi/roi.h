/*
 * What the operators on regions share. Regions are rows (image, ...) of a matrix; an image's number
 * that is not one of the batch makes a region without pixels, whose results are zero.
 */
#ifndef MXNET_OPERATOR_VISION_ROI_ROI_H_
#define MXNET_OPERATOR_VISION_ROI_ROI_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "mxnet/op.h"
#include "operator/nn/common/nn_common.h"
#include "operator/record/param.h"

namespace mxnet {
namespace roi {

/* Both sizes of a window, 1 to 2^31 - 1; throws Error(kValue). */
void CheckPooledSize(const Attrs& attrs, const Shape& size);

/* `samples` points each way in every bin: at most 2^24 along a side of a region, else
 * Error(kValue). */
void CheckSamples(const Attrs& attrs, const Shape& pooled_size, const char* name, int64_t samples);

/*
 * Infers data (batch, channels, height, width), rois (regions, columns) and output (regions,
 * output_channels, pooled_h, pooled_w). output_channels -1: as many as data has.
 */
bool InferRegions(const Attrs& attrs, ShapeVector* in, ShapeVector* out, int columns, int64_t output_channels, int64_t pooled_h,
                  int64_t pooled_w);

/*
 * Parameters of operators whose bins have channels of their own: data needs output_dim * groups^2
 * of them, and may have more where they can be `spare`. group_size 0 is as many as bins, unless it
 * must be `least`.
 */
void CheckGroups(const Attrs& attrs, int64_t output_dim, int64_t pooled_size, int64_t group_size, int64_t least, bool spare,
                 const Shape& data);

/* The bins k of which k * groups / bins is `group`: [first, last). */
struct BinRange {
  int64_t first, last;
  BinRange(int64_t group, int64_t bins, int64_t groups)
      : first((group * bins + groups - 1) / groups), last(((group + 1) * bins + groups - 1) / groups) {}
};

/* The image that a region lies in, or -1. Fractions are dropped. */
template <typename T>
int64_t ImageOf(T number, int64_t images) {
  return number > T(-1) && number < static_cast<T>(images) ? static_cast<int64_t>(number) : -1;
}

template <typename T>
bool AllFinite(const T* values, int n) {
  for (int i = 0; i < n; ++i)
    if (!std::isfinite(values[i])) return false;
  return true;
}

/* Halves away from zero. */
template <typename T>
T Rounded(T v) {
  return std::round(v);
}

/* A coordinate as a pixel's number from 0 to `size`; NaN is 0. */
template <typename T>
int32_t Clipped(T v, int64_t size) {
  if (!(v > T(0))) return 0;
  return v < static_cast<T>(size) ? static_cast<int32_t>(v) : static_cast<int32_t>(size);
}

/*
 * Which of the points start + (k + 1/2) * step, k = 0...count - 1, can lie within [low, high]:
 * [first, last), which contains them all and few others, however many points there are.
 */
struct PointRange {
  int64_t first = 0, last = 0;
  PointRange(double start, double step, double count, double low, double high) {
    if (!(count > 0) || !std::isfinite(start) || !std::isfinite(step)) return;
    constexpr double kMost = 4e18;
    double from = 0, to = count;
    if (step != 0) {
      const double a = (low - start) / step - 0.5, b = (high - start) / step - 0.5;
      from = std::max(from, std::floor(std::min(a, b)) - 1), to = std::min(to, std::ceil(std::max(a, b)) + 2);
    }
    if (!(from < to)) return;
    first = static_cast<int64_t>(std::min(from, kMost)), last = static_cast<int64_t>(std::min(to, kMost));
  }
};

/* Items of a loop over (regions or images) x channels that outweigh waking a thread. */
inline int64_t Grain(int64_t pixels) { return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, pixels)); }

/* A layer that is linear in data: its backward node (ograd, data, rois) has that gradient with
 * respect to ograd. */
GradientFn LinearSecondGradient(const char* forward);

/* Gradient with respect to data alone, of a node `backward` on (ograd, data, rois). */
GradientFn DataGradient(const char* backward);

}  // namespace roi
}  // namespace mxnet
#endif  // MXNET_OPERATOR_VISION_ROI_ROI_H_
