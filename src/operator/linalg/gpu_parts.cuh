// Elements of matrices at other places: triangles, diagonals, and what gradients are made of.
#include "rtc/loop.cuh"

namespace kernels {

// Part of linalg/shapes.h
template <typename I, typename X, int part>
struct linalg_part {
  struct Args {
    const X* x;
    X* out;
    long long n;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long i) {
    const long long matrix = i / (a.n * a.n), r = i / a.n % a.n, c = i % a.n, across = matrix * a.n * a.n + c * a.n + r;
    X v = X(0);
    if (part == 0) v = c <= r ? a.x[i] : X(0);
    if (part == 1) v = c >= r ? a.x[i] : X(0);
    if (part == 2) v = c <= r ? a.x[i] : a.x[across];
    if (part == 3) v = c < r ? a.x[i] + a.x[across] : c == r ? a.x[i] : X(0);
    if (part == 4) v = (a.x[i] + a.x[across]) * X(0.5);
    a.out[i] = v;
  }
};

template <typename I, typename X>
struct linalg_scale {
  struct Args {
    const X* by;
    const X* from;
    X* out;
    long long each;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long i) { a.out[i] = a.by[i / a.each] * a.from[i]; }
};

template <typename X>
struct linalg_inner {
  struct Args {
    const X* x;
    const X* y;
    X* out;
    long long each;
    long long count;
  };
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    __shared__ double shared[256];
    double sum = 0;
    for (long long k = threadIdx.x; k < a.each; k += 256)
      sum += static_cast<double>(a.x[row * a.each + k]) * static_cast<double>(a.y[row * a.each + k]);
    sum = mx::BlockSum(sum, shared);
    if (threadIdx.x == 0) a.out[row] = static_cast<X>(sum);
  }
};

// 1 / (w[c] - w[r]), or 0 where they are equal
template <typename I, typename X>
struct linalg_gaps {
  struct Args {
    const X* w;
    X* out;
    long long n;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long i) {
    const long long matrix = i / (a.n * a.n), r = i / a.n % a.n, c = i % a.n;
    const X gap = a.w[matrix * a.n + c] - a.w[matrix * a.n + r];
    a.out[i] = gap == X(0) ? X(0) : X(1) / gap;
  }
};

// The sum of the logarithms of a diagonal.
template <typename I, typename X>
struct linalg_sum_log {
  struct Args {
    const X* a;
    X* out;
    long long n;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long i) {
    double sum = 0;
    for (long long k = 0; k < a.n; ++k) sum += ::log(static_cast<double>(a.a[(i * a.n + k) * a.n + k]));
    a.out[i] = static_cast<X>(sum);
  }
};

// The number of packed elements of a triangle before its row or column i, which has i + 1.
__device__ __forceinline__ long long Packed(long long i) { return i * (i + 1) / 2; }

// Matrices of order n from their diagonals or triangles of order m, zeros elsewhere. `down` and
// `right`: where the diagonal begins. kind 0: diagonal, 1: lower triangle, 2: upper triangle.
template <typename I, typename X, int kind>
struct linalg_place {
  struct Args {
    const X* part;
    X* out;
    long long n, m, down, right, size;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long i) {
    const long long matrix = i / (a.n * a.n), r = i / a.n % a.n - a.down, c = i % a.n - a.right;
    const bool inside = r >= 0 && c >= 0 && r < a.m && c < a.m && (kind == 0 ? r == c : kind == 1 ? c <= r : c >= r);
    a.out[i] = inside ? a.part[matrix * a.size + (kind == 0 ? r : kind == 1 ? Packed(r) + c : Packed(c) + r)] : X(0);
  }
};

// The other way round; a thread for each row and column of the part's square.
template <typename I, typename X, int kind>
struct linalg_pick {
  struct Args {
    const X* whole;
    X* out;
    long long n, m, down, right, size;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long i) {
    const long long each = kind == 0 ? a.m : a.m * a.m, matrix = i / each, r = kind == 0 ? i % each : i % each / a.m,
                    c = kind == 0 ? r : i % a.m;
    if (kind == 1 && c > r) return;
    if (kind == 2 && c < r) return;
    a.out[matrix * a.size + (kind == 0   ? r
                             : kind == 1 ? Packed(r) + c
                                         : Packed(c) + r)] = a.whole[matrix * a.n * a.n + (r + a.down) * a.n + c + a.right];
  }
};
}  // namespace kernels
