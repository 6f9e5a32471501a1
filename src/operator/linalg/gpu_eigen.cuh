// Eigenvalues and eigenvectors of symmetric matrices, row-major.
#include "operator/linalg/gpu_finding.cuh"

namespace kernels {

// ---- Jacobi's rotations (Golub and Van Loan, 8.5), in rounds of disjoint pairs: a round of an
// even number m of players pairs them as in a tournament.
__device__ __forceinline__ void PairOf(long long k, long long round, long long m, long long* p, long long* q) {
  const long long x = k == 0 ? m - 1 : (round + k) % (m - 1), y = (round + m - 1 - k) % (m - 1);
  *p = x < y ? x : y;
  *q = x < y ? y : x;
}
// Cosine and sine that make a[p, q] zero; none where it is negligible.
template <typename X>
__device__ __forceinline__ void Rotation(const X* a, long long n, long long p, long long q, X* cosine, X* sine) {
  *cosine = X(1), *sine = X(0);
  if (q >= n) return;
  const X apq = a[p * n + q], app = a[p * n + p], aqq = a[q * n + q];
  if (apq == X(0)) return;
  const X tau = (aqq - app) / (X(2) * apq);
  const X t = (tau >= X(0) ? X(1) : X(-1)) / (::fabs(tau) + ::sqrt(X(1) + tau * tau));
  *cosine = X(1) / ::sqrt(X(1) + t * t);
  *sine = t * *cosine;
}
template <typename X>
__device__ __forceinline__ void Rotate(X* x, X* y, X cosine, X sine) {
  const X u = *x, v = *y;
  *x = cosine * u - sine * v;
  *y = sine * u + cosine * v;
}
// Of the whole matrix: a is symmetric and overwritten, u begins as the identity. One round.
template <typename X>
__device__ __forceinline__ void RotateRows(X* a, X* u, const X* rotations, long long n, long long m, long long round, long long i) {
  const long long pair = i / n, k = i % n;
  long long p, q;
  PairOf(pair, round, m, &p, &q);
  const X sine = rotations[2 * pair + 1];
  if (q >= n || sine == X(0)) return;
  Rotate(a + p * n + k, a + q * n + k, rotations[2 * pair], sine);
  Rotate(u + p * n + k, u + q * n + k, rotations[2 * pair], sine);
}
template <typename X>
__device__ __forceinline__ void RotateColumns(X* a, const X* rotations, long long n, long long m, long long round, long long i) {
  const long long k = i / (m / 2), pair = i % (m / 2);
  long long p, q;
  PairOf(pair, round, m, &p, &q);
  const X sine = rotations[2 * pair + 1];
  if (q >= n || sine == X(0)) return;
  Rotate(a + k * n + p, a + k * n + q, rotations[2 * pair], sine);
  if (k == p) a[k * n + q] = X(0);
  if (k == q) a[k * n + p] = X(0);
}

// The sums of squares of what is off the diagonal, and of all, over the square of the largest;
// false where something is NaN or infinite. All threads of the block.
template <typename X>
__device__ __forceinline__ bool OffDiagonal(const X* a, long long n, double* shared, double* off, double* all) {
  double largest = 0, outside = 0, sum = 0;
  for (long long i = threadIdx.x; i < n * n; i += 256) largest = mx::Larger(largest, ::fabs(static_cast<double>(a[i])));
  largest = mx::BlockMax(largest, shared);
  for (long long i = threadIdx.x; i < n * n && largest > 0; i += 256) {
    const double v = static_cast<double>(a[i]) / largest;
    sum += v * v;
    if (i / n != i % n) outside += v * v;
  }
  *off = mx::BlockSum(outside, shared);
  *all = mx::BlockSum(sum, shared);
  return largest - largest == 0;
}

// One block for each matrix: sweeps until what is off the diagonal is negligible.
template <typename X>
struct linalg_jacobi {
  struct Args {
    X* a;
    X* u;
    X* rotations;
    Finding* finding;
    long long n;
    double epsilon;
    long long count;
  };
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    __shared__ double shared[256];
    const long long n = a.n, m = n + n % 2;
    const int t = threadIdx.x;
    X *matrix = a.a + row * n * n, *u = a.u + row * n * n, *rotations = a.rotations + row * m;
    for (int sweep = 0;; ++sweep) {
      double off = 0, all = 0;
      if (!OffDiagonal(matrix, n, shared, &off, &all) || !(off > all * a.epsilon * a.epsilon)) break;
      if (sweep == 60) {
        if (t == 0) Find(a.finding, a.count, row, 1);
        break;
      }
      for (long long round = 0; round < m - 1; ++round) {
        for (long long pair = t; pair < m / 2; pair += 256) {
          long long p, q;
          PairOf(pair, round, m, &p, &q);
          Rotation(matrix, n, p, q, rotations + 2 * pair, rotations + 2 * pair + 1);
        }
        __syncthreads();
        for (long long i = t; i < m / 2 * n; i += 256) RotateRows(matrix, u, rotations, n, m, round, i);
        __syncthreads();
        for (long long i = t; i < m / 2 * n; i += 256) RotateColumns(matrix, rotations, n, m, round, i);
        __syncthreads();
      }
    }
  }
};

