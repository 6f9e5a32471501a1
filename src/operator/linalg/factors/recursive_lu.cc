#include "operator/linalg/factors/recursive_lu.h"

#include <algorithm>
#include <cstring>

#include "operator/linalg/factors/row_kernels.h"
#include "operator/shared/blas_threads.h"
#include "operator/shared/gemm.h"
#include "operator/shared/host_scratch.h"

namespace mxnet {
namespace linalg {
namespace {

// x = l^-1 x or u^-1 x.
template <typename T>
void SolveTriangle(bool lower, int64_t n, int64_t k, const T* a, int64_t pitch, T* x, int64_t x_pitch) {
  if (n <= kTriangle) return MXNET_CPU_CALL(SolveTriangleBlock)(sizeof(T) == 8, lower, n, k, a, pitch, x, x_pitch);
  const int64_t top = LargerHalf(n, kTriangle), rest = n - top;
  T* below = x + top * x_pitch;
  if (lower) {
    SolveTriangle(lower, top, k, a, pitch, x, x_pitch);
    Gemm(false, false, rest, k, top, T(-1), a + top * pitch, pitch, x, x_pitch, T(1), below, x_pitch);
    SolveTriangle(lower, rest, k, a + top * pitch + top, pitch, below, x_pitch);
  } else {
    SolveTriangle(lower, rest, k, a + top * pitch + top, pitch, below, x_pitch);
    Gemm(false, false, top, k, rest, T(-1), a + top, pitch, below, x_pitch, T(1), x, x_pitch);
    SolveTriangle(lower, top, k, a, pitch, x, x_pitch);
  }
}

// The products and systems of doubles stay on the thread that calls (FewBlasThreads): others take
// some of the lines here. Products of floats have threads of their own.
template <typename T, typename Part>
void Share(int64_t lines, double flops, const Part& part) {
  if constexpr (sizeof(T) == 8)
    ShareLines(lines, flops, part);
  else
    part(int64_t{0}, lines);
}

template <typename T>
void SwapRows(const int32_t* pivots, int64_t count, int64_t columns, T* a, int64_t pitch) {
  for (int64_t i = 0; i < count; ++i)
    if (pivots[i] != i) std::swap_ranges(a + i * pitch, a + i * pitch + columns, a + pivots[i] * pitch);
}

// Of m rows and n columns, m >= n.
template <typename T>
int64_t Factor(int64_t m, int64_t n, T* a, int64_t pitch, int32_t* pivots, T* panel) {
  if (n <= kPanel) {
    for (int64_t i = 0; i < m; ++i) {
      std::memcpy(panel + i * kPanel, a + i * pitch, static_cast<size_t>(n) * sizeof(T));
      std::fill(panel + i * kPanel + n, panel + (i + 1) * kPanel, T(0));
    }
    const int64_t singular = MXNET_CPU_CALL(PanelLu)(sizeof(T) == 8, m, n, panel, pivots);
    for (int64_t i = 0; i < m; ++i) std::memcpy(a + i * pitch, panel + i * kPanel, static_cast<size_t>(n) * sizeof(T));
    return singular;
  }
  const int64_t left = LargerHalf(n, kPanel), right = n - left;
  T *beside = a + left, *below = a + left * pitch, *corner = below + left;
  int64_t singular = Factor(m, left, a, pitch, pivots, panel);
  SwapRows(pivots, left, right, beside, pitch);
  const double flops = static_cast<double>(left) * static_cast<double>(right);
  Share<T>(right, flops * static_cast<double>(left),
           [&](int64_t begin, int64_t end) { SolveTriangle(true, left, end - begin, a, pitch, beside + begin, pitch); });
  Share<T>(m - left, 2 * flops * static_cast<double>(m - left), [&](int64_t begin, int64_t end) {
    Gemm(false, false, end - begin, right, left, T(-1), below + begin * pitch, pitch, beside, pitch, T(1), corner + begin * pitch, pitch);
  });
  const int64_t later = Factor(m - left, right, corner, pitch, pivots + left, panel);
  SwapRows(pivots + left, right, left, below, pitch);
  for (int64_t i = left; i < n; ++i) pivots[i] += static_cast<int32_t>(left);
  if (!singular && later) singular = left + later;
  return singular;
}

}  // namespace

template <typename T>
int64_t RecursiveLu(int64_t n, T* a, int32_t* pivots) {
  const FewBlasThreads few(n);
  const HostScratch<T> panel(n * kPanel);
  return Factor(n, n, a, n, pivots, panel.get());
}

template <typename T>
void SolveRecursiveLu(int64_t n, int64_t k, const T* lu, const int32_t* pivots, T* x) {
  SwapRows(pivots, n, k, x, k);
  if (n <= kTriangle) {
    MXNET_CPU_CALL(SolveTriangleBlock)(sizeof(T) == 8, true, n, k, lu, n, x, k);
    return MXNET_CPU_CALL(SolveTriangleBlock)(sizeof(T) == 8, false, n, k, lu, n, x, k);
  }
  const FewBlasThreads few(n);
  Share<T>(k, 2 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(k), [&](int64_t begin, int64_t end) {
    SolveTriangle(true, n, end - begin, lu, n, x + begin, k);
    SolveTriangle(false, n, end - begin, lu, n, x + begin, k);
  });
}

#define MXNET_RECURSIVE_LU(T)                          \
  template int64_t RecursiveLu(int64_t, T*, int32_t*); \
  template void SolveRecursiveLu(int64_t, int64_t, const T*, const int32_t*, T*);
MXNET_RECURSIVE_LU(float)
MXNET_RECURSIVE_LU(double)

}  // namespace linalg
}  // namespace mxnet
