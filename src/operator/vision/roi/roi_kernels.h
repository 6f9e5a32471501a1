/* Loops over the pixels of regions, for several instruction sets. */
#ifndef MXNET_OPERATOR_VISION_ROI_ROI_KERNELS_H_
#define MXNET_OPERATOR_VISION_ROI_ROI_KERNELS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {
namespace roi {

/* A pixel along one axis and what it counts. */
template <typename T>
struct Tap {
  int32_t at;
  T weight;
};

constexpr int64_t kLanes = 8;     // bins of a row whose sums are one vector
constexpr int64_t kChannels = 8;  // of a region that are computed one after the other: their loops are alike

/*
 * An upright region for ROIAlign. Bilinear interpolation on a grid is separable, so a bin's result
 * is the sum over its rows and columns of weight(row) * weight(column) * pixel. The taps of row i
 * of bins are taps[rows[i]] to taps[rows[i + 1]], those of columns alike.
 */
template <typename T>
struct AlignedRegion {
  int64_t image;  // -1: there is none, the results are zero
  int64_t pooled_h, pooled_w;
  const int32_t *rows, *columns;
  const Tap<T>* taps;
  int32_t first_column, end_column, last_row;  // of all taps
  const T* dense;                              // kLanes weights for each column from first_column on, or null
  T scale;                                     // of every result; NaN: all results are NaN
};

/* A region of ROIPooling: bin (i, j) covers rows begin[i] to end[i], columns alike behind them. */
struct PooledRegion {
  int64_t image;
  int64_t pooled_h, pooled_w;
  const int32_t *begin, *end;  // pooled_h of rows, then pooled_w of columns
};

/* Elements of scratch memory that the functions below need for images of that width. */
constexpr int64_t RowScratch(int64_t width) { return width + 64; }

}  // namespace roi

/* Of float, or of double if `wide`: an AlignedRegion and arrays. `plane`: height * width pixels of
 * one channel; `out`, `og`: pooled_h * pooled_w results of it. */
MXNET_CPU_DECLARE(void AlignForward(bool wide, const void* region, const void* plane, int64_t h, int64_t w, void* out, void* scratch);
                  /* Adds the gradient to `plane`. */
                  void AlignBackward(bool wide, const void* region, const void* og, int64_t h, int64_t w, void* plane, void* scratch);
                  void PoolForward(bool wide, const roi::PooledRegion& r, const void* plane, int64_t h, int64_t w, void* out,
                                   void* scratch);
                  /* Adds og to the first of each bin's largest pixels. */
                  void PoolBackward(bool wide, const roi::PooledRegion& r, const void* image, const void* og, int64_t h, int64_t w,
                                    void* plane, void* scratch, int32_t* rows);
                  /* What `plane` has where the first of each bin's largest pixels of `image` is;
                   * 0 for bins without pixels. */
                  void PoolOtherForward(bool wide, const roi::PooledRegion& r, const void* image, const void* plane, int64_t h, int64_t w,
                                        void* out, void* scratch, int32_t* rows);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_VISION_ROI_ROI_KERNELS_H_
