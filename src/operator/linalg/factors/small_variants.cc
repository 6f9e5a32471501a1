// Factorizations, eigenvectors and triangular solves of one small matrix, row-major. Their inner
// loops run along rows: a row less a few multiples of other rows. This file is compiled once for
// each level of instruction sets; dense.h says what the functions mean.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/cpu_dispatch.h"
#include "base/round_up.h"
#include "operator/linalg/factors/small.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

// x -= sum over k of factor[k * step] * (row k), rows of n numbers that lie ld apart
template <typename T>
inline void Subtract(T* x, int64_t n, const T* factor, int64_t step, const T* rows, int64_t ld, int64_t count) {
  int64_t k = 0;
  for (; k + 4 <= count; k += 4, rows += 4 * ld) {
    const T a = factor[k * step], b = factor[(k + 1) * step], c = factor[(k + 2) * step], d = factor[(k + 3) * step];
    const T *p = rows, *q = rows + ld, *r = q + ld, *s = r + ld;
#pragma GCC ivdep  // x is none of the rows
    for (int64_t j = 0; j < n; ++j) x[j] -= (a * p[j] + b * q[j]) + (c * r[j] + d * s[j]);
  }
  for (; k < count; ++k, rows += ld) {
    const T a = factor[k * step];
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) x[j] -= a * rows[j];
  }
}

template <typename T>
inline T Dot(const T* a, const T* b, int64_t n) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// u, upper: a = u^T u, computed row by row in place. Returns 0 or the order of the first leading
// minor that is not positive.
template <typename T>
int64_t FactorUpper(T* u, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    T* row = u + i * n + i;
    Subtract(row, n - i, u + i, n, u + i, n, i);
    if (row[0] <= T(0)) return i + 1;
    const T root = std::sqrt(row[0]);
    row[0] = root;
    for (int64_t j = 1; j < n - i; ++j) row[j] /= root;
  }
  return 0;
}

template <typename T>
int64_t Cholesky(bool lower, const T* in, T* out, int64_t n) {
  T u[kSmallMatrix * kSmallMatrix];
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i; j < n; ++j) u[i * n + j] = lower ? in[j * n + i] : in[i * n + j];
  const int64_t failed = FactorUpper(u, n);
  if (failed) return failed;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) out[i * n + j] = lower ? (j <= i ? u[j * n + i] : T(0)) : (j >= i ? u[i * n + j] : T(0));
  return 0;
}

// A pivot is the largest of its column; eight columns are done before the rest is updated.
template <typename T>
int64_t Lu(T* a, int32_t* pivots, int64_t n) {
  constexpr int64_t kBlock = 8;
  int64_t singular = 0;
  for (int64_t first = 0; first < n; first += kBlock) {
    const int64_t end = std::min(n, first + kBlock);
    for (int64_t k = first; k < end; ++k) {
      int64_t best = k;
      for (int64_t i = k + 1; i < n; ++i)
        if (std::abs(a[i * n + k]) > std::abs(a[best * n + k])) best = i;
      pivots[k] = static_cast<int32_t>(best);
      if (best != k) std::swap_ranges(a + k * n, a + (k + 1) * n, a + best * n);
      const T pivot = a[k * n + k];
      if (pivot == T(0)) {
        if (!singular) singular = k + 1;
        continue;
      }
      for (int64_t i = k + 1; i < n; ++i) {
        const T factor = a[i * n + k] /= pivot;
        for (int64_t j = k + 1; j < end; ++j) a[i * n + j] -= factor * a[k * n + j];
      }
    }
    if (end == n) break;
    for (int64_t i = first + 1; i < n; ++i)
      Subtract(a + i * n + end, n - end, a + i * n + first, 1, a + first * n + end, n, std::min(i, end) - first);
  }
  return singular;
}

