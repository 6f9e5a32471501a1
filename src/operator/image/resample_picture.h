/* A picture that is resampled, and the part of the result that is made: what the files of
 * resampling share. */
#ifndef MXNET_OPERATOR_IMAGE_RESAMPLE_PICTURE_H_
#define MXNET_OPERATOR_IMAGE_RESAMPLE_PICTURE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/threads/omp.h"
#include "operator/image/resample.h"

namespace mxnet {
namespace image {

constexpr int64_t kResampleGrain = 1 << 14;  // elements of the result

inline int Round(double v) { return static_cast<int>(std::lrint(v)); }

template <typename T, typename V>
T Saturated(V v) {
  if constexpr (std::is_same<T, uint8_t>::value) {
    int i;
    if constexpr (std::is_floating_point<V>::value)
      i = Round(static_cast<double>(v));
    else
      i = static_cast<int>(v);
    return static_cast<uint8_t>(std::min(std::max(i, 0), 255));
  } else {
    return static_cast<T>(v);
  }
}

// What lies between the source and the result along one axis.
struct Axis {
  int64_t from, to;
  double inverse, scale;  // result / source; source / result
  Axis(int64_t f, int64_t t) : from(f), to(t), inverse(static_cast<double>(t) / static_cast<double>(f)), scale(1. / inverse) {}
  bool Shrinks() const { return scale >= 1; }
  int Whole() const { return Round(scale); }
  int64_t first = 0, count = to;  // the part of the result that is made
  Axis Part(int64_t begin, int64_t n) const {
    Axis part = *this;
    part.first = begin, part.count = n;
    return part;
  }
  bool IsWhole() const { return std::abs(scale - Whole()) < std::numeric_limits<double>::epsilon(); }
};

// Sums of products of one row: bytes in fixed point, floating elements in their own type.
template <typename T>
using Sum = std::conditional_t<std::is_same<T, uint8_t>::value, int, T>;

template <typename T>
struct Picture {
  const T* from;
  ImageSize size;
  int64_t pitch;
  T* to;
  int64_t full_height, full_width;                       // of the result
  int64_t top, left, height, width;                      // the part of it that is made
  bool alone;                                            // on this thread
  int64_t row() const { return width * size.channels; }  // elements of a row of what is made
  Axis columns() const { return Axis(size.width, full_width).Part(left, width); }
  Axis lines() const { return Axis(size.height, full_height).Part(top, height); }
  template <typename F>
  void Rows(F&& f) const {
    if (alone) return f(static_cast<int64_t>(0), height);
    ParallelFor(height, std::max<int64_t>(1, kResampleGrain / row()), f);
  }
};

/* Means of what each pixel covers: kArea of a picture that shrinks along both axes. */
template <typename T>
void ShrinkToMeans(const Picture<T>& p);

}  // namespace image
}  // namespace mxnet
#endif  // MXNET_OPERATOR_IMAGE_RESAMPLE_PICTURE_H_
