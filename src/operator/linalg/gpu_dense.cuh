// Factorizations of matrices, row-major: blocks of columns in one block of threads for each matrix,
// what lies beside them in matrix products (dense_gpu.cc).
#include "operator/linalg/gpu_finding.cuh"

namespace kernels {

// With l in shared memory, lower of order `size`: x = l^-1, a thread for each column. All threads.
template <typename X>
__device__ __forceinline__ void InvertLower(X (*l)[33], X (*x)[33], int size, bool unit) {
  const int c = threadIdx.x;
  if (c < size)
    for (int i = 0; i < size; ++i) {
      X sum = i == c ? X(1) : X(0);
      for (int k = c; k < i; ++k) sum -= l[i][k] * x[k][c];
      x[i][c] = i < c ? X(0) : unit ? sum : sum / l[i][i];
    }
  __syncthreads();
}

// Cholesky's factor of the block of 32 rows at `first`, and its inverse.
template <typename X>
struct linalg_cholesky_block {
  struct Args {
    X* a;
    X* inverse;
    Finding* finding;
    long long n, first, size;
    long long count;
  };
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    __shared__ X l[32][33];
    __shared__ X x[32][33];
    X* block = a.a + row * a.n * a.n + a.first * a.n + a.first;
    const int size = static_cast<int>(a.size), t = threadIdx.x;
    for (int i = t; i < size * size; i += 256) l[i / size][i % size] = block[i / size * a.n + i % size];
    __syncthreads();
    for (int j = 0; j < size; ++j) {
      if (t == 0) {
        if (l[j][j] <= X(0)) Find(a.finding, a.count, row, a.first + j + 1);
        l[j][j] = ::sqrt(l[j][j]);
      }
      __syncthreads();
      if (t > j && t < size) l[t][j] /= l[j][j];
      __syncthreads();
      const int rest = size - j - 1;
      for (int i = t; i < rest * rest; i += 256) {
        const int r = j + 1 + i / rest, c = j + 1 + i % rest;
        if (c <= r) l[r][c] -= l[r][j] * l[c][j];
      }
      __syncthreads();
    }
    InvertLower<X>(l, x, size, false);
    for (int i = t; i < size * size; i += 256) {
      const int r = i / size, c = i % size;
      if (c <= r) block[r * a.n + c] = l[r][c];
      a.inverse[row * 1024 + r * 32 + c] = x[r][c];
    }
  }
};

// The inverses of blocks of 32 rows on the diagonal of triangular matrices, blocks from `first` on,
// `blocks` of each matrix.
template <typename X, int lower, int unit>
struct linalg_triangle_blocks {
  struct Args {
    const X* a;
    X* inverse;
    long long n, first, blocks;
    long long count;
  };
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    __shared__ X l[32][33];
    __shared__ X x[32][33];
    const long long begin = (a.first + row % a.blocks) * 32;
    const X* block = a.a + row / a.blocks * a.n * a.n + begin * a.n + begin;
    const int size = static_cast<int>(a.n - begin < 32 ? a.n - begin : 32);
    for (int i = threadIdx.x; i < size * size; i += 256) {
      const int r = i / size, c = i % size;
      l[lower ? r : c][lower ? c : r] = block[r * a.n + c];
    }
    __syncthreads();
    InvertLower<X>(l, x, size, unit);
    for (int i = threadIdx.x; i < size * size; i += 256) {
      const int r = i / size, c = i % size;
      a.inverse[row * 1024 + r * 32 + c] = lower ? x[r][c] : x[c][r];
    }
  }
};

// A zero on a diagonal.
template <typename I, typename X>
struct linalg_check_diagonal {
  struct Args {
    const X* a;
    Finding* finding;
    long long n, matrices;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long i) {
    const long long matrix = i / a.n, k = i % a.n;
    if (a.a[matrix * a.n * a.n + k * a.n + k] == X(0)) Find(a.finding, a.matrices, matrix, k + 1);
  }
};

