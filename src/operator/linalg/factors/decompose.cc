#include "operator/linalg/factors/decompose.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "operator/linalg/factors/condense.h"
#include "operator/linalg/factors/divide.h"
#include "operator/linalg/factors/lapack.h"
#include "operator/linalg/factors/reflections.h"
#include "operator/linalg/factors/row_kernels.h"
#include "operator/linalg/factors/transposed.h"
#include "operator/shared/blas_threads.h"
#include "operator/shared/host_scratch.h"

namespace mxnet {
namespace linalg {
namespace {

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

// a, m x n with m <= n and RowPitch(n), and destroyed: rows of left, m x n, and right, m x m,
// become the singular vectors; a = right^T diag(w) left. left null: only w.
template <typename T>
int64_t FewRows(int64_t m, int64_t n, T* a, T* w, T* left, T* right) {
  const HostScratch<T> beside(m), scales(m), scales_right(m), reflections(m * m);
  Bidiagonal(m, n, a, w, beside.get(), scales.get(), reflections.get(), scales_right.get());
  if (left == nullptr) return lapack::Routines<T>::SingularBidiagonal(m, w, beside.get(), nullptr, nullptr);
  const HostScratch<T> vectors(m * m), other(m * m);
  // Before they are turned back, rows of `vectors` and columns of `other`.
  const int64_t failed = lapack::Routines<T>::SingularBidiagonal(m, w, beside.get(), vectors.get(), other.get());
  if (failed) return failed;
  for (int64_t i = 0; i < m; ++i) {
    std::copy_n(vectors.get() + i * m, m, left + i * n);
    std::fill(left + i * n + m, left + (i + 1) * n, T(0));
  }
  TimesFactor(Reflections<T>{m, n, RowPitch(n), a, scales.get()}, m, left, n);
  CopyTransposed(m, m, other.get(), m, right, m);
  if (m > 1) TimesFactor(Reflections<T>{m - 1, m - 1, m, reflections.get() + 1, scales_right.get()}, m, right + 1, m);
  return 0;
}

// A square problem for the lower triangle of rows, k x length, and what its rows stand for.
template <typename T>
int64_t LongRows(int64_t k, int64_t length, T* rows, T* w, T* along, T* right) {
  const int64_t pitch = RowPitch(k);
  const HostScratch<T> scales(k), square(k * pitch), vectors(along ? k * k : 0);
  FactorRows(k, length, rows, scales.get());
  for (int64_t r = 0; r < k; ++r) {
    std::copy_n(rows + r * length, r + 1, square.get() + r * pitch);
    std::fill(square.get() + r * pitch + r + 1, square.get() + (r + 1) * pitch, T(0));
  }
  const int64_t failed = FewRows(k, k, square.get(), w, along ? vectors.get() : nullptr, right);
  if (failed || along == nullptr) return failed;
  for (int64_t r = 0; r < k; ++r) {
    std::copy_n(vectors.get() + r * k, k, along + r * length);
    std::fill(along + r * length + k, along + (r + 1) * length, T(0));
  }
  TimesFactor(Reflections<T>{k, length, length, rows, scales.get()}, k, along, length);
  return 0;
}

}  // namespace

int64_t SingularNumbers(int64_t m, int64_t n) {
  const int64_t k = std::min(m, n);
  return std::max(m * n, 3 * k * k + 4 * k);
}

template <typename T>
int64_t EigenVectors(bool vectors, int64_t n, T* a, T* w) {
  const FewBlasThreads few(n);
  const int64_t pitch = RowPitch(n);
  const HostScratch<T> beside(n), scales(n), reduced(n * pitch);
  for (int64_t i = 0; i < n; ++i) std::fill(a + i * n + i + 1, a + (i + 1) * n, T(0));
  const T scale = ScaleOf(a, n * n);
  Scale(scale, n * n, a);
  CopyTransposed(n, n, a, n, reduced.get(), pitch);
  for (int64_t i = 0; i < n; ++i) std::copy_n(a + i * n, i, reduced.get() + i * pitch);
  Tridiagonal(n, reduced.get(), w, beside.get(), scales.get());
  const int64_t failed = vectors ? DivideAndConquer(n, w, beside.get(), a) : lapack::Routines<T>::EigenValues(n, w, beside.get());
  if (failed) return failed;
  if (vectors && n > 1) TimesFactor(Reflections<T>{n - 1, n - 1, pitch, reduced.get() + 1, scales.get()}, n, a + 1, n);
  Scale(1 / scale, n, w);
  return 0;
}

template <typename T>
int64_t SingularVectors(int64_t m, int64_t n, const T* a, T* u, T* w, T* v) {
  const int64_t k = std::min(m, n), length = std::max(m, n);
  const bool square_part = length > k * 11 / 6;
  const int64_t pitch = square_part ? length : RowPitch(length);
  const FewBlasThreads few(length);
  const HostScratch<T> wide(k * pitch), right(u ? k * k : 0), turned(u && m > n ? m * n : 0);
  const T scale = ScaleOf(a, m * n);
  if (m > n) CopyTransposed(m, n, a, n, wide.get(), pitch);
  for (int64_t r = 0; r < k; ++r) {
    if (m <= n) std::copy_n(a + r * n, n, wide.get() + r * pitch);
    Scale(scale, length, wide.get() + r * pitch);
  }
  // Rows of `along`, k x length, and of `right`, k x k, become the vectors.
  T* along = u && m > n ? turned.get() : v;
  const int64_t failed =
      square_part ? LongRows(k, length, wide.get(), w, along, right.get()) : FewRows(k, length, wide.get(), w, along, right.get());
  if (failed) return failed;
  Scale(1 / scale, k, w);
  if (u == nullptr) return 0;
  if (m > n) {
    CopyTransposed(k, m, along, m, u, k);
    std::copy_n(right.get(), k * k, v);
  } else {
    CopyTransposed(k, k, right.get(), k, u, k);
  }
  return 0;
}

#define MXNET_DECOMPOSE(T)                              \
  template int64_t EigenVectors(bool, int64_t, T*, T*); \
  template int64_t SingularVectors(int64_t, int64_t, const T*, T*, T*, T*);
MXNET_DECOMPOSE(float)
MXNET_DECOMPOSE(double)

}  // namespace linalg
}  // namespace mxnet
