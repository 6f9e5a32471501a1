#include "operator/linalg/condense.h"
#include "operator/linalg/reflections.h"

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

}  // namespace

void ReflectRows(bool wide, int64_t m, int64_t n, void* a, int64_t pitch, void* scale) {
  wide ? ReflectAll(m, n, static_cast<double*>(a), pitch, static_cast<double*>(scale))
       : ReflectAll(m, n, static_cast<float*>(a), pitch, static_cast<float*>(scale));
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