template <typename T>
void InverseOfLu(const T* lu, const int32_t* pivots, T* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {  // of the lower factor
    T* row = x + i * n;
    std::fill(row, row + n, T(0));
    row[i] = T(1);
    Subtract(row, i, lu + i * n, 1, x, n, i);
  }
  for (int64_t i = n - 1; i >= 0; --i) {
    T* row = x + i * n;
    Subtract(row, n, lu + i * n + i + 1, 1, x + (i + 1) * n, n, n - 1 - i);
    const T pivot = lu[i * n + i];
    for (int64_t j = 0; j < n; ++j) row[j] /= pivot;
  }
  for (int64_t k = n - 1; k >= 0; --k)
    if (pivots[k] != k)
      for (int64_t i = 0; i < n; ++i) std::swap(x[i * n + k], x[i * n + pivots[k]]);
}

// Whether op(a) is lower, and a or its transpose so that the rows of op(a) are contiguous.
template <typename T>
const T* Rows(const SmallSide& s, const T* a, int64_t n, T* transposed, bool* lower) {
  *lower = s.lower != s.transpose;
  if (!s.transpose) return a;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = *lower ? 0 : i; j < (*lower ? i + 1 : n); ++j) transposed[i * n + j] = a[j * n + i];
  return transposed;
}

// row * op(a) = row before, unknowns four at a time
template <typename T>
void SolveRow(bool lower, const T* a, T* x, int64_t n) {
  if (lower) {
    for (int64_t end = n; end > 0;) {
      const int64_t first = std::max<int64_t>(0, end - 4);
      for (int64_t k = end - 1; k >= first; --k) {
        x[k] /= a[k * n + k];
        for (int64_t j = first; j < k; ++j) x[j] -= x[k] * a[k * n + j];
      }
      Subtract(x, first, x + first, 1, a + first * n, n, end - first);
      end = first;
    }
  } else {
    for (int64_t first = 0; first < n;) {
      const int64_t end = std::min(n, first + 4);
      for (int64_t k = first; k < end; ++k) {
        x[k] /= a[k * n + k];
        for (int64_t j = k + 1; j < end; ++j) x[j] -= x[k] * a[k * n + j];
      }
      Subtract(x + end, n - end, x + first, 1, a + first * n + end, n, end - first);
      first = end;
    }
  }
}

template <typename T>
void Solve(const SmallSide& s, T alpha, const T* a, T* x, int64_t m, int64_t n) {
  const int64_t order = s.right ? n : m;
  T memory[kSmallMatrix * kSmallMatrix];
  bool lower;
  a = Rows(s, a, order, memory, &lower);
  if (alpha != T(1))
    for (int64_t i = 0; i < m * n; ++i) x[i] = alpha == T(0) ? T(0) : x[i] * alpha;
  if (alpha == T(0)) return;
  if (s.right) {
    for (int64_t i = 0; i < m; ++i) SolveRow(lower, a, x + i * n, n);
    return;
  }
  for (int64_t step = 0; step < m; ++step) {
    const int64_t i = lower ? step : m - 1 - step;
    T* row = x + i * n;
    if (lower)
      Subtract(row, n, a + i * m, 1, x, n, i);
    else
      Subtract(row, n, a + i * m + i + 1, 1, x + (i + 1) * n, n, m - 1 - i);
    const T pivot = a[i * m + i];
    for (int64_t j = 0; j < n; ++j) row[j] /= pivot;
  }
}