// Columns first to first + size of LU factors with partial pivoting: pivots[k] is the row that row
// k was swapped with, in these columns alone.
template <typename X>
struct linalg_lu_panel {
  struct Args {
    X* a;
    long long* pivots;
    Finding* finding;
    long long n, first, size;
    long long count;
  };
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    __shared__ X values[256];
    __shared__ long long places[256];
    X* m = a.a + row * a.n * a.n;
    const int t = threadIdx.x;
    const long long n = a.n, end = a.first + a.size;
    for (long long k = a.first; k < end; ++k) {
      X best = X(-1);
      long long place = k;
      for (long long i = k + t; i < n; i += 256) {
        const X v = ::fabs(m[i * n + k]);
        if (v > best) best = v, place = i;
      }
      values[t] = best, places[t] = place;
      __syncthreads();
      for (int half = 128; half > 0; half /= 2) {
        if (t < half && (values[t + half] > values[t] || (values[t + half] == values[t] && places[t + half] < places[t])))
          values[t] = values[t + half], places[t] = places[t + half];
        __syncthreads();
      }
      place = places[0];
      if (t == 0) a.pivots[row * n + k] = place;
      if (place != k && t < a.size) {
        X* at = m + a.first + t;
        const X v = at[k * n];
        at[k * n] = at[place * n];
        at[place * n] = v;
      }
      __syncthreads();
      const X pivot = m[k * n + k];
      if (pivot == X(0)) {
        if (t == 0) Find(a.finding, a.count, row, k + 1);
        __syncthreads();
        continue;
      }
      for (long long i = k + 1 + t; i < n; i += 256) {
        const X factor = m[i * n + k] /= pivot;
        for (long long j = k + 1; j < end; ++j) m[i * n + j] -= factor * m[k * n + j];
      }
      __syncthreads();
    }
  }
};

// The swaps of rows first to last of linalg_lu_panel, in `columns` columns: those before `skip` and
// those from skip + skipped on.
template <typename I, typename X>
struct linalg_swap_rows {
  struct Args {
    X* a;
    const long long* pivots;
    long long n, columns, first, last, skip, skipped;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long i) {
    const long long matrix = i / a.columns, at = i % a.columns;
    X* column = a.a + matrix * a.n * a.n + (at < a.skip ? at : at + a.skipped);
    for (long long k = a.first; k < a.last; ++k) {
      const long long other = a.pivots[matrix * a.n + k];
      if (other == k) continue;
      const X v = column[k * a.n];
      column[k * a.n] = column[other * a.n];
      column[other * a.n] = v;
    }
  }
};

template <typename I, typename X>
struct linalg_identity {
  struct Args {
    X* out;
    long long n;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long i) { a.out[i] = i / a.n % a.n == i % a.n ? X(1) : X(0); }
};

// The sign of a determinant, from LU factors.
template <typename X>
__device__ __forceinline__ double SignOf(const X* lu, const long long* pivots, long long n) {
  double sign = 1;
  for (long long k = 0; k < n; ++k) {
    const X u = lu[k * n + k];
    if (pivots[k] != k) sign = -sign;
    if (u < X(0)) sign = -sign;
    if (u == X(0)) return 0;
    if (u != u) return static_cast<double>(u);
  }
  return sign;
}

template <typename I, typename X, int logarithm>
struct linalg_determinant {
  struct Args {
    const X* lu;
    const long long* pivots;
    X* sign;
    X* det;
    long long n;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long i) {
    const X* lu = a.lu + i * a.n * a.n;
    const double sign = SignOf(lu, a.pivots + i * a.n, a.n);
    double value = logarithm ? 0.0 : sign;
    for (long long k = 0; k < a.n; ++k) {
      const double u = ::fabs(static_cast<double>(lu[k * a.n + k]));
      value = logarithm ? value + ::log(u) : value * u;
    }
    if (logarithm) a.sign[i] = static_cast<X>(sign);
    a.det[i] = static_cast<X>(value);
  }
};

