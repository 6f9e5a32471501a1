/* Samples of images at places between the pixels, for several instruction sets. */
#ifndef MXNET_OPERATOR_NN_DEFORMABLE_DEFORMABLE_KERNELS_H_
#define MXNET_OPERATOR_NN_DEFORMABLE_DEFORMABLE_KERNELS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {
namespace nn {

/* What lies outside of an image. */
enum class Beyond : int {
  kNearest,  // the last row and column go on for a pixel; 0 behind them and before the first
  kZeros     // zeros all around, between which and the border pixels values are interpolated
};

/*
 * Bilinear samples at n places, each of up to four pixels: value = sum over k of weight[k] *
 * plane[pixel[k]], 0 where pixel[0] is -1. Pixels that do not exist count 0 and show some that do.
 * down and right: the same with the derivatives by the place.
 */
template <typename T>
struct Samples {
  int64_t n;
  int32_t* pixel[4];
  T *weight[4], *down[4], *right[4];                                                 // derivatives: null where they are not needed
  T* factor;                                                                         // of each sample, or null
  static constexpr int64_t Words(bool derivatives) { return derivatives ? 13 : 5; }  // T for each place, and 4 int32_t
};

/* Where samples are taken: at (y + offset_y, x + offset_x), which stand side by side. */
template <typename T>
struct SamplePlaces {
  int64_t h, w;
  Beyond beyond;
  const T *y, *x, *offset_y, *offset_x;
  const T* mask;  // null: none
};

}  // namespace nn

/* Of float, or of double if `wide`. */
MXNET_CPU_DECLARE(
    /* `samples` from `places`. */
    void DeformPlaces(bool wide, const void* places, const void* samples);
    /* column[i] = the value of sample i times its factor. */
    void DeformColumn(bool wide, const void* samples, const void* plane, void* column);
    /* column as above unless null; adds the gradients, given that of the column, by the place and
     * by the factor (unless null). */
    void DeformGradients(bool wide, const void* samples, const void* plane, const void* column_grad, void* column, void* down, void* right,
                         void* factor);
    /* Adds the column's gradient to that of the plane. */
    void DeformScatter(bool wide, const void* samples, const void* column_grad, void* plane_grad);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_DEFORMABLE_DEFORMABLE_KERNELS_H_
