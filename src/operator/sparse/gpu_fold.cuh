// Sums of what a function makes of a csr array's elements, of each row or of each column.
#include "rtc/loop.cuh"

namespace kernels {

enum FoldKind { kFoldSum, kFoldAbs, kFoldSquare, kFoldCount };  // as FoldKind of gpu_fold.h

template <typename S, int kind, typename T>
__device__ __forceinline__ S Folded(const T* values, long long n) {
  if constexpr (kind == kFoldCount) return S(1);
  const S v = mx::Load<S>(values, n);
  if constexpr (kind == kFoldAbs) return v < S(0) ? S(0) - v : v;
  if constexpr (kind == kFoldSquare) return v * v;
  return v;
}

// Row r has the elements pointers[r] to pointers[r + 1] - 1, or those that `element` numbers there.
// A power of two of `lanes` threads share a row.
template <typename I, typename T, typename S, int kind>
struct fold_rows {
  struct Args {
    const long long *pointers, *element;
    const T* values;
    S* sums;
    long long rows, lanes;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long row = i / static_cast<I>(a.lanes), lane = i & static_cast<I>(a.lanes - 1);
    S sum = S(0);
    if (row < a.rows)
      for (long long n = a.pointers[row] + lane; n < a.pointers[row + 1]; n += a.lanes)
        sum += Folded<S, kind>(a.values, a.element ? a.element[n] : n);
    for (long long step = a.lanes / 2; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, static_cast<int>(step));
    if (lane == 0 && row < a.rows) a.sums[row] = sum;
  }
};
template <typename I, typename T, typename S, int kind>
struct fold_columns {
  struct Args {
    const long long* column;
    const T* values;
    S* sums;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    atomicAdd(a.sums + a.column[i], Folded<S, kind>(a.values, i));
  }
};
template <typename I, bool root>
struct finish_folds {
  struct Args {
    double* sums;
    double divisor;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const double v = a.sums[i] / a.divisor;
    a.sums[i] = root ? ::sqrt(v) : v;
  }
};
}  // namespace kernels
