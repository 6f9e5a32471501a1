#include "operator/linalg/decompose.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "operator/blas_threads.h"
#include "operator/gemm.h"
#include "operator/host_scratch.h"
#include "operator/linalg/lapack.h"
#include "operator/linalg/reflections.h"

namespace mxnet {
namespace linalg {
namespace {

// to, columns x rows, = the transpose of from.
template <typename T>
void Transpose(int64_t rows, int64_t columns, const T* from, int64_t pitch, T* to) {
  constexpr int64_t tile = 16;
  for (int64_t r0 = 0; r0 < rows; r0 += tile)
    for (int64_t c0 = 0; c0 < columns; c0 += tile)
      for (int64_t c = c0; c < std::min(columns, c0 + tile); ++c)
        for (int64_t r = r0; r < std::min(rows, r0 + tile); ++r) to[c * rows + r] = from[r * pitch + c];
}

// What brings the numbers near 1 where their squares would overflow or underflow; else 1.
template <typename T>
T ScaleOf(const T* a, int64_t n) {
  T largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(a[i]));
  const T least = std::sqrt(std::numeric_limits<T>::min()) / std::numeric_limits<T>::epsilon();
  if (largest == 0 || (largest >= least && largest <= 1 / least)) return T(1);
  return std::ldexp(T(1), -std::clamp(std::ilogb(largest), std::numeric_limits<T>::min_exponent, std::numeric_limits<T>::max_exponent - 2));
}
template <typename T>
void Scale(T scale, int64_t n, T* a) {
  if (scale != T(1))
    for (int64_t i = 0; i < n; ++i) a[i] *= scale;
}

// a, m x n with m <= n and destroyed: rows of left, m x n, and right, m x m, become the singular
// vectors; a = right^T diag(w) left.
template <typename T>
int64_t FewRows(int64_t m, int64_t n, T* a, T* w, T* left, T* right) {
  const HostScratch<T> beside(m), scales(m), scales_right(m), vectors(m * m), other(m * m);
  lapack::Routines<T>::Bidiagonal(m, n, a, w, beside.get(), scales.get(), scales_right.get());
  // Before they are turned back, rows of `vectors` and columns of `other`.
  const int64_t failed = lapack::Routines<T>::SingularBidiagonal(m, w, beside.get(), vectors.get(), other.get());
  if (failed) return failed;
  for (int64_t i = 0; i < m; ++i) {
    std::copy_n(vectors.get() + i * m, m, left + i * n);
    std::fill(left + i * n + m, left + (i + 1) * n, T(0));
  }
  TimesFactor(Reflections<T>{m, n, n, a, scales.get()}, m, left, n);
  Transpose(m, m, other.get(), m, right);
  if (m == 1) return 0;
  Transpose(m, m, a, n, other.get());
  TimesFactor(Reflections<T>{m - 1, m - 1, m, other.get() + 1, scales_right.get()}, m, right + 1, m);
  return 0;
}

}  // namespace

int64_t EigenNumbers(int64_t n) { return std::max(lapack::Routines<double>::EigenWork(n), n * n); }
int64_t SingularNumbers(int64_t m, int64_t n) {
  const int64_t k = std::min(m, n);
  return std::max(m * n, 3 * k * k + 4 * k);
}

template <typename T>
int64_t EigenVectors(int64_t n, T* a, T* w) {
  const FewBlasThreads few(n);
  const HostScratch<T> beside(n), scales(n), reduced(n * n);
  for (int64_t i = 0; i < n; ++i) std::fill(a + i * n + i + 1, a + (i + 1) * n, T(0));
  const T scale = ScaleOf(a, n * n);
  Scale(scale, n * n, a);
  Transpose(n, n, a, n, reduced.get());
  lapack::Routines<T>::Tridiagonal(n, reduced.get(), w, beside.get(), scales.get());
  const int64_t failed = lapack::Routines<T>::EigenTridiagonal(n, w, beside.get(), a);
  if (failed) return failed;
  if (n > 1) TimesFactor(Reflections<T>{n - 1, n - 1, n, reduced.get() + 1, scales.get()}, n, a + 1, n);
  Scale(1 / scale, n, w);
  return 0;
}

template <typename T>
int64_t SingularVectors(int64_t m, int64_t n, const T* a, T* u, T* w, T* v) {
  const int64_t k = std::min(m, n), length = std::max(m, n);
  const FewBlasThreads few(length);
  const HostScratch<T> wide(m * n), right(k * k);
  if (m > n)
    Transpose(m, n, a, n, wide.get());
  else
    std::copy(a, a + m * n, wide.get());
  const T scale = ScaleOf(a, m * n);
  Scale(scale, m * n, wide.get());
  // Rows of `along`, k x length, and of `right`, k x k, become the vectors.
  const HostScratch<T> turned(m > n ? m * n : 0);
  T* along = m > n ? turned.get() : v;
  int64_t failed = 0;
  if (length > k * 11 / 6) {  // a square problem, and the rows that it stands for
    const HostScratch<T> scales(k), square(k * k), vectors(k * k);
    FactorRows(k, length, wide.get(), scales.get());
    for (int64_t r = 0; r < k; ++r) {
      std::copy_n(wide.get() + r * length, r + 1, square.get() + r * k);
      std::fill(square.get() + r * k + r + 1, square.get() + (r + 1) * k, T(0));
    }
    failed = FewRows(k, k, square.get(), w, vectors.get(), right.get());
    for (int64_t r = 0; r < k && !failed; ++r) {
      std::copy_n(vectors.get() + r * k, k, along + r * length);
      std::fill(along + r * length + k, along + (r + 1) * length, T(0));
    }
    if (!failed) TimesFactor(Reflections<T>{k, length, length, wide.get(), scales.get()}, k, along, length);
  } else {
    failed = FewRows(k, length, wide.get(), w, along, right.get());
  }
  if (failed) return failed;
  Scale(1 / scale, k, w);
  if (m > n) {
    Transpose(k, m, along, m, u);
    std::copy_n(right.get(), k * k, v);
  } else {
    Transpose(k, k, right.get(), k, u);
  }
  return 0;
}

#define MXNET_DECOMPOSE(T)                        \
  template int64_t EigenVectors(int64_t, T*, T*); \
  template int64_t SingularVectors(int64_t, int64_t, const T*, T*, T*, T*);
MXNET_DECOMPOSE(float)
MXNET_DECOMPOSE(double)

}  // namespace linalg
}  // namespace mxnet