template <typename T>
void Multiply(const SmallSide& s, T alpha, const T* a, T* x, int64_t m, int64_t n) {
  const int64_t order = s.right ? n : m;
  T memory[kSmallMatrix * kSmallMatrix], product[kSmallMatrix];
  bool lower;
  a = Rows(s, a, order, memory, &lower);
  if (alpha == T(0)) return static_cast<void>(std::fill(x, x + m * n, T(0)));
  if (s.right) {
    for (int64_t i = 0; i < m; ++i) {
      T* row = x + i * n;
      std::fill(product, product + n, T(0));
      for (int64_t k = 0; k < n; ++k) {
        const int64_t first = lower ? 0 : k, end = lower ? k + 1 : n;
        for (int64_t j = first; j < end; ++j) product[j] += row[k] * a[k * n + j];
      }
      for (int64_t j = 0; j < n; ++j) row[j] = alpha * product[j];
    }
    return;
  }
  for (int64_t step = 0; step < m; ++step) {
    const int64_t i = lower ? m - 1 - step : step;
    T* row = x + i * n;
    const T diagonal = -a[i * m + i];
    for (int64_t j = 0; j < n; ++j) row[j] *= diagonal;
    if (lower)
      Subtract(row, n, a + i * m, 1, x, n, i);
    else
      Subtract(row, n, a + i * m + i + 1, 1, x + (i + 1) * n, n, m - 1 - i);
    for (int64_t j = 0; j < n; ++j) row[j] *= -alpha;
  }
}

// With x = l^-1: x^T x, of which row i up to the diagonal is a sum of multiples of rows of x.
template <typename T>
int64_t CholeskyInverse(const T* l, T* out, int64_t n) {
  T x[kSmallMatrix * kSmallMatrix];
  for (int64_t i = 0; i < n; ++i) {
    T* row = x + i * n;
    const T pivot = l[i * n + i];
    if (pivot == T(0)) return i + 1;
    std::fill(row, row + n, T(0));
    row[i] = T(1);
    Subtract(row, i, l + i * n, 1, x, n, i);
    for (int64_t j = 0; j <= i; ++j) row[j] /= pivot;
  }
  for (int64_t i = 0; i < n; ++i) {
    T* row = out + i * n;
    std::fill(row, row + i + 1, T(0));
    Subtract(row, i + 1, x + i * n + i, n, x + i * n, n, n - i);
    for (int64_t j = 0; j <= i; ++j) out[j * n + i] = row[j] = -row[j];
  }
  return 0;
}

// The root of the sum of squares, which may be larger or smaller than T holds.
template <typename T>
T Norm(const T* x, int64_t n) {
  const T squares = Dot(x, x, n);
  if (squares > T(1e-30) && squares < T(1e30)) return std::sqrt(squares);
  T largest = 0;
  for (int64_t i = 0; i < n; ++i)
    if (!(std::abs(x[i]) <= largest)) largest = std::abs(x[i]);
  if (largest == T(0) || !(largest < HUGE_VAL)) return largest;
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += (x[i] / largest) * (x[i] / largest);
  return largest * std::sqrt(sum);
}

// Beside a matrix whose largest number is 1 or 2 what is less than this is 0.
template <typename T>
constexpr T kNothing = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();

// Eigenvectors of symmetric matrices. Buffers have rows of `ld` numbers, a multiple of kStrip, and
// what lies behind a row's n numbers is 0, so that no loop along a row has a remainder.
constexpr int64_t kStrip = 8;

// row -= a * x + b * y over [first, ld); first is a multiple of kStrip
template <typename T>
inline void SubtractTwo(T* row, T a, const T* x, T b, const T* y, int64_t first, int64_t ld) {
#pragma GCC ivdep
  for (int64_t s = first; s < ld; s += kStrip)
    for (int64_t j = s; j < s + kStrip; ++j) row[j] -= a * x[j] + b * y[j];
}

// sums = sum over r in [begin, n) of factor[r] * (row r), over [first, ld)
template <typename T>
inline void SumRows(const T* factor, const T* rows, int64_t begin, int64_t n, int64_t first, int64_t ld, T* sums) {
  for (int64_t s = first; s < ld; s += kStrip) {
    T even[kStrip] = {}, odd[kStrip] = {};
    int64_t r = begin;
    for (; r + 2 <= n; r += 2) {
      for (int64_t j = 0; j < kStrip; ++j) even[j] += factor[r] * rows[r * ld + s + j];
      for (int64_t j = 0; j < kStrip; ++j) odd[j] += factor[r + 1] * rows[(r + 1) * ld + s + j];
    }
    if (r < n)
      for (int64_t j = 0; j < kStrip; ++j) even[j] += factor[r] * rows[r * ld + s + j];
    for (int64_t j = 0; j < kStrip; ++j) sums[s + j] = even[j] + odd[j];
  }
}

