// Loops of L2Normalization and its gradient.
#include <algorithm>
#include <cmath>

#include "base/spread.h"
#include "mxnet/base.h"
#include "operator/nn/norm/l2_kernels.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

constexpr int64_t kBlock = 1024;  // elements summed in the data's type before going into a double
constexpr int64_t kRows = 32;     // the same, by column
constexpr int64_t kWidth = 256;   // columns at a time

template <typename T>
double SquareSum(const T* x, int64_t n) {
  double sum = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(n, begin + kBlock);
    T squares = 0;
#pragma omp simd reduction(+ : squares)
    for (int64_t i = begin; i < end; ++i) squares += x[i] * x[i];
    sum += static_cast<double>(squares);
  }
  return sum;
}

template <typename T>
void RowSums(const T* g, const T* x, int64_t n, L2Sums* sums) {
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(n, begin + kBlock);
    T squares = 0, products = 0;
#pragma omp simd reduction(+ : squares, products)
    for (int64_t i = begin; i < end; ++i) {
      squares += x[i] * x[i];
      products += g[i] * x[i];
    }
    sums->squares += static_cast<double>(squares);
    sums->products += static_cast<double>(products);
  }
}

template <typename T>
void RowGradient(const T* g, const T* x, T* dx, int64_t n, T by_gradient, T by_data) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) dx[i] = g[i] * by_gradient + x[i] * by_data;
}

// How many rows of n go together: roots and quotients of several are found at once.
constexpr int64_t kTogether = 64;
int64_t Together(int64_t n) { return std::max<int64_t>(1, std::min(kTogether, 4096 / n)); }

// Rows of at most Spread<T>::kCount elements, kTogether of them at most.
template <typename T>
struct FewRows {
  static constexpr int64_t kMost = kTogether * Spread<T>::kCount;
  T squares[kMost], products[kMost], by_data[kTogether], by_gradient[kTogether];

  static T Sum(const T* from, int64_t n) {
    T sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += from[i];
    return sum;
  }
  void Divide(const Spread<T>& spread, const T* x, T* y, int64_t rows, int64_t n, double eps) {
    using S = Spread<T>;
#pragma omp simd
    for (int64_t i = 0; i < rows * n; ++i) squares[i] = x[i] * x[i];
    for (int64_t r = 0; r < rows; ++r) by_data[r] = Sum(squares + r * n, n) + static_cast<T>(eps);
#pragma omp simd
    for (int64_t r = 0; r < rows; ++r) by_data[r] = std::sqrt(by_data[r]);
    int64_t r = 0;
    for (; r + S::kCount <= rows; r += S::kCount)
      for (int64_t k = 0, at = r * n; k < n; ++k, at += S::kCount) S::At(y + at) = S::At(x + at) / spread.Of(S::At(by_data + r), k);
    for (; r < rows; ++r)
      for (int64_t i = r * n; i < (r + 1) * n; ++i) y[i] = x[i] / by_data[r];
  }
  void Gradient(const Spread<T>& spread, const T* g, const T* x, T* dx, int64_t rows, int64_t n, double eps) {
    using S = Spread<T>;
#pragma omp simd
    for (int64_t i = 0; i < rows * n; ++i) {
      squares[i] = x[i] * x[i];
      products[i] = g[i] * x[i];
    }
    for (int64_t r = 0; r < rows; ++r) {
      by_gradient[r] = Sum(squares + r * n, n) + static_cast<T>(eps);
      by_data[r] = Sum(products + r * n, n);
    }
#pragma omp simd
    for (int64_t r = 0; r < rows; ++r) {
      const T inverse = T(1) / std::sqrt(by_gradient[r]);
      by_gradient[r] = inverse;
      by_data[r] = -(by_data[r] * inverse * inverse * inverse);  // in turn: the cube may be infinite
    }
    int64_t r = 0;
    for (; r + S::kCount <= rows; r += S::kCount)
      for (int64_t k = 0, at = r * n; k < n; ++k, at += S::kCount)
        S::At(dx + at) = S::At(g + at) * spread.Of(S::At(by_gradient + r), k) + S::At(x + at) * spread.Of(S::At(by_data + r), k);
    for (; r < rows; ++r) RowGradient(g + r * n, x + r * n, dx + r * n, n, by_gradient[r], by_data[r]);
  }
};

template <typename T>
void Rows(const T* x, T* y, int64_t rows, int64_t n, double eps) {
  if (n <= Spread<T>::kCount) {
    const Spread<T> spread(n);
    FewRows<T> few;
    for (int64_t first = 0; first < rows; first += kTogether)
      few.Divide(spread, x + first * n, y + first * n, std::min(kTogether, rows - first), n, eps);
    return;
  }
  double norms[kTogether];
  const int64_t together = Together(n);
  for (int64_t first = 0; first < rows; first += together, x += together * n, y += together * n) {
    const int64_t count = std::min(together, rows - first);
    for (int64_t r = 0; r < count; ++r) norms[r] = SquareSum(x + r * n, n);
#pragma omp simd
    for (int64_t r = 0; r < count; ++r) norms[r] = std::sqrt(norms[r] + eps);
    for (int64_t r = 0; r < count; ++r) {
      const T norm = static_cast<T>(norms[r]);
#pragma omp simd
      for (int64_t i = r * n; i < (r + 1) * n; ++i) y[i] = x[i] / norm;
    }
  }
}