// The same steps for large matrices, a launch for each.
template <typename I, typename X>
struct linalg_jacobi_angles {
  struct Args {
    const X* a;
    X* rotations;
    long long n, round;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long i) {
    const long long m = a.n + a.n % 2, matrix = i / (m / 2), pair = i % (m / 2);
    long long p, q;
    PairOf(pair, a.round, m, &p, &q);
    Rotation(a.a + matrix * a.n * a.n, a.n, p, q, a.rotations + 2 * i, a.rotations + 2 * i + 1);
  }
};
template <typename I, typename X, int columns>
struct linalg_jacobi_rotate {
  struct Args {
    X* a;
    X* u;
    const X* rotations;
    long long n, round;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long i) {
    const long long n = a.n, m = n + n % 2, each = m / 2 * n, matrix = i / each;
    const X* rotations = a.rotations + matrix * m;
    if (columns)
      RotateColumns(a.a + matrix * n * n, rotations, n, m, a.round, i % each);
    else
      RotateRows(a.a + matrix * n * n, a.u + matrix * n * n, rotations, n, m, a.round, i % each);
  }
};
// Whether another sweep is needed: a finding for each such matrix.
template <typename X>
struct linalg_jacobi_more {
  struct Args {
    const X* a;
    Finding* finding;
    long long n;
    double epsilon;
    long long count;
  };
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    __shared__ double shared[256];
    double off = 0, all = 0;
    const bool finite = OffDiagonal(a.a + row * a.n * a.n, a.n, shared, &off, &all);
    if (threadIdx.x == 0 && finite && off > all * a.epsilon * a.epsilon) Find(a.finding, a.count, row, 1);
  }
};

// Eigenvalues in order and their vectors, whose largest element is positive. A block for each
// vector.
template <typename X>
struct linalg_sorted_vectors {
  struct Args {
    const X* a;
    const X* from;
    X* u;
    X* w;
    long long n;
    long long count;
  };
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    __shared__ double shared[256];
    const long long n = a.n, matrix = row / n, k = row % n;
    const int t = threadIdx.x;
    const X *diagonal = a.a + matrix * n * n, *from = a.from + row * n;
    const X mine = diagonal[k * n + k];
    double before = 0, largest = 0, off, all;
    const bool bad = !OffDiagonal(diagonal, n, shared, &off, &all);
    for (long long i = t; i < n; i += 256) {
      const X other = diagonal[i * n + i];
      if (other < mine || (other == mine && i < k)) before += 1;
      largest = mx::Larger(largest, ::fabs(static_cast<double>(from[i])));
    }
    before = mx::BlockSum(before, shared);
    largest = mx::BlockMax(largest, shared);
    double first = 0;  // the first of the largest elements, counted from the end
    for (long long i = t; i < n; i += 256)
      if (::fabs(static_cast<double>(from[i])) == largest && first < static_cast<double>(n - i)) first = static_cast<double>(n - i);
    first = mx::BlockMax(first, shared);
    const long long at = bad ? k : static_cast<long long>(before), top = n - static_cast<long long>(first);
    const bool turned = top < n && from[top] < X(0);
    const X none = static_cast<X>(::sqrt(-1.0));
    for (long long i = t; i < n; i += 256) a.u[(matrix * n + at) * n + i] = bad ? none : turned ? -from[i] : from[i];
    if (t == 0) a.w[matrix * n + at] = bad ? none : mine;
  }
};
}  // namespace kernels
