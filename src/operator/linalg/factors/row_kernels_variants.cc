#include <algorithm>
#include <cmath>
#include <limits>

#include "base/row_vectors.h"
#include "operator/linalg/factors/row_kernels.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

using linalg::kRowStep;

// A square root of a square is right above this.
constexpr double kLittle = std::numeric_limits<double>::min() / std::numeric_limits<double>::epsilon();

template <typename T>
inline double SumOfSquares(const T* x, int64_t n) {
  constexpr int64_t count = 16;  // sums that are kept apart
  double sums[count] = {}, all = 0;
  int64_t j = 0;
  for (; j + count <= n; j += count)
    for (int64_t k = 0; k < count; ++k) sums[k] += static_cast<double>(x[j + k]) * static_cast<double>(x[j + k]);
  for (; j < n; ++j) sums[0] += static_cast<double>(x[j]) * static_cast<double>(x[j]);
  for (int64_t k = 0; k < count; ++k) all += sums[k];
  return all;
}

// The length of x: neither overflows nor underflows where the result does not.
inline double Length(const float* x, int64_t n) { return std::sqrt(SumOfSquares(x, n)); }
inline double Length(const double* x, int64_t n) {
  const double squares = SumOfSquares(x, n);
  if (squares > 1e-280 && squares < 1e300) return std::sqrt(squares);
  double largest = 0, sum = 0;
  for (int64_t j = 0; j < n; ++j) largest = std::max(largest, std::fabs(x[j]));
  if (squares != squares || largest == 0 || std::isinf(largest)) return squares != squares ? squares : largest;
  for (int64_t j = 0; j < n; ++j) sum += (x[j] / largest) * (x[j] / largest);
  return largest * std::sqrt(sum);
}

template <typename T>
double Reflection(int64_t n, T* row, T* scale) {
  double alpha = static_cast<double>(row[0]), rest = Length(row + 1, n - 1), lift = 1;
  *scale = T(0);
  if (rest == 0) return alpha;
  if (std::max(std::fabs(alpha), rest) < kLittle) {
    lift = kLittle;
    for (int64_t j = 1; j < n; ++j) row[j] = static_cast<T>(static_cast<double>(row[j]) / lift);
    alpha /= lift, rest = Length(row + 1, n - 1);
  }
  const double beta = -std::copysign(std::hypot(alpha, rest), alpha), divisor = alpha - beta;
  *scale = static_cast<T>((beta - alpha) / beta);
  for (int64_t j = 1; j < n; ++j) row[j] = static_cast<T>(static_cast<double>(row[j]) / divisor);
  return beta * lift;
}

template <int64_t kRows, typename T>
inline void Dots(int64_t n, const T* rows, int64_t pitch, const T* x, T* out) {
  using V = typename Wide<T>::type;
  constexpr int64_t count = Wide<T>::kCount;
  V dots[kRows] = {};
  int64_t j = 0;
  for (; j + count <= n; j += count) {
    const V along = At(x + j);
    for (int64_t r = 0; r < kRows; ++r) dots[r] += At(rows + r * pitch + j) * along;
  }
  for (int64_t r = 0; r < kRows; ++r) {
    T sum = Total<T>(dots[r]);
    for (int64_t k = j; k < n; ++k) sum += rows[r * pitch + k] * x[k];
    out[r] = sum;
  }
}

template <typename T>
void AllDots(int64_t count, int64_t n, const T* rows, int64_t pitch, const T* x, T* out) {
  int64_t r = 0;
  for (; r + 4 <= count; r += 4) Dots<4>(n, rows + r * pitch, pitch, x, out + r);
  for (; r < count; ++r) Dots<1>(n, rows + r * pitch, pitch, x, out + r);
}

template <int64_t kRows, typename T>
inline void Add(T sign, int64_t n, const T* rows, int64_t pitch, const T* factors, int64_t step, T* x) {
  using V = typename Wide<T>::type;
  constexpr int64_t count = Wide<T>::kCount;
  T factor[kRows];
  for (int64_t r = 0; r < kRows; ++r) factor[r] = sign * factors[r * step];
  int64_t j = 0;
  for (; j + count <= n; j += count) {
    V sum = At(x + j);
    for (int64_t r = 0; r < kRows; ++r) sum += At(rows + r * pitch + j) * factor[r];
    At(x + j) = sum;
  }
  for (; j < n; ++j)
    for (int64_t r = 0; r < kRows; ++r) x[j] += factor[r] * rows[r * pitch + j];
}

