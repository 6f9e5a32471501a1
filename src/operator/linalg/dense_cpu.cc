// The functions of dense.h on the CPU. Small matrices, and many of middle size, are spread over
// threads; large ones use the threads of the BLAS library one after the other.
#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "base/threads/omp.h"
#include "mxnet/error.h"
#include "mxnet/op.h"
#include "operator/linalg/dense.h"
#include "operator/linalg/dense_gpu.h"
#include "operator/linalg/factors/blocked_cholesky.h"
#include "operator/linalg/factors/decompose.h"
#include "operator/linalg/factors/lapack.h"
#include "operator/linalg/factors/recursive_lu.h"
#include "operator/linalg/factors/reflections.h"
#include "operator/linalg/factors/transposed.h"
#include "operator/shared/blas_threads.h"
#include "operator/shared/host_scratch.h"

namespace mxnet {
namespace linalg {
namespace {

constexpr int64_t kMiddleMatrix = 256;  // above, one matrix is worth all threads where there are more of them than matrices

const char* Name(const KernelArgs& args) { return args.attrs->op->name.c_str(); }
bool Wide(const KernelArgs& args) { return args.in[0].dtype == kFloat64; }

template <typename F>
void VisitReal(const KernelArgs& args, F&& f) {
  return Wide(args) ? f(double{}) : f(float{});
}

// f(begin, end) for ranges of matrices of `order` that take `flops` each. Four of 128 x 128, two
// threads: syevd takes a third of the time that it takes with the threads of OpenBLAS beside ours.
template <typename F>
void Ranges(int64_t count, int64_t order, double flops, F&& f) {
  if (count == 0) return;
  if (order > kMiddleMatrix && count < OmpMaxThreads()) return f(0, count);
  const OneBlasThread alone;
  ParallelFor(count, std::max<int64_t>(1, static_cast<int64_t>(2e5 / (flops + 50))), f);
}

// The first matrix with a trouble, on whichever thread it was found.
class Trouble {
 public:
  void Add(int64_t matrix, int64_t place) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (matrix_ >= 0 && matrix_ <= matrix) return;
    matrix_ = matrix, place_ = place;
  }
  void Throw(const KernelArgs& args, const char* what) const {
    if (matrix_ >= 0) ThrowTrouble(args, matrix_, place_, what);
  }

 private:
  std::mutex mutex_;
  int64_t matrix_ = -1, place_ = 0;
};

// The element of largest absolute value.
template <typename T>
const T* LargestOf(const T* row, int64_t n) {
  return std::max_element(row, row + n, [](T a, T b) { return std::abs(a) < std::abs(b); });
}

// The lower triangle onto the upper one, or zeros there.
template <typename T>
void FillUpper(T* a, int64_t n, bool mirror) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j) a[i * n + j] = mirror ? a[j * n + i] : T(0);
}
template <typename T>
void ClearLower(T* a, int64_t n) {
  for (int64_t i = 0; i < n; ++i) std::fill(a + i * n, a + i * n + i, T(0));
}

// May be in place.
template <typename T>
void TransposeSquare(int64_t n, const T* from, T* to) {
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t c = 0; c <= r; ++c) {
      const T below = from[r * n + c], above = from[c * n + r];
      to[c * n + r] = below, to[r * n + c] = above;
    }
  }
}

template <typename T>
int64_t LuOf(const T* from, T* to, int32_t* pivots, int64_t n) {
  if (to != from) std::copy(from, from + n * n, to);
  return n <= kSmallMatrix ? MXNET_CPU_CALL(SmallLu)(sizeof(T) == 8, to, pivots, n) : RecursiveLu(n, to, pivots);
}

// From the factors of LuOf; the determinant of the transpose is the same.
template <typename T>
double Sign(const T* lu, const int32_t* pivots, int64_t n) {
  double sign = 1;
  for (int64_t i = 0; i < n; ++i) {
    if (pivots[i] != static_cast<int32_t>(i)) sign = -sign;
    const T u = lu[i * n + i];
    sign = u < T(0) ? -sign : u > T(0) ? sign : u == T(0) ? 0 : NAN;
    if (!(sign != 0)) return sign;
  }
  return sign;
}

