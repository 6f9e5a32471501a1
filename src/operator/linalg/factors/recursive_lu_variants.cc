#include <algorithm>
#include <cmath>

#include "operator/linalg/factors/recursive_lu.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {

namespace {

template <typename T>
int64_t Panel(int64_t m, int64_t width, T* panel, int32_t* pivots) {
  constexpr int64_t kWidth = linalg::kPanel;
  int64_t singular = 0;
  for (int64_t j = 0; j < std::min(m, width); ++j) {
    int64_t best = j;
    for (int64_t i = j + 1; i < m; ++i)
      if (std::fabs(panel[i * kWidth + j]) > std::fabs(panel[best * kWidth + j])) best = i;
    pivots[j] = static_cast<int32_t>(best);
    T* top = panel + j * kWidth;
    if (best != j) std::swap_ranges(top, top + kWidth, panel + best * kWidth);
    const T pivot = top[j];
    if (pivot == T(0)) {
      if (!singular) singular = j + 1;
      continue;
    }
    T right[kWidth];  // what is subtracted from the columns behind this one
    for (int64_t c = 0; c < kWidth; ++c) right[c] = c > j ? top[c] : T(0);
    for (int64_t i = j + 1; i < m; ++i) {
      T* row = panel + i * kWidth;
      const T factor = row[j] / pivot;
      for (int64_t c = 0; c < kWidth; ++c) row[c] -= factor * right[c];
      row[j] = factor;
    }
  }
  return singular;
}

template <typename T>
void SolveBlock(bool lower, int64_t n, int64_t k, const T* a, int64_t pitch, T* x, int64_t x_pitch) {
  constexpr int64_t kColumns = 128;  // rows of so many elements stay in the first-level cache
  for (int64_t c = 0; c < k; c += kColumns) {
    const int64_t m = std::min(kColumns, k - c);
    for (int64_t step = 0; step < n; ++step) {
      const int64_t i = lower ? step : n - 1 - step;
      T* __restrict row = x + i * x_pitch + c;
      const int64_t first = lower ? 0 : i + 1, last = lower ? i : n;
      for (int64_t j = first; j < last; ++j) {
        const T factor = a[i * pitch + j];
        const T* __restrict other = x + j * x_pitch + c;
        for (int64_t e = 0; e < m; ++e) row[e] -= factor * other[e];
      }
      if (lower) continue;
      const T pivot = a[i * pitch + i];
      for (int64_t e = 0; e < m; ++e) row[e] /= pivot;
    }
  }
}

}  // namespace

int64_t PanelLu(bool wide, int64_t m, int64_t width, void* panel, int32_t* pivots) {
  return wide ? Panel(m, width, static_cast<double*>(panel), pivots) : Panel(m, width, static_cast<float*>(panel), pivots);
}
void SolveTriangleBlock(bool wide, bool lower, int64_t n, int64_t k, const void* a, int64_t pitch, void* x, int64_t x_pitch) {
  wide ? SolveBlock(lower, n, k, static_cast<const double*>(a), pitch, static_cast<double*>(x), x_pitch)
       : SolveBlock(lower, n, k, static_cast<const float*>(a), pitch, static_cast<float*>(x), x_pitch);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