template <typename T>
void AddAll(T sign, int64_t count, int64_t n, const T* rows, int64_t pitch, const T* factors, int64_t step, T* x) {
  int64_t r = 0;
  for (; r + 8 <= count; r += 8) Add<8>(sign, n, rows + r * pitch, pitch, factors + r * step, step, x);
  for (; r + 2 <= count; r += 2) Add<2>(sign, n, rows + r * pitch, pitch, factors + r * step, step, x);
  for (; r < count; ++r) Add<1>(sign, n, rows + r * pitch, pitch, factors + r * step, step, x);
}

// kRows rows of the upper triangle, right of their square on the diagonal.
template <int64_t kRows, typename T>
inline void BothSides(int64_t n, const T* a, int64_t pitch, const T* numbers, const T* x, T* sums, T* y) {
  using V = typename Wide<T>::type;
  constexpr int64_t count = Wide<T>::kCount;
  V dots[kRows] = {};
  T own[kRows];
  for (int64_t r = 0; r < kRows; ++r) own[r] = numbers[r];
  int64_t j = 0;
  for (; j + count <= n; j += count) {
    const V along = At(x + j);
    V below = At(y + j);
    for (int64_t r = 0; r < kRows; ++r) {
      const V row = At(a + r * pitch + j);
      dots[r] += row * along;
      below += row * own[r];
    }
    At(y + j) = below;
  }
  for (; j < n; ++j)
    for (int64_t r = 0; r < kRows; ++r) {
      sums[r] += a[r * pitch + j] * x[j];
      y[j] += a[r * pitch + j] * own[r];
    }
  for (int64_t r = 0; r < kRows; ++r) sums[r] += Total<T>(dots[r]);
}

// Blocks on the diagonal are there from both sides of it.
template <typename T>
void Symmetric(int64_t begin, int64_t end, int64_t n, const T* a, int64_t pitch, const T* x, T* y) {
  constexpr int64_t rows = 4;
  for (int64_t first = begin; first < end; first += kRowStep) {
    const int64_t last = std::min(end, first + kRowStep);
    int64_t i = first;
    for (; i + rows <= last; i += rows) Add<rows>(T(1), last - first, a + i * pitch + first, pitch, x + i, 1, y + first);
    for (; i < last; ++i) Add<1>(T(1), last - first, a + i * pitch + first, pitch, x + i, 1, y + first);
    const T* right = a + last;
    for (i = first; i + rows <= last; i += rows) BothSides<rows>(n - last, right + i * pitch, pitch, x + i, x + last, y + i, y + last);
    for (; i < last; ++i) BothSides<1>(n - last, right + i * pitch, pitch, x + i, x + last, y + i, y + last);
  }
}

template <typename T>
const T* As(const void* p) {
  return static_cast<const T*>(p);
}
template <typename T>
T* As(void* p) {
  return static_cast<T*>(p);
}

}  // namespace

void RowsTimes(bool wide, int64_t count, int64_t n, const void* rows, int64_t pitch, const void* x, void* out) {
  wide ? AllDots(count, n, As<double>(rows), pitch, As<double>(x), As<double>(out))
       : AllDots(count, n, As<float>(rows), pitch, As<float>(x), As<float>(out));
}
void AddRows(bool wide, double sign, int64_t count, int64_t n, const void* rows, int64_t pitch, const void* factors, int64_t step,
             void* x) {
  wide ? AddAll(sign, count, n, As<double>(rows), pitch, As<double>(factors), step, As<double>(x))
       : AddAll(static_cast<float>(sign), count, n, As<float>(rows), pitch, As<float>(factors), step, As<float>(x));
}
void SymmetricTimes(bool wide, int64_t begin, int64_t end, int64_t n, const void* a, int64_t pitch, const void* x, void* y) {
  wide ? Symmetric(begin, end, n, As<double>(a), pitch, As<double>(x), As<double>(y))
       : Symmetric(begin, end, n, As<float>(a), pitch, As<float>(x), As<float>(y));
}
double ReflectionOf(bool wide, int64_t n, void* row, void* scale) {
  return wide ? Reflection(n, As<double>(row), As<double>(scale)) : Reflection(n, As<float>(row), As<float>(scale));
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