// out is not lu.
template <typename T>
void InverseOfLu(const T* lu, const int32_t* pivots, T* out, int64_t n) {
  if (n <= kSmallMatrix) return MXNET_CPU_CALL(SmallInverse)(sizeof(T) == 8, lu, pivots, out, n);
  std::fill(out, out + n * n, T(0));
  for (int64_t i = 0; i < n; ++i) out[i * n + i] = T(1);
  SolveRecursiveLu(n, n, lu, pivots, out);
}

}  // namespace

void ThrowTrouble(const KernelArgs& args, int64_t matrix, int64_t place, const char* what) {
  MXNET_THROW(Value) << "[" << Name(args) << "] matrix " << matrix << " of A " << what << " (found at row " << place - 1 << ")";
}

void Cholesky(KernelArgs& args, bool lower, int64_t count, int64_t n, const void* a, void* out) {
  if (args.run.ctx.is_gpu()) return gpu::Cholesky(args, lower, count, n, a, out);
  lapack::CheckSize(Name(args), n);
  Trouble trouble;
  VisitReal(args, [&](auto number) {
    using T = decltype(number);
    Ranges(count, n, static_cast<double>(n * n * n) / 3, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* from = static_cast<const T*>(a) + i * n * n;
        T* to = static_cast<T*>(out) + i * n * n;
        int64_t failed = 0;
        if (n <= kSmallMatrix) {
          failed = MXNET_CPU_CALL(SmallCholesky)(sizeof(T) == 8, lower, from, to, n);
        } else {
          if (to != from) std::copy(from, from + n * n, to);
          failed = BlockedCholesky(lower, n, to);
          lower ? FillUpper(to, n, false) : ClearLower(to, n);
        }
        if (failed) trouble.Add(i, failed);
      }
    });
  });
  trouble.Throw(args, kNotPositive);
}

void CholeskyInverse(KernelArgs& args, bool lower, int64_t count, int64_t n, const void* l, void* out) {
  if (args.run.ctx.is_gpu()) return gpu::CholeskyInverse(args, lower, count, n, l, out);
  lapack::CheckSize(Name(args), n);
  Trouble trouble;
  VisitReal(args, [&](auto number) {
    using T = decltype(number);
    Ranges(count, n, static_cast<double>(n * n * n), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* from = static_cast<const T*>(l) + i * n * n;
        T* to = static_cast<T*>(out) + i * n * n;
        int64_t failed = 0;
        if (!lower) TransposeSquare(n, from, to), from = to;
        if (n <= kSmallMatrix) {
          failed = MXNET_CPU_CALL(SmallCholeskyInverse)(sizeof(T) == 8, from, to, n);
        } else {
          if (to != from) std::copy(from, from + n * n, to);
          failed = InverseOfCholesky(n, to);
          FillUpper(to, n, true);
        }
        if (failed) trouble.Add(i, failed);
      }
    });
  });
  trouble.Throw(args, kSingularFactor);
}

namespace {

/* For each matrix, on some threads: small(wide, triangle, x) for those that own loops are for, else
 * large(triangle, x). */
template <typename Small, typename Large>
void ForTriangles(KernelArgs& args, const SmallSide& side, int64_t count, int64_t m, int64_t n, const void* a, void* x, const Small& small,
                  const Large& large) {
  if (m * n == 0) return;
  lapack::CheckSize(Name(args), std::max(m, n));
  const int64_t order = side.right ? n : m;
  VisitReal(args, [&](auto number) {
    using T = decltype(number);
    Ranges(count, std::max(m, n), static_cast<double>(m * n * order), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* triangle = static_cast<const T*>(a) + i * order * order;
        T* to = static_cast<T*>(x) + i * m * n;
        if (order <= kSmallMatrix && m * n <= kSmallMatrix * kSmallMatrix)
          small(sizeof(T) == 8, triangle, to);
        else
          large(triangle, to);
      }
    });
  });
}

}  // namespace

void SolveTriangle(KernelArgs& args, const SmallSide& side, double alpha, int64_t count, int64_t m, int64_t n, const void* a, void* x) {
  if (args.run.ctx.is_gpu()) return gpu::SolveTriangle(args, side, alpha, count, m, n, a, x);
  ForTriangles(
      args, side, count, m, n, a, x,
      [&](bool wide, const void* triangle, void* to) {
        MXNET_CPU_CALL(SmallSolve)
        (wide, side, alpha, triangle, to, m, n);
      },
      [&](const auto* triangle, auto* to) {
        using T = std::decay_t<decltype(*to)>;
        lapack::Routines<T>::Solve(side, static_cast<T>(alpha), m, n, triangle, to);
      });
}

