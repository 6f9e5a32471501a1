#include <algorithm>

#include "base/row_vectors.h"
#include "operator/linalg/factors/reflections.h"
#include "operator/linalg/factors/row_kernels.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

// kRows rows of a, `pitch` apart: row -= scale (row v^T) v
template <int64_t kRows, typename T>
inline void Reflect(const T* v, T scale, int64_t n, T* a, int64_t pitch) {
  using V = typename Wide<T>::type;
  constexpr int64_t count = Wide<T>::kCount;
  V dots[kRows] = {};
  T factor[kRows];
  int64_t whole = 0;
  for (; whole + count <= n; whole += count)
    for (int64_t r = 0; r < kRows; ++r) dots[r] += At(a + r * pitch + whole) * At(v + whole);
  for (int64_t r = 0; r < kRows; ++r) {
    factor[r] = Total<T>(dots[r]);
    for (int64_t j = whole; j < n; ++j) factor[r] += a[r * pitch + j] * v[j];
    factor[r] *= scale;
  }
  for (int64_t j = 0; j < whole; j += count)
    for (int64_t r = 0; r < kRows; ++r) At(a + r * pitch + j) -= At(v + j) * factor[r];
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t j = whole; j < n; ++j) a[r * pitch + j] -= factor[r] * v[j];
}

// The rows below row i, which is v, from column `from` on.
template <typename T>
void ReflectBelow(int64_t i, int64_t m, int64_t from, int64_t n, T scale, T* rows, int64_t pitch) {
  constexpr int64_t at_once = 4;  // rows that share what is read of v
  if (scale == T(0)) return;
  const T* v = rows + i * pitch + from;
  int64_t r = i + 1;
  for (; r + at_once <= m; r += at_once) Reflect<at_once>(v, scale, n - from, rows + r * pitch + from, pitch);
  for (; r < m; ++r) Reflect<1>(v, scale, n - from, rows + r * pitch + from, pitch);
}

template <typename T>
void ReflectAll(int64_t m, int64_t n, T* a, int64_t pitch, T* scale) {
  for (int64_t i = 0; i < m; ++i) {
    T* v = a + i * pitch + i;
    const double beta = ReflectionOf(sizeof(T) == 8, n - i, v, scale + i);
    v[0] = T(1);
    ReflectBelow(i, m, i, n, scale[i], a, pitch);
    v[0] = static_cast<T>(beta);
  }
}

// In rows of whole vectors with zeros behind them; row i becomes v, then that of q.
template <typename T>
void Lq(int64_t m, int64_t n, T* q, T* l) {
  alignas(64) T rows[linalg::kSmallLq];
  T scale[kSmallMatrix];
  const int64_t pitch = linalg::RowPitch(n);
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
    ReflectBelow(i, m, i / linalg::kRowStep * linalg::kRowStep, pitch, scale[i], rows, pitch);
  }
  for (int64_t i = m - 1; i >= 0; --i) {
    ReflectBelow(i, m, i / linalg::kRowStep * linalg::kRowStep, pitch, scale[i], rows, pitch);
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