// a, symmetric, becomes tridiagonal, diagonal d and e beside it, by Householder's reflections
// I - tau v v^T, row i of a holding v of the i-th (Golub and Van Loan, Matrix Computations, 8.3.1).
template <typename T>
void Tridiagonalize(T* a, int64_t n, int64_t ld, double* d, double* e, T* tau) {
  T w[kSmallMatrix];
  for (int64_t i = 0; i < n; ++i) {
    T* v = a + i * ld;
    d[i] = v[i];
    std::fill(v, v + i + 1, T(0));
    if (i + 1 == n) break;
    const int64_t first = (i + 1) / kStrip * kStrip;
    const T alpha = v[i + 1], beta = -std::copysign(Norm(v + first, ld - first), alpha), divisor = alpha - beta;
    tau[i] = T(0);
    e[i] = std::abs(beta) <= kNothing<T> ? T(0) : i + 2 == n ? alpha : beta;
    if (e[i] == 0 || i + 2 == n) continue;
    tau[i] = (beta - alpha) / beta;
    for (int64_t j = first; j < ld; ++j) v[j] /= divisor;
    v[i + 1] = T(1);
    SumRows(v, a, i + 1, n, first, ld, w);
    const T half = tau[i] * tau[i] / 2 * Dot(v + first, w + first, ld - first);
    for (int64_t j = first; j < ld; ++j) w[j] = tau[i] * w[j] - half * v[j];
    for (int64_t r = i + 1; r < n; ++r) SubtractTwo(a + r * ld, v[r], w, w[r], v, first, ld);
  }
}

// q = the product of the reflections.
template <typename T>
void FormProduct(const T* a, const T* tau, int64_t n, int64_t ld, T* q) {
  T sums[kSmallMatrix];
  std::fill(q, q + n * ld, T(0));
  for (int64_t i = 0; i < n; ++i) q[i * ld + i] = T(1);
  for (int64_t i = n - 3; i >= 0; --i) {
    if (tau[i] == T(0)) continue;
    const T* v = a + i * ld;
    const int64_t first = (i + 1) / kStrip * kStrip;
    SumRows(v, q, i + 1, n, first, ld, sums);
    for (int64_t r = i + 1; r < n; ++r) {
      const T factor = tau[i] * v[r];
#pragma GCC ivdep
      for (int64_t s = first; s < ld; s += kStrip)
        for (int64_t j = s; j < s + kStrip; ++j) q[r * ld + j] -= factor * sums[j];
    }
  }
}

// (x, y) = (c x - s y, s x + c y)
template <typename T>
inline void Rotate(T* x, T* y, T c, T s, int64_t ld) {
#pragma GCC ivdep
  for (int64_t k = 0; k < ld; k += kStrip)
    for (int64_t j = k; j < k + kStrip; ++j) {
      const T a = x[j], b = y[j];
      x[j] = c * a - s * b;
      y[j] = s * a + c * b;
    }
}

// Diagonalizes two rows by one of Jacobi's rotations (Golub and Van Loan, 8.5.2); z: row of the
// first one's vector, or null.
template <typename T>
void SolvePair(double* d, double* e, T* z, int64_t ld) {
  const double half = (d[1] - d[0]) / (2 * *e), t = std::copysign(1 / (std::abs(half) + std::sqrt(half * half + 1)), half);
  const double c = 1 / std::sqrt(t * t + 1);
  d[0] -= t * *e;
  d[1] += t * *e;
  *e = 0;
  if (z) Rotate(z, z + ld, static_cast<T>(c), static_cast<T>(c * t), ld);
}

