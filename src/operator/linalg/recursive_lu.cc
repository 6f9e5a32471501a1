#include "operator/linalg/recursive_lu.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "operator/gemm.h"

namespace mxnet {
namespace linalg {
namespace {

// The larger half, in whole blocks.
int64_t Half(int64_t n, int64_t block) { return (n / 2 + block - 1) / block * block; }

// x = l^-1 x or u^-1 x.
void SolveTriangle(bool lower, int64_t n, int64_t k, const float* a, int64_t pitch, float* x, int64_t x_pitch) {
  if (n <= kTriangle) return MXNET_CPU_CALL(SolveTriangleBlock)(lower, n, k, a, pitch, x, x_pitch);
  const int64_t top = Half(n, kTriangle), rest = n - top;
  float* below = x + top * x_pitch;
  if (lower) {
    SolveTriangle(lower, top, k, a, pitch, x, x_pitch);
    Gemm(false, false, rest, k, top, -1.0f, a + top * pitch, pitch, x, x_pitch, 1.0f, below, x_pitch);
    SolveTriangle(lower, rest, k, a + top * pitch + top, pitch, below, x_pitch);
  } else {
    SolveTriangle(lower, rest, k, a + top * pitch + top, pitch, below, x_pitch);
    Gemm(false, false, top, k, rest, -1.0f, a + top, pitch, below, x_pitch, 1.0f, x, x_pitch);
    SolveTriangle(lower, top, k, a, pitch, x, x_pitch);
  }
}

void SwapRows(const int32_t* pivots, int64_t count, int64_t columns, float* a, int64_t pitch) {
  for (int64_t i = 0; i < count; ++i)
    if (pivots[i] != i) std::swap_ranges(a + i * pitch, a + i * pitch + columns, a + pivots[i] * pitch);
}

// Of m rows and n columns, m >= n.
int64_t Factor(int64_t m, int64_t n, float* a, int64_t pitch, int32_t* pivots, float* panel) {
  if (n <= kPanel) {
    for (int64_t i = 0; i < m; ++i) {
      std::memcpy(panel + i * kPanel, a + i * pitch, static_cast<size_t>(n) * sizeof(float));
      std::fill(panel + i * kPanel + n, panel + (i + 1) * kPanel, 0.0f);
    }
    const int64_t singular = MXNET_CPU_CALL(PanelLu)(m, n, panel, pivots);
    for (int64_t i = 0; i < m; ++i) std::memcpy(a + i * pitch, panel + i * kPanel, static_cast<size_t>(n) * sizeof(float));
    return singular;
  }
  const int64_t left = Half(n, kPanel), right = n - left;
  float *beside = a + left, *below = a + left * pitch, *corner = below + left;
  int64_t singular = Factor(m, left, a, pitch, pivots, panel);
  SwapRows(pivots, left, right, beside, pitch);
  SolveTriangle(true, left, right, a, pitch, beside, pitch);
  Gemm(false, false, m - left, right, left, -1.0f, below, pitch, beside, pitch, 1.0f, corner, pitch);
  const int64_t later = Factor(m - left, right, corner, pitch, pivots + left, panel);
  SwapRows(pivots + left, right, left, below, pitch);
  for (int64_t i = left; i < n; ++i) pivots[i] += static_cast<int32_t>(left);
  if (!singular && later) singular = left + later;
  return singular;
}

}  // namespace

int64_t RecursiveLu(int64_t n, float* a, int32_t* pivots) {
  std::vector<float> panel(static_cast<size_t>(n * kPanel));
  return Factor(n, n, a, n, pivots, panel.data());
}

void SolveRecursiveLu(int64_t n, int64_t k, const float* lu, const int32_t* pivots, float* x) {
  SwapRows(pivots, n, k, x, k);
  SolveTriangle(true, n, k, lu, n, x, k);
  SolveTriangle(false, n, k, lu, n, x, k);
}

}  // namespace linalg
}  // namespace mxnet