// What transposed inverses are multiplied with, and which matrices have none: those that are
// singular with `logarithm`, those that are nearly singular without it, which are counted.
template <typename I, typename X, int logarithm>
struct linalg_determinant_factor {
  struct Args {
    const X* lu;
    const long long* pivots;
    const X* factor;
    double* scale;
    long long* none;
    Finding* finding;
    long long n;
    double epsilon;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long i) {
    const X* lu = a.lu + i * a.n * a.n;
    double scale = static_cast<double>(a.factor[i]), least = 1e308, largest = 0;
    bool number = true;
    if (!logarithm) scale *= SignOf(lu, a.pivots + i * a.n, a.n);
    for (long long k = 0; k < a.n; ++k) {
      const double u = ::fabs(static_cast<double>(lu[k * a.n + k]));
      if (!logarithm) scale *= u;
      if (u != u) number = false;
      least = u < least ? u : least;
      largest = u > largest ? u : largest;
    }
    const bool none = number && a.n > 0 && (logarithm ? least == 0 : least <= largest * a.epsilon * 4 * static_cast<double>(a.n));
    a.scale[i] = scale;
    a.none[i] = none;
    if (none && !logarithm) Find(a.finding, a.count, i, 1);
  }
};

// out = scale * inverse^T, or 0.
template <typename I, typename X>
struct linalg_scaled_transpose {
  struct Args {
    const X* inverse;
    const double* scale;
    const long long* none;
    X* out;
    long long n;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long i) {
    const long long matrix = i / (a.n * a.n), r = i / a.n % a.n, c = i % a.n;
    a.out[i] = a.none[matrix] ? X(0) : static_cast<X>(a.scale[matrix] * static_cast<double>(a.inverse[(matrix * a.n + c) * a.n + r]));
  }
};

// Cofactors of the matrices that have no inverse (Cofactors of dense_cpu.cc). memory: 2 n^2 doubles
// and 2 n integers for each matrix.
template <typename X>
struct linalg_cofactors {
  struct Args {
    const X* a;
    const X* factor;
    const long long* none;
    double* memory;
    long long* order;
    X* out;
    long long n;
    long long count;
  };
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    __shared__ double values[256];
    __shared__ long long places[256];
    if (!a.none[row]) return;
    const long long n = a.n;
    const int t = threadIdx.x;
    double *lu = a.memory + row * 2 * n * n, *w = lu + n * n;
    long long *p = a.order + row * 2 * n, *q = p + n;
    double most = static_cast<double>(a.factor[row]);
    for (long long i = t; i < n * n; i += 256) {
      lu[i] = static_cast<double>(a.a[row * n * n + i]);
      w[i] = i / n == i % n ? 1.0 : 0.0;
    }
    for (long long i = t; i < n; i += 256) p[i] = q[i] = i;
    __syncthreads();
    for (long long k = 0; k < n; ++k) {
      const long long rest = n - k;
      double best = -1;
      long long place = k * n + k;
      for (long long i = t; i < rest * rest; i += 256) {
        const long long at = (k + i / rest) * n + k + i % rest;
        if (::fabs(lu[at]) > best) best = ::fabs(lu[at]), place = at;
      }
      values[t] = best, places[t] = place;
      __syncthreads();
      for (int half = 128; half > 0; half /= 2) {
        if (t < half && (values[t + half] > values[t] || (values[t + half] == values[t] && places[t + half] < places[t])))
          values[t] = values[t + half], places[t] = places[t + half];
        __syncthreads();
      }
      const long long r = places[0] / n, c = places[0] % n;
      __syncthreads();
      if (r != k) most = -most;
      if (c != k) most = -most;
      for (long long j = t; j < n && r != k; j += 256) {
        const double v = lu[k * n + j];
        lu[k * n + j] = lu[r * n + j];
        lu[r * n + j] = v;
      }
      __syncthreads();
      for (long long i = t; i < n && c != k; i += 256) {
        const double v = lu[i * n + k];
        lu[i * n + k] = lu[i * n + c];
        lu[i * n + c] = v;
      }
      if (t == 0) {
        const long long v = p[k], u = q[k];
        p[k] = p[r], p[r] = v, q[k] = q[c], q[c] = u;
      }
      __syncthreads();
      if (k == n - 1) break;
      const double pivot = lu[k * n + k];
      if (pivot == 0) return;  // zeros stay
      most *= pivot;
      for (long long i = k + 1 + t; i < n; i += 256) {
        const double l = lu[i * n + k] /= pivot;
        for (long long j = k + 1; j < n; ++j) lu[i * n + j] -= l * lu[k * n + j];
      }
      __syncthreads();
    }
    for (long long j = t; j < n; j += 256) {  // a column each
      for (long long i = j + 1; i < n; ++i) {
        double sum = 0;
        for (long long k = j; k < i; ++k) sum -= lu[i * n + k] * w[k * n + j];
        w[i * n + j] = sum;
      }
      for (long long i = n - 2; i >= 0; --i) {
        double sum = lu[n * n - 1] * w[i * n + j] - lu[i * n + n - 1] * w[(n - 1) * n + j];
        for (long long k = i + 1; k < n - 1; ++k) sum -= lu[i * n + k] * w[k * n + j];
        w[i * n + j] = sum / lu[i * n + i];
      }
      for (long long i = 0; i < n; ++i) a.out[row * n * n + p[j] * n + q[i]] = static_cast<X>(most * w[i * n + j]);
    }
  }
};

