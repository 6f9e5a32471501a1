#include <algorithm>

#include "operator/linalg/condense.h"
#include "operator/linalg/reflections.h"
#include "operator/linalg/wide_vector.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

constexpr int64_t kLanes = 16;  // sums that are kept apart
constexpr int64_t kAtOnce = 4;  // rows that share what is read of the reflected one

template <typename T>
inline T Sum(const T* lanes) {
  T sum = 0;
  for (int64_t k = 0; k < kLanes; ++k) sum += lanes[k];
  return sum;
}

// kRows rows of a, `pitch` apart: row -= scale (row v^T) v
template <int64_t kRows, typename T>
inline void Reflect(const T* v, T scale, int64_t n, T* a, int64_t pitch) {
  T lanes[kRows][kLanes] = {}, factor[kRows];
  int64_t j = 0;
  for (; j + kLanes <= n; j += kLanes)
    for (int64_t r = 0; r < kRows; ++r)
      for (int64_t k = 0; k < kLanes; ++k) lanes[r][k] += a[r * pitch + j + k] * v[j + k];
  for (int64_t rest = j; rest < n; ++rest)
    for (int64_t r = 0; r < kRows; ++r) lanes[r][0] += a[r * pitch + rest] * v[rest];
  for (int64_t r = 0; r < kRows; ++r) factor[r] = scale * Sum(lanes[r]);
  for (int64_t r = 0; r < kRows; ++r) {
    T* row = a + r * pitch;
#pragma GCC ivdep
    for (int64_t k = 0; k < n; ++k) row[k] -= factor[r] * v[k];
  }
}

template <typename T>
void ReflectAll(int64_t m, int64_t n, T* a, int64_t pitch, T* scale) {
  for (int64_t i = 0; i < m; ++i) {
    T* v = a + i * pitch + i;
    const int64_t length = n - i;
    const double beta = ReflectionOf(sizeof(T) == 8, length, v, scale + i);
    v[0] = T(1);
    int64_t r = i + 1;
    for (; r + kAtOnce <= m; r += kAtOnce) Reflect<kAtOnce>(v, scale[i], length, a + r * pitch + i, pitch);
    for (; r < m; ++r) Reflect<1>(v, scale[i], length, a + r * pitch + i, pitch);
    v[0] = static_cast<T>(beta);
  }
}

// Rows of whole vectors, `pitch` apart, from a vector's first number on: row -= scale (row v^T) v.
template <int64_t kRows, typename T>
inline void ReflectWhole(const T* v, T scale, int64_t n, T* a, int64_t pitch) {
  using V = typename Wide<T>::type;
  constexpr int64_t count = Wide<T>::kCount;
  V dots[kRows] = {};
  for (int64_t j = 0; j < n; j += count)
    for (int64_t r = 0; r < kRows; ++r) dots[r] += At(a + r * pitch + j) * At(v + j);
  T factor[kRows];
  for (int64_t r = 0; r < kRows; ++r) factor[r] = scale * Total<T>(dots[r]);
  for (int64_t j = 0; j < n; j += count)
    for (int64_t r = 0; r < kRows; ++r) At(a + r * pitch + j) -= At(v + j) * factor[r];
}

template <typename T>
void ReflectBelow(int64_t i, int64_t m, T scale, T* rows, int64_t pitch) {
  if (scale == T(0)) return;
  const int64_t from = i / linalg::kCondenseStep * linalg::kCondenseStep;
  const T* v = rows + i * pitch + from;
  int64_t r = i + 1;
  for (; r + kAtOnce <= m; r += kAtOnce) ReflectWhole<kAtOnce>(v, scale, pitch - from, rows + r * pitch + from, pitch);
  for (; r < m; ++r) ReflectWhole<1>(v, scale, pitch - from, rows + r * pitch + from, pitch);
}

// In rows of whole vectors with zeros behind them; row i becomes v, then that of q.
template <typename T>
void Lq(int64_t m, int64_t n, T* q, T* l) {
  alignas(64) T rows[linalg::kSmallLq];
  T scale[kSmallMatrix];
  const int64_t pitch = linalg::CondensePitch(n);
  for (int64_t i = 0; i < m; ++i) {
    std::copy_n(q + i * n, n, rows + i * pitch);
    std::fill(rows + i * pitch + n, rows + (i + 1) * pitch, T(0));
  }
  for (int64_t i = 0; i < m; ++i) {
    T *v = rows + i * pitch, *lower = l + i * m;
    std::copy_n(v, i, lower);
    std::fill(lower + i, lower + m, T(0));
    lower[i] = static_cast<T>(ReflectionOf(sizeof(T) == 8, n - i, v + i, scale + i));
    std::fill_n(v, i, T(0));
    v[i] = T(1);
    ReflectBelow(i, m, scale[i], rows, pitch);
  }
  for (int64_t i = m - 1; i >= 0; --i) {
    ReflectBelow(i, m, scale[i], rows, pitch);
    T* v = rows + i * pitch;
    for (int64_t j = i; j < n; ++j) v[j] *= -scale[i];
    v[i] = T(1) - scale[i];
  }
  for (int64_t i = 0; i < m; ++i) std::copy_n(rows + i * pitch, n, q + i * n);
}

}  // namespace

void SmallLq(bool wide, int64_t m, int64_t n, void* q, void* l) {
  wide ? Lq(m, n, static_cast<double*>(q), static_cast<double*>(l)) : Lq(m, n, static_cast<float*>(q), static_cast<float*>(l));
}
void ReflectRows(bool wide, int64_t m, int64_t n, void* a, int64_t pitch, void* scale) {
  wide ? ReflectAll(m, n, static_cast<double*>(a), pitch, static_cast<double*>(scale))
       : ReflectAll(m, n, static_cast<float*>(a), pitch, static_cast<float*>(scale));
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
