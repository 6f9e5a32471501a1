/* Bilinear samples of images at points, shared by BilinearSampler and SpatialTransformer. */
#ifndef MXNET_OPERATOR_VISION_SPATIAL_SAMPLER_H_
#define MXNET_OPERATOR_VISION_SPATIAL_SAMPLER_H_

#include <algorithm>

#include "operator/nn/common/nn_common.h"
#include "operator/vision/spatial/spatial_kernels.h"

namespace mxnet {
namespace nn {

/* Images (batch, channels, height, width) and points (rows, columns) for each of them. */
struct SampleDims {
  int64_t batch, channels, height, width, rows, columns;
  SampleDims(const Shape& data, const Shape& out)
      : batch(data[0]), channels(data[1]), height(data[2]), width(data[3]), rows(out[2]), columns(out[3]) {}
  int64_t points() const { return rows * columns; }
  int64_t pixels() const { return height * width; }
  int64_t blocks() const { return (points() + kSamplePoints - 1) / kSamplePoints; }
};

/* Where a block of points lies: in arrays of its own, or elsewhere. */
template <typename T>
struct PointBlock {
  T x[kSamplePoints], y[kSamplePoints];
  const T *px = x, *py = y;
};

/* f(image, first point, number of points) for all blocks of points, in parallel. */
template <typename F>
void EachPointBlock(const SampleDims& d, int64_t work_per_point, F&& f) {
  const int64_t grain = std::max<int64_t>(1, 16384 / (kSamplePoints * std::max<int64_t>(1, work_per_point)));
  ParallelFor(d.batch * d.blocks(), grain, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) {
      const int64_t first = i % d.blocks() * kSamplePoints;
      f(i / d.blocks(), first, std::min(kSamplePoints, d.points() - first));
    }
  });
}

/* locate(image, first, count, PointBlock*) says where points are. */
template <typename T, typename Locate>
void SampleOnCpu(const SampleDims& d, int dtype, const T* data, T* out, Locate&& locate) {
  EachPointBlock(d, d.channels, [&](int64_t n, int64_t first, int64_t count) {
    PointBlock<T> at;
    locate(n, first, count, &at);
    const SampleCall call{d.channels, d.height, d.width, at.px, at.py, count, d.points()};
    MXNET_CPU_CALL(SamplePlanes)(call, dtype, data + n * d.channels * d.pixels(), out + n * d.channels * d.points() + first);
  });
}

/* Gradient of the images. Each plane belongs to one thread, so its sums have one order. */
template <typename T, typename Locate>
void SampleToDataOnCpu(const SampleDims& d, int dtype, const T* og, T* dx, Locate&& locate) {
  ParallelFor(d.batch * d.channels, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, d.points())), [&](int64_t b, int64_t e) {
    std::fill(dx + b * d.pixels(), dx + e * d.pixels(), T(0));
    for (int64_t i = b; i < e;) {
      const int64_t n = i / d.channels, end = std::min(e, (n + 1) * d.channels);
      for (int64_t first = 0; first < d.points(); first += kSamplePoints) {
        PointBlock<T> at;
        const int64_t count = std::min(kSamplePoints, d.points() - first);
        locate(n, first, count, &at);
        const SampleCall call{end - i, d.height, d.width, at.px, at.py, count, d.points()};
        MXNET_CPU_CALL(SampleToPlanes)(call, dtype, og + i * d.points() + first, dx + i * d.pixels());
      }
      i = end;
    }
  });
}

/* Gradient of the points: take(image, first, count, dx, dy) gets it block by block. */
template <typename T, typename Locate, typename Take>
void SampleToPointsOnCpu(const SampleDims& d, int dtype, const T* data, const T* og, Locate&& locate, Take&& take) {
  EachPointBlock(d, d.channels, [&](int64_t n, int64_t first, int64_t count) {
    PointBlock<T> at;
    T dx[kSamplePoints], dy[kSamplePoints];
    locate(n, first, count, &at);
    const SampleCall call{d.channels, d.height, d.width, at.px, at.py, count, d.points()};
    MXNET_CPU_CALL(SamplePoints)
    (call, dtype, data + n * d.channels * d.pixels(), og + n * d.channels * d.points() + first, dx, dy);
    take(n, first, count, dx, dy);
  });
}

/* The same on a GPU. `grid` and `dgrid` are (batch, 2, rows, columns); their dtype may be another
 * than that of the images. */
void SampleOnDevice(KernelArgs& args, const SampleDims& d, const TBlob& data, const TBlob& grid, const TBlob& out);
void SampleToDataOnDevice(KernelArgs& args, const SampleDims& d, const TBlob& og, const TBlob& grid, const TBlob& dx);
void SampleToPointsOnDevice(KernelArgs& args, const SampleDims& d, const TBlob& og, const TBlob& data, const TBlob& grid,
                            const TBlob& dgrid);
/* grid = theta (batch, 6) applied to the places of a regular grid, and the gradient of theta. */
void AffineGridOnDevice(KernelArgs& args, const TBlob& theta, const TBlob& grid);
void AffineGridBackOnDevice(KernelArgs& args, const TBlob& dgrid, const TBlob& dtheta);
/* Gradient of `flow`, or, without `back`, the grid of a flow. */
void WarpGridOnDevice(KernelArgs& args, const TBlob& from, const TBlob& to, bool back);

/* Place i of n from -1 to 1; 0 if there is but one. */
template <typename T>
T RegularPlace(int64_t i, int64_t n) {
  return n > 1 ? static_cast<T>(-1 + 2.0 * static_cast<double>(i) / static_cast<double>(n - 1)) : T(0);
}

/* Points [first, first + count) of a regular grid of rows x columns, moved by the matrix theta. */
template <typename T>
void AffinePoints(const T* theta, int64_t rows, int64_t columns, int64_t first, int64_t count, T* x, T* y) {
  int64_t row = first / columns, column = first % columns;
  for (int64_t i = 0; i < count; ++row, column = 0) {
    const int64_t end = std::min(count, i + columns - column);
    const T v = RegularPlace<T>(row, rows);
    for (; i < end; ++i, ++column) {
      const T u = RegularPlace<T>(column, columns);
      x[i] = theta[0] * u + theta[1] * v + theta[2];
      y[i] = theta[3] * u + theta[4] * v + theta[5];
    }
  }
}

/* The same for points whose places are known: `u` and `v` have them, or v is the same for all. */
template <typename T, typename V>
void AffineAt(const T* theta, const T* __restrict u, V v, int64_t count, T* __restrict x, T* __restrict y) {
  const T x_by_u = theta[0], x_by_v = theta[1], x_plain = theta[2], y_by_u = theta[3], y_by_v = theta[4], y_plain = theta[5];
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    x[i] = x_by_u * u[i] + x_by_v * v(i) + x_plain;
    y[i] = y_by_u * u[i] + y_by_v * v(i) + y_plain;
  }
}

/* Shapes that both operators share: data of 4 dimensions. False: not known yet. */
bool CheckImages(const Attrs& attrs, const Shape& data);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_VISION_SPATIAL_SAMPLER_H_
