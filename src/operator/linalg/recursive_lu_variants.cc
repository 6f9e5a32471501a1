#include <algorithm>
#include <cmath>

#include "operator/linalg/recursive_lu.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {

int64_t PanelLu(int64_t m, int64_t width, float* panel, int32_t* pivots) {
  constexpr int64_t kWidth = linalg::kPanel;
  int64_t singular = 0;
  for (int64_t j = 0; j < std::min(m, width); ++j) {
    int64_t best = j;
    for (int64_t i = j + 1; i < m; ++i)
      if (std::fabs(panel[i * kWidth + j]) > std::fabs(panel[best * kWidth + j])) best = i;
    pivots[j] = static_cast<int32_t>(best);
    float* top = panel + j * kWidth;
    if (best != j) std::swap_ranges(top, top + kWidth, panel + best * kWidth);
    const float pivot = top[j];
    if (pivot == 0.0f) {
      if (!singular) singular = j + 1;
      continue;
    }
    float right[kWidth];  // what is subtracted from the columns behind this one
    for (int64_t c = 0; c < kWidth; ++c) right[c] = c > j ? top[c] : 0.0f;
    for (int64_t i = j + 1; i < m; ++i) {
      float* row = panel + i * kWidth;
      const float factor = row[j] / pivot;
      for (int64_t c = 0; c < kWidth; ++c) row[c] -= factor * right[c];
      row[j] = factor;
    }
  }
  return singular;
}

void SolveTriangleBlock(bool lower, int64_t n, int64_t k, const float* a, int64_t pitch, float* x, int64_t x_pitch) {
  constexpr int64_t kColumns = 128;  // rows of so many elements stay in the first-level cache
  for (int64_t c = 0; c < k; c += kColumns) {
    const int64_t m = std::min(kColumns, k - c);
    for (int64_t step = 0; step < n; ++step) {
      const int64_t i = lower ? step : n - 1 - step;
      float* __restrict row = x + i * x_pitch + c;
      const int64_t first = lower ? 0 : i + 1, last = lower ? i : n;
      for (int64_t j = first; j < last; ++j) {
        const float factor = a[i * pitch + j];
        const float* __restrict other = x + j * x_pitch + c;
        for (int64_t e = 0; e < m; ++e) row[e] -= factor * other[e];
      }
      if (lower) continue;
      const float pivot = a[i * pitch + i];
      for (int64_t e = 0; e < m; ++e) row[e] /= pivot;
    }
  }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