void MultiplyTriangle(KernelArgs& args, const SmallSide& side, double alpha, int64_t count, int64_t m, int64_t n, const void* a, void* x) {
  if (args.run.ctx.is_gpu()) return gpu::MultiplyTriangle(args, side, alpha, count, m, n, a, x);
  ForTriangles(
      args, side, count, m, n, a, x,
      [&](bool wide, const void* triangle, void* to) {
        MXNET_CPU_CALL(SmallMultiply)
        (wide, side, alpha, triangle, to, m, n);
      },
      [&](const auto* triangle, auto* to) {
        using T = std::decay_t<decltype(*to)>;
        lapack::Routines<T>::Multiply(side, static_cast<T>(alpha), m, n, triangle, to);
      });
}

void Inverse(KernelArgs& args, int64_t count, int64_t n, const void* a, void* out) {
  if (args.run.ctx.is_gpu()) return gpu::Inverse(args, count, n, a, out);
  lapack::CheckSize(Name(args), n);
  Trouble trouble;
  VisitReal(args, [&](auto number) {
    using T = decltype(number);
    Ranges(count, n, 2 * static_cast<double>(n * n * n), [&](int64_t begin, int64_t end) {
      const HostScratch<T> lu(n * n);
      const HostScratch<int32_t> pivots(n);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t singular = LuOf(static_cast<const T*>(a) + i * n * n, lu.get(), pivots.get(), n);
        if (singular)
          trouble.Add(i, singular);
        else
          InverseOfLu(lu.get(), pivots.get(), static_cast<T*>(out) + i * n * n, n);
      }
    });
  });
  trouble.Throw(args, kSingular);
}

namespace {

template <typename T>
bool AllFinite(const T* a, int64_t n) {
  return std::all_of(a, a + n, [](T v) { return std::isfinite(v); });
}

}  // namespace

void SolveGeneral(KernelArgs& args, bool transpose, int64_t count, int64_t n, int64_t k, const void* a, const void* b, void* x) {
  if (args.run.ctx.is_gpu()) return gpu::SolveGeneral(args, transpose, count, n, k, a, b, x);
  lapack::CheckSize(Name(args), std::max(n, k));
  Trouble trouble;
  VisitReal(args, [&](auto number) {
    using T = decltype(number);
    Ranges(n * k == 0 ? 0 : count, std::max(n, k), static_cast<double>(n * n * (n + k)), [&](int64_t begin, int64_t end) {
      const HostScratch<T> lu(n * n), matrix(transpose ? n * n : 0);
      const HostScratch<int32_t> pivots(n);
      for (int64_t i = begin; i < end; ++i) {
        const T *from = static_cast<const T*>(a) + i * n * n, *right = static_cast<const T*>(b) + i * n * k;
        T* to = static_cast<T*>(x) + i * n * k;
        if (transpose) CopyTransposed(n, n, from, n, matrix.get(), n);
        const int64_t singular = LuOf(transpose ? matrix.get() : from, lu.get(), pivots.get(), n);
        if (singular) {
          trouble.Add(i, singular);
        } else {
          if (to != right) std::copy(right, right + n * k, to);
          SolveRecursiveLu(n, k, lu.get(), pivots.get(), to);
        }
      }
    });
  });
  trouble.Throw(args, kSingular);
}

void SingularValues(KernelArgs& args, int64_t count, int64_t m, int64_t n, const void* a, void* u, void* w, void* v) {
  Trouble trouble;
  const int64_t k = std::min(m, n);
  VisitReal(args, [&](auto number) {
    using T = decltype(number);
    lapack::CheckSize(Name(args), std::max({SingularNumbers(m, n), m, n}));
    Ranges(k == 0 ? 0 : count, std::max(m, n), 20 * static_cast<double>(m * n * k), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* from = static_cast<const T*>(a) + i * m * n;
        T *left = u ? static_cast<T*>(u) + i * m * k : nullptr, *right = v ? static_cast<T*>(v) + i * k * n : nullptr;
        T* values = static_cast<T*>(w) + i * k;
        if (!AllFinite(from, m * n)) {  // LAPACK may loop for ever
          std::fill(values, values + k, static_cast<T>(NAN));
          if (u) std::fill(left, left + m * k, static_cast<T>(NAN)), std::fill(right, right + k * n, static_cast<T>(NAN));
          continue;
        }
        const int64_t failed = SingularVectors(m, n, from, left, values, right);
        if (failed) trouble.Add(i, failed);
        for (int64_t r = 0; u && r < k; ++r) {
          T* row = right + r * n;
          if (!(*LargestOf(row, n) < T(0))) continue;
          for (int64_t c = 0; c < n; ++c) row[c] = -row[c];
          for (int64_t c = 0; c < m; ++c) left[c * k + r] = -left[c * k + r];
        }
      }
    });
  });
  trouble.Throw(args, kNoSingular);
}

