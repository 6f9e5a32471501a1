// Blocks of the diagonal one after the other. Beside each stands a panel, the rows of u, which are
// the columns of l; the panel is kept as rows in memory of its own, where its equations are solved
// and where the rest of the matrix reads it.
#include "operator/linalg/factors/blocked_cholesky.h"

#include <algorithm>

#include "operator/linalg/factors/row_kernels.h"
#include "operator/linalg/factors/small.h"
#include "operator/linalg/factors/transposed.h"
#include "operator/shared/blas_threads.h"
#include "operator/shared/gemm.h"
#include "operator/shared/host_scratch.h"

namespace mxnet {
namespace linalg {
namespace {

constexpr int64_t kBlock = kSmallMatrix;
constexpr int64_t kFew = 16;  // rows that are solved without a matrix product

// x = u^-T x, size x columns; u has kBlock numbers from row to row.
template <typename T>
void SolveRows(int64_t size, int64_t columns, const T* u, T* x, int64_t pitch) {
  for (int64_t first = 0; first < size; first += kFew) {
    const int64_t count = std::min(kFew, size - first);
    T* rows = x + first * pitch;
    if (first > 0) Gemm(true, false, count, columns, first, T(-1), u + first, kBlock, x, pitch, T(1), rows, pitch);
    for (int64_t i = 0; i < count; ++i) {
      const T* factors = u + first * kBlock + first + i;
      T* row = rows + i * pitch;
      if (i > 0) MXNET_CPU_CALL(AddRows)(sizeof(T) == 8, -1.0, i, columns, rows, pitch, factors, kBlock, row);
      const T divisor = factors[i * kBlock];
      for (int64_t c = 0; c < columns; ++c) row[c] /= divisor;
    }
  }
}

// to, rows x columns, = from, or its transpose.
template <typename T>
void CopyPart(bool transposed, int64_t rows, int64_t columns, const T* from, int64_t pitch, T* to, int64_t to_pitch) {
  if (transposed) return CopyTransposed(columns, rows, from, pitch, to, to_pitch);
  for (int64_t r = 0; r < rows; ++r) std::copy_n(from + r * pitch, columns, to + r * to_pitch);
}

}  // namespace

template <typename T>
int64_t BlockedCholesky(bool lower, int64_t n, T* a) {
  const OneBlasThread alone;
  const HostScratch<T> corner(kBlock * kBlock), panel(kBlock * RowPitch(n));
  for (int64_t k = 0; k < n; k += kBlock) {
    const int64_t size = std::min(kBlock, n - k), next = k + size, rest = n - next, pitch = RowPitch(rest);
    T *diagonal = a + k * (n + 1), *left = a + next * (n + 1), *u = corner.get(), *rows = panel.get();
    CopyPart(lower, size, size, diagonal, n, u, size);
    const int64_t failed = MXNET_CPU_CALL(SmallCholesky)(sizeof(T) == 8, false, u, u, size);
    CopyPart(lower, size, size, u, size, diagonal, n);
    if (failed) return k + failed;
    if (rest == 0) break;
    ShareLines(rest, 2 * static_cast<double>(rest * size * size), [&](int64_t begin, int64_t end) {
      T* beside = lower ? a + (next + begin) * n + k : a + k * n + next + begin;
      const int64_t count = end - begin;
      CopyPart(lower, size, count, beside, n, rows + begin, pitch);
      SolveRows(size, count, u, rows + begin, pitch);
      CopyPart(lower, lower ? count : size, lower ? size : count, rows + begin, pitch, beside, n);
    });
    ShareStrips((rest + kBlock - 1) / kBlock, static_cast<double>(rest * rest * size), [&](int64_t s) {
      const int64_t r = s * kBlock, count = std::min(kBlock, rest - r), columns = lower ? r + count : rest - r;
      Gemm(true, false, count, columns, size, T(-1), rows + r, pitch, lower ? rows : rows + r, pitch, T(1), left + r * n + (lower ? 0 : r),
           n);
    });
  }
  return 0;
}

// y = l^-1 from the top, a block of rows at a time, then y^T y.
template <typename T>
int64_t InverseOfCholesky(int64_t n, T* l) {
  const OneBlasThread alone;
  const int64_t pitch = RowPitch(n);
  const HostScratch<T> corner(kBlock * kBlock), inverse(n * pitch);
  T *u = corner.get(), *y = inverse.get();
  for (int64_t i = 0; i < n; ++i)
    if (l[i * n + i] == T(0)) return i + 1;
  for (int64_t k = 0; k < n; k += kBlock) {
    const int64_t size = std::min(kBlock, n - k), columns = k + size;
    T* rows = y + k * pitch;
    CopyTransposed(size, size, l + k * (n + 1), n, u, kBlock);
    for (int64_t r = 0; r < size; ++r) {
      std::fill_n(rows + r * pitch, columns, T(0));
      rows[r * pitch + k + r] = T(1);
    }
    ShareLines(columns, 2 * static_cast<double>(size * columns * columns), [&](int64_t begin, int64_t end) {
      // Of the rows above, those before `begin` are 0 in these columns.
      const int64_t first = begin / kBlock * kBlock, last = std::min(k, end);
      if (k > first && last > begin)
        Gemm(false, false, size, last - begin, k - first, T(-1), l + k * n + first, n, y + first * pitch + begin, pitch, T(1), rows + begin,
             pitch);
      SolveRows(size, end - begin, u, rows + begin, pitch);
    });
  }
  ShareStrips((n + kBlock - 1) / kBlock, static_cast<double>(n * n * n) / 3, [&](int64_t s) {
    const int64_t r = s * kBlock, count = std::min(kBlock, n - r);
    Gemm(true, false, count, r + count, n - r, T(1), y + r * pitch + r, pitch, y + r * pitch, pitch, T(0), l + r * n, n);
  });
  return 0;
}

#define MXNET_BLOCKED_CHOLESKY(T)                      \
  template int64_t BlockedCholesky(bool, int64_t, T*); \
  template int64_t InverseOfCholesky(int64_t, T*);
MXNET_BLOCKED_CHOLESKY(float)
MXNET_BLOCKED_CHOLESKY(double)

}  // namespace linalg
}  // namespace mxnet