// One step of the implicit QL method on rows l..m of the tridiagonal matrix.
template <typename T>
void QlStep(double* d, double* e, T* z, int64_t l, int64_t m, int64_t ld) {
  double g = (d[l + 1] - d[l]) / (2 * e[l]);
  g = d[m] - d[l] + e[l] / (g + std::copysign(std::sqrt(g * g + 1), g));
  double s = 1, c = 1, p = 0;
  for (int64_t i = m - 1; i >= l; --i) {
    const double f = s * e[i], b = c * e[i], squares = f * f + g * g;
    const double r = squares > 1e-290 ? std::sqrt(squares) : std::hypot(f, g);
    e[i + 1] = r;
    if (r == 0) {  // it splits here
      d[i + 1] -= p;
      e[m] = 0;
      return;
    }
    s = f / r;
    c = g / r;
    g = d[i + 1] - p;
    const double t = (d[i] - g) * s + 2 * c * b;
    p = s * t;
    d[i + 1] = g + p;
    g = c * t - b;
    if (z) Rotate(z + i * ld, z + (i + 1) * ld, static_cast<T>(c), static_cast<T>(s), ld);
  }
  d[l] -= p;
  e[l] = g;
  e[m] = 0;
}

// Rows l..m in the opposite order.
template <typename T>
void Turn(double* d, double* e, T* z, int64_t l, int64_t m, int64_t ld) {
  std::reverse(d + l, d + m + 1);
  std::reverse(e + l, e + m);
  for (; z && l < m; ++l, --m) std::swap_ranges(z + l * ld, z + (l + 1) * ld, z + m * ld);
}

// d becomes the eigenvalues, and z, times their vectors, in its rows; z null: only d (Dubrulle,
// Martin and Wilkinson, The Implicit QL Algorithm, Numerische Mathematik 12, 1968). A block begins
// where the diagonal is smaller: from there the method converges fast. Returns 0, or 1 + the row
// that does not.
template <typename T>
int64_t ImplicitQl(double* d, double* e, T* z, int64_t n, int64_t ld) {
  constexpr double eps = std::numeric_limits<T>::epsilon() / 2, tiny = std::numeric_limits<double>::min();
  int64_t steps = 30 * n;
  e[n - 1] = 0;
  for (int64_t l = 0, turned = 0; l < n;) {
    int64_t m = l;
    while (m + 1 < n && e[m] * e[m] > eps * eps * std::abs(d[m]) * std::abs(d[m + 1]) + tiny) ++m;
    if (m + 1 < n) e[m] = 0;
    if (m == l) {
      ++l;
      continue;
    }
    if (m == l + 1) {
      SolvePair(d + l, e + l, z ? z + l * ld : nullptr, ld);
      continue;
    }
    if (m >= turned) {
      if (std::abs(d[m]) < std::abs(d[l])) Turn(d, e, z, l, m, ld);
      turned = m + 1;
    }
    if (steps-- == 0) return l + 1;
    QlStep(d, e, z, l, m, ld);
  }
  return 0;
}

// The matrix times a power of two, so that its largest number is in [1, 2): squares neither
// overflow nor vanish. Returns the power's exponent.
template <typename T>
int ScaledInto(const T* u, int64_t n, int64_t ld, T* a) {
  T largest = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) largest = std::max(largest, std::abs(u[i * n + j]));
  const int exponent = largest == T(0) ? 0 : std::ilogb(largest);
  // Two factors, for their product may be more than T holds.
  const T half = std::ldexp(T(1), -exponent / 2), rest = std::ldexp(T(1), -exponent - -exponent / 2);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) a[i * ld + j] = a[j * ld + i] = u[i * n + j] * half * rest;
    std::fill(a + i * ld + n, a + (i + 1) * ld, T(0));
  }
  return exponent;
}

