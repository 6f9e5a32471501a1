#include <algorithm>
#include <cmath>
#include <limits>

#include "base/dtype.h"
#include "base/omp.h"
#include "operator/random/density.h"

namespace mxnet {
namespace {

/* y = density in [a, b], `none` outside, and NaN of NaN. Comparisons and results are those of
 * double. */
template <typename T, typename V>
void Row(const T* x, int64_t n, V a, V b, V density, V none, T* y) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const V v = static_cast<V>(x[i]);
    const V within = v < a || v > b ? none : density;
    y[i] = T(v == v ? within : v);
  }
}

/* Rows of few samples, as many in each: the compiler makes vectors of them. */
template <int64_t kEach, typename T, typename V>
void Rows(int64_t rows, const T* x, const T* a, const T* b, const V* density, const V* none, T* y) {
  for (int64_t r = 0; r < rows; ++r) {
    const V low = V(a[r]), high = V(b[r]), within = density[r], outside = none[r];
    for (int64_t k = 0; k < kEach; ++k) {
      const V v = static_cast<V>(x[r * kEach + k]), result = v < low || v > high ? outside : within;
      y[r * kEach + k] = T(v == v ? result : v);
    }
  }
}

template <typename T, typename V>
void AllRows(int64_t rows, int64_t each, const T* x, const T* a, const T* b, const V* density, const V* none, T* y) {
  switch (each) {
    case 1: return Rows<1>(rows, x, a, b, density, none, y);
    case 2: return Rows<2>(rows, x, a, b, density, none, y);
    case 4: return Rows<4>(rows, x, a, b, density, none, y);
    case 8: return Rows<8>(rows, x, a, b, density, none, y);
    default:
      for (int64_t r = 0; r < rows; ++r) Row(x + r * each, each, V(a[r]), V(b[r]), density[r], none[r], y + r * each);
  }
}

}  // namespace

void UniformDensities(const TBlob& sample, const TBlob& low, const TBlob& high, const TBlob& out) {
  VisitFloating(out.dtype, "_random_pdf_uniform", [&](auto tag) {
    using T = decltype(tag);
    using V = std::conditional_t<sizeof(T) == 2, float, T>;
    const T *x = sample.data<T>(), *from = low.data<T>(), *to = high.data<T>();
    T* const y = out.data<T>();
    const int64_t rows = low.Size(), each = rows ? sample.Size() / rows : 0;
    ParallelFor(rows, std::max<int64_t>(1, 4 * kDensityBlock / std::max<int64_t>(each, 1)), [=](int64_t begin, int64_t end) {
      V density[kDensityBlock], none[kDensityBlock];
      for (int64_t first = begin; first < end; first += kDensityBlock) {
        const int64_t n = std::min(kDensityBlock, end - first);
        for (int64_t r = 0; r < n; ++r) {
          const double a = static_cast<double>(from[first + r]), b = static_cast<double>(to[first + r]);
          const bool valid = a < b && b - a < std::numeric_limits<double>::infinity();
          none[r] = valid ? V(0) : std::numeric_limits<V>::quiet_NaN();
          density[r] = static_cast<V>(1 / (b - a)) + none[r];
        }
        AllRows(n, each, x + first * each, from + first, to + first, density, none, y + first * each);
      }
    });
  });
}

}  // namespace mxnet