void EigenGeneral(KernelArgs& args, int64_t count, int64_t n, const void* a, void* w, void* v) {
  Trouble trouble, complex;
  VisitReal(args, [&](auto number) {
    using T = decltype(number);
    const int64_t work_size = n == 0 ? 0 : lapack::Routines<T>::EigenGeneralWork(n, v != nullptr);
    lapack::CheckSize(Name(args), std::max(work_size, n));
    Ranges(n == 0 ? 0 : count, n, 25 * static_cast<double>(n * n * n), [&](int64_t begin, int64_t end) {
      const HostScratch<T> work(work_size), matrix(n * n), vectors(n * n), imaginary(n);
      for (int64_t i = begin; i < end; ++i) {
        const T* from = static_cast<const T*>(a) + i * n * n;
        T* values = static_cast<T*>(w) + i * n;
        if (!AllFinite(from, n * n)) {
          std::fill(values, values + n, static_cast<T>(NAN));
          if (v) std::fill_n(static_cast<T*>(v) + i * n * n, n * n, static_cast<T>(NAN));
          continue;
        }
        CopyTransposed(n, n, from, n, matrix.get(), n);
        const int64_t failed =
            lapack::Routines<T>::EigenGeneral(n, matrix.get(), values, imaginary.get(), v ? vectors.get() : nullptr, work.get(), work_size);
        if (failed) trouble.Add(i, failed);
        for (int64_t r = 0; r < n && !failed; ++r)
          if (imaginary[r] != T(0)) complex.Add(i, r + 1);
        if (v) CopyTransposed(n, n, vectors.get(), n, static_cast<T*>(v) + i * n * n, n);
      }
    });
  });
  trouble.Throw(args, kNotConverged);
  complex.Throw(args, kComplex);
}

void Determinants(KernelArgs& args, int64_t count, int64_t n, const void* a, void* sign, void* det) {
  if (args.run.ctx.is_gpu()) return gpu::Determinants(args, count, n, a, sign, det);
  lapack::CheckSize(Name(args), n);
  VisitReal(args, [&](auto number) {
    using T = decltype(number);
    Ranges(count, n, static_cast<double>(n * n * n) * 2 / 3, [&](int64_t begin, int64_t end) {
      const HostScratch<T> lu(n * n);
      const HostScratch<int32_t> pivots(n);
      for (int64_t i = begin; i < end; ++i) {
        LuOf(static_cast<const T*>(a) + i * n * n, lu.get(), pivots.get(), n);
        double value = Sign(lu.get(), pivots.get(), n);
        if (sign) {
          static_cast<T*>(sign)[i] = static_cast<T>(value);
          value = 0;
        }
        for (int64_t k = 0; k < n; ++k) {
          const double u = std::abs(static_cast<double>(lu[k * n + k]));
          value = sign ? value + std::log(u) : value * u;
        }
        static_cast<T*>(det)[i] = static_cast<T>(value);
      }
    });
  });
}