template <typename T>
void RowsGradient(const T* g, const T* x, T* dx, int64_t rows, int64_t n, double eps) {
  if (n <= Spread<T>::kCount) {
    const Spread<T> spread(n);
    FewRows<T> few;
    for (int64_t first = 0; first < rows; first += kTogether)
      few.Gradient(spread, g + first * n, x + first * n, dx + first * n, std::min(kTogether, rows - first), n, eps);
    return;
  }
  L2Sums sums[kTogether];
  L2Factors factors[kTogether];
  const int64_t together = Together(n);
  for (int64_t first = 0; first < rows; first += together, g += together * n, x += together * n, dx += together * n) {
    const int64_t count = std::min(together, rows - first);
    std::fill(sums, sums + count, L2Sums());
    for (int64_t r = 0; r < count; ++r) RowSums(g + r * n, x + r * n, n, &sums[r]);
#pragma omp simd
    for (int64_t r = 0; r < count; ++r) factors[r] = L2Factors(sums[r], eps);
    for (int64_t r = 0; r < count; ++r)
      RowGradient(g + r * n, x + r * n, dx + r * n, n, static_cast<T>(factors[r].by_gradient), static_cast<T>(factors[r].by_data));
  }
}

template <typename T>
void ColumnsSums(const T* g, const T* x, int64_t rows, int64_t stride, int64_t n, L2Sums* sums) {
  T squares[kWidth], products[kWidth];
  for (int64_t first = 0; first < rows; first += kRows) {
    std::fill(squares, squares + n, T(0));
    std::fill(products, products + n, T(0));
    for (int64_t r = first; r < std::min(rows, first + kRows); ++r) {
      const T *from = g + r * stride, *at = x + r * stride;
#pragma omp simd
      for (int64_t j = 0; j < n; ++j) {
        squares[j] += at[j] * at[j];
        products[j] += from[j] * at[j];
      }
    }
    for (int64_t j = 0; j < n; ++j) {
      sums[j].squares += static_cast<double>(squares[j]);
      sums[j].products += static_cast<double>(products[j]);
    }
  }
}

template <typename T>
void ColumnsGradient(const T* g, const T* x, T* dx, int64_t rows, int64_t stride, int64_t n, double eps) {
  L2Sums sums[kWidth];
  T by_gradient[kWidth], by_data[kWidth];
  for (int64_t first = 0; first < n; first += kWidth) {
    const int64_t width = std::min(kWidth, n - first);
    std::fill(sums, sums + width, L2Sums());
    ColumnsSums(g + first, x + first, rows, stride, width, sums);
    for (int64_t j = 0; j < width; ++j) {
      const L2Factors factors(sums[j], eps);
      by_gradient[j] = static_cast<T>(factors.by_gradient);
      by_data[j] = static_cast<T>(factors.by_data);
    }
    for (int64_t r = 0; r < rows; ++r) {
      const T *from = g + r * stride + first, *at = x + r * stride + first;
      T* to = dx + r * stride + first;
#pragma omp simd
      for (int64_t j = 0; j < width; ++j) to[j] = from[j] * by_gradient[j] + at[j] * by_data[j];
    }
  }
}

template <typename F>
void OfType(int dtype, F&& f) {
  if (dtype == kFloat64) return f(double{});
  f(float{});
}

}  // namespace

void L2Rows(int dtype, const void* x, void* y, int64_t rows, int64_t n, double eps) {
  OfType(dtype, [&](auto tag) {
    using T = decltype(tag);
    Rows(static_cast<const T*>(x), static_cast<T*>(y), rows, n, eps);
  });
}

void L2RowsGradient(int dtype, const void* g, const void* x, void* dx, int64_t rows, int64_t n, double eps) {
  OfType(dtype, [&](auto tag) {
    using T = decltype(tag);
    RowsGradient(static_cast<const T*>(g), static_cast<const T*>(x), static_cast<T*>(dx), rows, n, eps);
  });
}

void L2RowSums(int dtype, const void* g, const void* x, int64_t n, L2Sums* sums) {
  OfType(dtype, [&](auto tag) {
    using T = decltype(tag);
    RowSums(static_cast<const T*>(g), static_cast<const T*>(x), n, sums);
  });
}

void L2RowGradient(int dtype, const void* g, const void* x, void* dx, int64_t n, const L2Factors& factors) {
  OfType(dtype, [&](auto tag) {
    using T = decltype(tag);
    RowGradient(static_cast<const T*>(g), static_cast<const T*>(x), static_cast<T*>(dx), n, static_cast<T>(factors.by_gradient),
                static_cast<T>(factors.by_data));
  });
}

void L2ColumnsGradient(int dtype, const void* g, const void* x, void* dx, int64_t rows, int64_t stride, int64_t n, double eps) {
  OfType(dtype, [&](auto tag) {
    using T = decltype(tag);
    ColumnsGradient(static_cast<const T*>(g), static_cast<const T*>(x), static_cast<T*>(dx), rows, stride, n, eps);
  });
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
