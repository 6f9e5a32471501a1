#include "operator/linalg/factors/lapack.h"

#include <cblas.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "mxnet/error.h"
#include "operator/shared/blas_threads.h"
#include "operator/shared/host_scratch.h"

// Fortran's interface: everything by address, then the lengths of the texts.
#define MXNET_LAPACK(T, p)                                                                                                                \
  void p##bdsdc_(const char*, const char*, const int*, T*, T*, T*, const int*, T*, const int*, T*, int*, T*, int*, int*, size_t, size_t); \
  void p##sterf_(const int*, T*, T*, int*);                                                                                               \
  void p##geev_(const char*, const char*, const int*, T*, const int*, T*, T*, T*, const int*, T*, const int*, T*, const int*, int*,       \
                size_t, size_t);
extern "C" {
MXNET_LAPACK(float, s)
MXNET_LAPACK(double, d)
}

namespace mxnet {
namespace lapack {
namespace {

int Int(int64_t v) { return static_cast<int>(std::min<int64_t>(v, std::numeric_limits<int>::max())); }
// The leading dimension of nothing is 1.
int Lead(int64_t v) { return std::max(Int(v), 1); }

// What a query of LAPACK answers; float32 rounds large numbers, perhaps down.
int64_t WorkSize(double answer) { return static_cast<int64_t>(answer * (1 + 1e-6)) + 1; }

CBLAS_UPLO Uplo(bool lower) { return lower ? CblasLower : CblasUpper; }
CBLAS_TRANSPOSE Trans(bool transpose) { return transpose ? CblasTrans : CblasNoTrans; }

// Products with triangular matrices, and their systems of equations: columns of x are independent
// of each other, or rows where the triangle stands on the right.
template <typename Call>
void ShareTriangle(const SmallSide& s, int64_t m, int64_t n, const Call& call) {
  const double flops = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(s.right ? n : m);
  ShareLines(s.right ? m : n, flops, [&](int64_t begin, int64_t end) {
    if (s.right)
      call(begin * n, Int(end - begin), Int(n));
    else
      call(begin, Int(m), Int(end - begin));
  });
}

}  // namespace

void CheckSize(const char* op, int64_t size) {
  MXNET_CHECK_KIND(size <= std::numeric_limits<int>::max(), Value)
      << "[" << op << "] a matrix needs sizes up to " << size << "; LAPACK takes at most " << std::numeric_limits<int>::max();
}

#define MXNET_ROUTINES(T, p)                                                                                                               \
  template <>                                                                                                                              \
  int64_t Routines<T>::EigenValues(int64_t n, T* diagonal, T* beside) {                                                                    \
    int size = Int(n), info = 0;                                                                                                           \
    const BlasCall call;                                                                                                                   \
    p##sterf_(&size, diagonal, beside, &info);                                                                                             \
    return info;                                                                                                                           \
  }                                                                                                                                        \
  template <>                                                                                                                              \
  int64_t Routines<T>::SingularBidiagonal(int64_t n, T* diagonal, T* beside, T* left, T* right) {                                          \
    int size = Int(n), lead = Lead(n), info = 0;                                                                                           \
    HostScratch<T> work(3 * n * n * (left != nullptr) + 4 * n);                                                                            \
    std::vector<int> integers(static_cast<size_t>(8 * n));                                                                                 \
    const BlasCall call;                                                                                                                   \
    p##bdsdc_("U", left ? "I" : "N", &size, diagonal, beside, left, &lead, right, &lead, nullptr, nullptr, work.get(), integers.data(),    \
              &info, 1, 1);                                                                                                                \
    return info;                                                                                                                           \
  }                                                                                                                                        \
  template <>                                                                                                                              \
  int64_t Routines<T>::EigenGeneralWork(int64_t n, bool vectors) {                                                                         \
    int size = Int(n), lead = Lead(n), info = 0, query = -1;                                                                               \
    T wanted = 0;                                                                                                                          \
    const BlasCall call;                                                                                                                   \
    p##geev_("N", vectors ? "V" : "N", &size, nullptr, &lead, nullptr, nullptr, nullptr, &lead, nullptr, &lead, &wanted, &query, &info, 1, \
             1);                                                                                                                           \
    return std::max<int64_t>(WorkSize(static_cast<double>(wanted)), 1);                                                                    \
  }                                                                                                                                        \
  template <>                                                                                                                              \
  int64_t Routines<T>::EigenGeneral(int64_t n, T* a, T* real, T* imaginary, T* vectors, T* work, int64_t work_size) {                      \
    SettleBlasThreads();                                                                                                                   \
    int size = Int(n), lead = Lead(n), info = 0, given = Int(work_size);                                                                   \
    const BlasCall call;                                                                                                                   \
    p##geev_("N", vectors ? "V" : "N", &size, a, &lead, real, imaginary, nullptr, &lead, vectors, &lead, work, &given, &info, 1, 1);       \
    return info;                                                                                                                           \
  }                                                                                                                                        \
  template <>                                                                                                                              \
  void Routines<T>::Solve(const SmallSide& s, T alpha, int64_t m, int64_t n, const T* a, T* x) {                                           \
    ShareTriangle(s, m, n, [&](int64_t first, int rows, int columns) {                                                                     \
      const BlasCall call;                                                                                                                 \
      cblas_##p##trsm(CblasRowMajor, s.right ? CblasRight : CblasLeft, Uplo(s.lower), Trans(s.transpose), CblasNonUnit, rows, columns,     \
                      alpha, a, Lead(s.right ? n : m), x + first, Lead(n));                                                                \
    });                                                                                                                                    \
  }                                                                                                                                        \
  template <>                                                                                                                              \
  void Routines<T>::Multiply(const SmallSide& s, T alpha, int64_t m, int64_t n, const T* a, T* x) {                                        \
    ShareTriangle(s, m, n, [&](int64_t first, int rows, int columns) {                                                                     \
      const BlasCall call;                                                                                                                 \
      cblas_##p##trmm(CblasRowMajor, s.right ? CblasRight : CblasLeft, Uplo(s.lower), Trans(s.transpose), CblasNonUnit, rows, columns,     \
                      alpha, a, Lead(s.right ? n : m), x + first, Lead(n));                                                                \
    });                                                                                                                                    \
  }                                                                                                                                        \
  template <>                                                                                                                              \
  void Routines<T>::SymmetricProduct(bool transpose, T alpha, int64_t n, int64_t k, const T* a, T* out) {                                  \
    SettleBlasThreads();                                                                                                                   \
    const BlasCall call;                                                                                                                   \
    cblas_##p##syrk(CblasRowMajor, CblasLower, Trans(transpose), Int(n), Int(k), alpha, a, Lead(transpose ? n : k), T(0), out, Lead(n));   \
  }
MXNET_ROUTINES(float, s)
MXNET_ROUTINES(double, d)

}  // namespace lapack
}  // namespace mxnet