namespace {

// out = factor times the cofactors of a matrix that may be singular, from a factorization with
// complete pivoting, p a q = l u: with all pivots but the last different from 0, adj(a) is
// q adj(u) l^-1 p times the sign of p and q, and adj(u) needs no division by the last pivot.
template <typename T>
void Cofactors(const T* a, int64_t n, double factor, T* out) {
  std::vector<double> lu(a, a + n * n), w(static_cast<size_t>(n * n), 0.0);
  std::vector<int64_t> p(n), q(n);
  for (int64_t i = 0; i < n; ++i) p[i] = q[i] = i;
  double most = factor;  // the factor, the signs and all pivots but the last
  for (int64_t k = 0; k < n; ++k) {
    int64_t row = k, column = k;
    for (int64_t i = k; i < n; ++i)
      for (int64_t j = k; j < n; ++j)
        if (std::abs(lu[i * n + j]) > std::abs(lu[row * n + column])) row = i, column = j;
    if (row != k) {
      std::swap_ranges(&lu[k * n], &lu[k * n] + n, &lu[row * n]);
      std::swap(p[k], p[row]);
      most = -most;
    }
    if (column != k) {
      for (int64_t i = 0; i < n; ++i) std::swap(lu[i * n + k], lu[i * n + column]);
      std::swap(q[k], q[column]);
      most = -most;
    }
    if (k == n - 1) break;
    const double pivot = lu[k * n + k];
    if (pivot == 0) return static_cast<void>(std::fill(out, out + n * n, T(0)));  // the rank is n - 2 at most
    most *= pivot;
    for (int64_t i = k + 1; i < n; ++i) {
      const double l = lu[i * n + k] /= pivot;
      for (int64_t j = k + 1; j < n; ++j) lu[i * n + j] -= l * lu[k * n + j];
    }
  }
  for (int64_t i = 0; i < n; ++i) {  // l^-1
    w[i * n + i] = 1;
    for (int64_t k = 0; k < i; ++k)
      for (int64_t j = 0; j <= k; ++j) w[i * n + j] -= lu[i * n + k] * w[k * n + j];
  }
  const double last = lu[n * n - 1];
  for (int64_t i = n - 2; i >= 0; --i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = last * w[i * n + j] - lu[i * n + n - 1] * w[(n - 1) * n + j];
      for (int64_t k = i + 1; k < n - 1; ++k) sum -= lu[i * n + k] * w[k * n + j];
      w[i * n + j] = sum / lu[i * n + i];
    }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) out[p[j] * n + q[i]] = static_cast<T>(most * w[i * n + j]);
}

// The last pivots are no more than rounding errors of the first.
template <typename T>
bool NearlySingular(const T* lu, int64_t n) {
  T least = HUGE_VAL, largest = 0;
  for (int64_t k = 0; k < n; ++k) {
    const T u = std::abs(lu[k * n + k]);
    if (!(u == u)) return false;
    least = std::min(least, u), largest = std::max(largest, u);
  }
  return least <= largest * std::numeric_limits<T>::epsilon() * static_cast<T>(4 * n);
}

}  // namespace

void DeterminantGradients(KernelArgs& args, bool logarithm, int64_t count, int64_t n, const void* a, const void* factor, void* out) {
  if (args.run.ctx.is_gpu()) return gpu::DeterminantGradients(args, logarithm, count, n, a, factor, out);
  lapack::CheckSize(Name(args), n);
  VisitReal(args, [&](auto number) {
    using T = decltype(number);
    Ranges(count, n, 3 * static_cast<double>(n * n * n), [&](int64_t begin, int64_t end) {
      const HostScratch<T> lu(n * n), inverse(n * n);
      const HostScratch<int32_t> pivots(n);
      for (int64_t i = begin; i < end; ++i) {
        const T* from = static_cast<const T*>(a) + i * n * n;
        T* to = static_cast<T*>(out) + i * n * n;
        double scale = static_cast<double>(static_cast<const T*>(factor)[i]);
        const int64_t singular = LuOf(from, lu.get(), pivots.get(), n);
        if (logarithm && singular) {
          std::fill(to, to + n * n, T(0));
          continue;
        }
        if (!logarithm && NearlySingular(lu.get(), n)) {
          Cofactors(from, n, scale, to);
          continue;
        }
        if (!logarithm) {
          scale *= Sign(lu.get(), pivots.get(), n);
          for (int64_t k = 0; k < n; ++k) scale *= std::abs(static_cast<double>(lu[k * n + k]));
        }
        InverseOfLu(lu.get(), pivots.get(), inverse.get(), n);
        for (int64_t r = 0; r < n; ++r)
          for (int64_t c = 0; c < n; ++c) to[r * n + c] = static_cast<T>(scale * static_cast<double>(inverse[c * n + r]));
      }
    });
  });
}