template <typename T>
int64_t Eigen(bool vectors, T* u, T* w, int64_t n) {
  T a[kSmallMatrix * kSmallMatrix], q[kSmallMatrix * kSmallMatrix], tau[kSmallMatrix];
  double d[kSmallMatrix], e[kSmallMatrix];
  const int64_t ld = RoundUp(n, kStrip);
  const int exponent = ScaledInto(u, n, ld, a);
  Tridiagonalize(a, n, ld, d, e, tau);
  if (vectors) {
    FormProduct(a, tau, n, ld, q);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) a[i * ld + j] = q[j * ld + i];
  }
  const int64_t failed = ImplicitQl(d, e, vectors ? a : nullptr, n, ld);
  if (failed) return failed;
  int64_t order[kSmallMatrix];
  for (int64_t i = 0; i < n; ++i) {
    int64_t k = i;
    for (; k > 0 && d[order[k - 1]] > d[i]; --k) order[k] = order[k - 1];
    order[k] = i;
  }
  for (int64_t i = 0; i < n; ++i) {
    w[i] = static_cast<T>(std::ldexp(d[order[i]], exponent));
    if (vectors) std::copy(a + order[i] * ld, a + order[i] * ld + n, u + i * n);
  }
  return 0;
}

template <typename T>
int64_t EigenOfTwo(double* d, double* e, T* rows, int64_t n, int64_t pitch) {
  std::fill(rows, rows + n * pitch, T(0));
  for (int64_t i = 0; i < n; ++i) rows[i * pitch + i] = T(1);
  return ImplicitQl(d, e, rows, n, pitch);
}

}  // namespace

int64_t SmallCholesky(bool wide, bool lower, const void* in, void* out, int64_t n) {
  return wide ? Cholesky(lower, static_cast<const double*>(in), static_cast<double*>(out), n)
              : Cholesky(lower, static_cast<const float*>(in), static_cast<float*>(out), n);
}
int64_t SmallLu(bool wide, void* a, int32_t* pivots, int64_t n) {
  return wide ? Lu(static_cast<double*>(a), pivots, n) : Lu(static_cast<float*>(a), pivots, n);
}
void SmallInverse(bool wide, const void* lu, const int32_t* pivots, void* out, int64_t n) {
  wide ? InverseOfLu(static_cast<const double*>(lu), pivots, static_cast<double*>(out), n)
       : InverseOfLu(static_cast<const float*>(lu), pivots, static_cast<float*>(out), n);
}
int64_t SmallCholeskyInverse(bool wide, const void* l, void* out, int64_t n) {
  return wide ? CholeskyInverse(static_cast<const double*>(l), static_cast<double*>(out), n)
              : CholeskyInverse(static_cast<const float*>(l), static_cast<float*>(out), n);
}
void SmallSolve(bool wide, const SmallSide& s, double alpha, const void* a, void* x, int64_t m, int64_t n) {
  wide ? Solve(s, alpha, static_cast<const double*>(a), static_cast<double*>(x), m, n)
       : Solve(s, static_cast<float>(alpha), static_cast<const float*>(a), static_cast<float*>(x), m, n);
}
void SmallMultiply(bool wide, const SmallSide& s, double alpha, const void* a, void* x, int64_t m, int64_t n) {
  wide ? Multiply(s, alpha, static_cast<const double*>(a), static_cast<double*>(x), m, n)
       : Multiply(s, static_cast<float>(alpha), static_cast<const float*>(a), static_cast<float*>(x), m, n);
}
int64_t SmallEigen(bool wide, bool vectors, void* u, void* w, int64_t n) {
  return wide ? Eigen(vectors, static_cast<double*>(u), static_cast<double*>(w), n)
              : Eigen(vectors, static_cast<float*>(u), static_cast<float*>(w), n);
}
int64_t SmallTridiagonal(bool wide, double* d, double* e, void* rows, int64_t n, int64_t pitch) {
  return wide ? EigenOfTwo(d, e, static_cast<double*>(rows), n, pitch) : EigenOfTwo(d, e, static_cast<float*>(rows), n, pitch);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