// Householder reflections from the right; of q the rows become the vectors, then orthonormal rows.
// scale: m numbers for each matrix.
template <typename X>
struct linalg_lq {
  struct Args {
    X* q;
    X* l;
    X* scale;
    long long m, n;
    long long count;
  };
  // A warp for each of the rows below i: the row less its part along v. All warps come by equally
  // often.
  static __device__ __forceinline__ void Reflect(X* q, const X* v, X scale, long long i, long long m, long long n) {
    for (long long first = i + 1; first < m; first += 8) {
      const long long r = first + threadIdx.x / 32, end = r < m ? n : 0;
      X* other = q + r * n;
      X dot = X(0);
      for (long long k = i + threadIdx.x % 32; k < end; k += 32) dot += v[k] * other[k];
      for (int lane = 16; lane > 0; lane /= 2) dot += __shfl_xor_sync(0xffffffffu, dot, lane);
      for (long long k = i + threadIdx.x % 32; k < end; k += 32) other[k] -= scale * dot * v[k];
    }
    __syncthreads();
  }
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    __shared__ double shared[256];
    const long long m = a.m, n = a.n;
    const int t = threadIdx.x;
    X *q = a.q + row * m * n, *l = a.l + row * m * m, *scales = a.scale + row * m;
    for (long long i = 0; i < m; ++i) {
      X* v = q + i * n;
      double largest = 0, sum = 0;
      for (long long k = i + 1 + t; k < n; k += 256) largest = mx::Larger(largest, ::fabs(static_cast<double>(v[k])));
      largest = mx::BlockMax(largest, shared);
      const bool plain = !(largest > 0) || !(largest < 1e300);  // nothing, infinite or NaN
      for (long long k = i + 1 + t; k < n; k += 256) {
        const double x = plain ? static_cast<double>(v[k]) : static_cast<double>(v[k]) / largest;
        sum += x * x;
      }
      sum = mx::BlockSum(sum, shared);
      const double alpha = static_cast<double>(v[i]), rest = plain ? ::sqrt(sum) : largest * ::sqrt(sum);
      __syncthreads();
      double beta = alpha, scale = 0;
      if (!(rest == 0)) {
        beta = ::hypot(alpha, rest);
        if (alpha >= 0) beta = -beta;
        scale = (beta - alpha) / beta;
      }
      for (long long j = t; j < m; j += 256) l[i * m + j] = j < i ? v[j] : j == i ? static_cast<X>(beta) : X(0);
      if (t == 0) scales[i] = static_cast<X>(scale);
      __syncthreads();
      for (long long k = i + t; k < n && scale != 0; k += 256)
        v[k] = k == i ? X(1) : static_cast<X>(static_cast<double>(v[k]) / (alpha - beta));
      __syncthreads();
      if (scale != 0) Reflect(q, v, static_cast<X>(scale), i, m, n);
    }
    for (long long i = m - 1; i >= 0; --i) {
      X* v = q + i * n;
      const X scale = scales[i];
      if (t == 0) v[i] = X(1);
      __syncthreads();
      if (scale != X(0)) Reflect(q, v, scale, i, m, n);
      for (long long k = t; k < n; k += 256) v[k] = k < i ? X(0) : k == i ? X(1) - scale : -scale * v[k];
      __syncthreads();
    }
  }
};

}  // namespace kernels