void FactorLq(KernelArgs& args, int64_t count, int64_t m, int64_t n, void* q, void* l) {
  if (args.run.ctx.is_gpu()) return gpu::FactorLq(args, count, m, n, q, l);
  lapack::CheckSize(Name(args), n);
  VisitReal(args, [&](auto number) {
    using T = decltype(number);
    const bool small = IsSmallLq(m, n);
    Ranges(m == 0 ? 0 : count, n, 4 * static_cast<double>(m * m * n), [&](int64_t begin, int64_t end) {
      const HostScratch<T> scale(m);
      for (int64_t i = begin; i < end; ++i) {
        T *vectors = static_cast<T*>(q) + i * m * n, *lower = static_cast<T*>(l) + i * m * m;
        if (small) {
          MXNET_CPU_CALL(SmallLq)(sizeof(T) == 8, m, n, vectors, lower);
          continue;
        }
        FactorRows(m, n, vectors, scale.get());
        for (int64_t r = 0; r < m; ++r)
          for (int64_t c = 0; c < m; ++c) lower[r * m + c] = c <= r ? vectors[r * n + c] : T(0);
        RowsOfFactor(m, n, vectors, scale.get());
      }
    });
  });
}

void EigenSymmetric(KernelArgs& args, int64_t count, int64_t n, void* u, void* w, bool vectors) {
  if (args.run.ctx.is_gpu()) return gpu::EigenSymmetric(args, count, n, u, w);
  Trouble trouble;
  VisitReal(args, [&](auto number) {
    using T = decltype(number);
    const bool small = n <= SmallEigenMatrix(Wide(args));  // takes half of syevd's time
    lapack::CheckSize(Name(args), n);
    Ranges(n == 0 ? 0 : count, n, 20 * static_cast<double>(n * n * n), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T *rows = static_cast<T*>(u) + i * n * n, *values = static_cast<T*>(w) + i * n;
        bool finite = true;  // LAPACK may loop for ever over others
        for (int64_t r = 0; r < n; ++r)
          for (int64_t c = 0; c <= r; ++c) finite &= std::isfinite(rows[r * n + c]);
        if (!finite) {
          std::fill(rows, rows + n * n, static_cast<T>(NAN));
          std::fill(values, values + n, static_cast<T>(NAN));
          continue;
        }
        const int64_t failed =
            small ? MXNET_CPU_CALL(SmallEigen)(sizeof(T) == 8, vectors, rows, values, n) : EigenVectors(vectors, n, rows, values);
        if (failed) trouble.Add(i, failed);
        for (int64_t r = 0; vectors && r < n; ++r) {
          T* row = rows + r * n;
          if (*LargestOf(row, n) < T(0))
            for (int64_t c = 0; c < n; ++c) row[c] = -row[c];
        }
      }
    });
  });
  trouble.Throw(args, kNotConverged);
}

// Multiplications that take no longer than the call of the library.
constexpr int64_t kSmallProduct = 128;

template <typename T>
static void SmallSymmetricProduct(bool transpose, T alpha, int64_t n, int64_t k, const T* a, T* out) {
  std::fill(out, out + n * n, T(0));
  const int64_t step = transpose ? n : 1, next = transpose ? 1 : k;  // along a sum, and from sum to sum
  for (int64_t l = 0; l < k; ++l)
    for (int64_t i = 0; i < n; ++i) {
      const T factor = alpha * a[l * step + i * next];
      for (int64_t j = 0; j <= i; ++j) out[i * n + j] += factor * a[l * step + j * next];
    }
}

void SymmetricProduct(KernelArgs& args, bool transpose, double alpha, int64_t count, int64_t rows, int64_t columns, const void* a,
                      void* out) {
  if (args.run.ctx.is_gpu()) return gpu::SymmetricProduct(args, transpose, alpha, count, rows, columns, a, out);
  const int64_t n = transpose ? columns : rows, k = transpose ? rows : columns;
  lapack::CheckSize(Name(args), std::max(n, k));
  VisitReal(args, [&](auto number) {
    using T = decltype(number);
    Ranges(n == 0 ? 0 : count, std::max(n, k), static_cast<double>(n * n * k), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T* to = static_cast<T*>(out) + i * n * n;
        const T* from = static_cast<const T*>(a) + i * n * k;
        if (n * n * k <= kSmallProduct)  // 0 too
          SmallSymmetricProduct(transpose, static_cast<T>(alpha), n, k, from, to);
        else
          lapack::Routines<T>::SymmetricProduct(transpose, static_cast<T>(alpha), n, k, from, to);
        FillUpper(to, n, true);
      }
    });
  });
}

}  // namespace linalg
}  // namespace mxnet
