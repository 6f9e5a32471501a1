#include <algorithm>
#include <cmath>
#include <limits>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "operator/random/density.h"

namespace mxnet {
namespace {

// 16-bit numbers are widened, a row at a time.
template <typename T>
void Rows(int64_t rows, int64_t each, const T* x, const T* a, const T* b, const float* density, const float* none, T* y) {
  for (int64_t r = 0; r < rows; ++r, x += each, y += each) {
    const float low = static_cast<float>(a[r]), high = static_cast<float>(b[r]);
    for (int64_t i = 0; i < each; ++i) {
      const float v = static_cast<float>(x[i]), within = v < low || v > high ? none[r] : density[r];
      y[i] = T(v == v ? within : v);
    }
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
        if constexpr (sizeof(T) == 2)
          Rows(n, each, x + first * each, from + first, to + first, density, none, y + first * each);
        else
          MXNET_CPU_CALL(UniformRows)
        (DTypeOf<T>::value, n, each, x + first * each, from + first, to + first, density, none, y + first * each);
      }
    });
  });
}

}  // namespace mxnet
