#include "operator/linalg/lapack.h"

#include <cblas.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "base/omp.h"
#include "mxnet/env.h"
#include "mxnet/error.h"
#include "operator/blas_threads.h"

// Fortran's interface: everything by address, then the lengths of the texts.
#define MXNET_LAPACK(T, p)                                                                                                            \
  void p##potrf_(const char*, const int*, T*, const int*, int*, size_t);                                                              \
  void p##potri_(const char*, const int*, T*, const int*, int*, size_t);                                                              \
  void p##getrf_(const int*, const int*, T*, const int*, int*, int*);                                                                 \
  void p##getrs_(const char*, const int*, const int*, const T*, const int*, const int*, T*, const int*, int*, size_t);                \
  void p##geqrf_(const int*, const int*, T*, const int*, T*, T*, const int*, int*);                                                   \
  void p##orgqr_(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*, int*);                                 \
  void p##syevd_(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, int*, const int*, int*, size_t, size_t);   \
  void p##gesdd_(const char*, const int*, const int*, T*, const int*, T*, T*, const int*, T*, const int*, T*, const int*, int*, int*, \
                 size_t);                                                                                                             \
  void p##geev_(const char*, const char*, const int*, T*, const int*, T*, T*, T*, const int*, T*, const int*, T*, const int*, int*,   \
                size_t, size_t);                                                                                                      \
  void p##gelsd_(const int*, const int*, const int*, T*, const int*, T*, const int*, T*, const T*, int*, T*, const int*, int*, int*);
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

// Routines that alternate between short products and work of one thread, on matrices of up to this
// order: the library's threads wait longer for a processor (blas_threads.h) than they save. Twice
// as fast at 512, equal at 700.
class FewThreads {
 public:
  explicit FewThreads(int64_t order) {
    SettleBlasThreads();
    if (order <= 640) alone_.emplace();
  }

 private:
  std::optional<OneBlasThread> alone_;
};

// A call of the library for each thread that other operators use, too, on some of the rows or
// columns, which do not depend on each other.
template <typename Part>
void ShareLines(int64_t lines, double flops, const Part& part) {
  constexpr int64_t least = 32;  // lines of a thread
  SettleBlasThreads();
  const int64_t threads = Env::Get().enforce_determinism ? 1 : std::min<int64_t>(OmpThreadsForFlops(flops), lines / least);
  if (threads <= 1) return part(int64_t{0}, lines);
  const OneBlasThread alone;
  ParallelForThreads(static_cast<int>(threads), lines, part);
}

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
  int64_t Routines<T>::Cholesky(bool lower, int64_t n, T* a) {                                                                             \
    SettleBlasThreads();                                                                                                                   \
    int size = Int(n), lead = Lead(n), info = 0;                                                                                           \
    p##potrf_(lower ? "U" : "L", &size, a, &lead, &info, 1);                                                                               \
    return info;                                                                                                                           \
  }                                                                                                                                        \
  template <>                                                                                                                              \
  int64_t Routines<T>::CholeskyInverse(int64_t n, T* l) {                                                                                  \
    SettleBlasThreads();                                                                                                                   \
    int size = Int(n), lead = Lead(n), info = 0;                                                                                           \
    p##potri_("U", &size, l, &lead, &info, 1);                                                                                             \
    return info;                                                                                                                           \
  }                                                                                                                                        \
  template <>                                                                                                                              \
  int64_t Routines<T>::Lu(int64_t n, T* a, int32_t* pivots) {                                                                              \
    SettleBlasThreads();                                                                                                                   \
    int size = Int(n), lead = Lead(n), info = 0;                                                                                           \
    p##getrf_(&size, &size, a, &lead, pivots, &info);                                                                                      \
    return info;                                                                                                                           \
  }                                                                                                                                        \
  template <>                                                                                                                              \
  void Routines<T>::Inverse(int64_t n, const T* lu, const int32_t* pivots, T* out) {                                                       \
    SettleBlasThreads();                                                                                                                   \
    int size = Int(n), lead = Lead(n), info = 0;                                                                                           \
    p##getrs_("N", &size, &size, lu, &lead, pivots, out, &lead, &info, 1);                                                                 \
    MXNET_CHECK(info == 0) << "[linalg] getrs does not take argument " << -info;                                                           \
  }                                                                                                                                        \
  template <>                                                                                                                              \
  int64_t Routines<T>::LqWork(int64_t rows, int64_t columns) {                                                                             \
    int m = Int(columns), n = Int(rows), lead = Lead(columns), info = 0, query = -1;                                                       \
    T first = 0, second = 0;                                                                                                               \
    p##geqrf_(&m, &n, nullptr, &lead, nullptr, &first, &query, &info);                                                                     \
    p##orgqr_(&m, &n, &n, nullptr, &lead, nullptr, &second, &query, &info);                                                                \
    return std::max<int64_t>(static_cast<int64_t>(std::max(first, second)), std::max<int64_t>(rows, 1));                                   \
  }                                                                                                                                        \
  template <>                                                                                                                              \
  void Routines<T>::Lq(int64_t rows, int64_t columns, T* a, T* scale, T* work, int64_t work_size) {                                        \
    const FewThreads few(std::max(rows, columns));                                                                                         \
    int m = Int(columns), n = Int(rows), lead = Lead(columns), info = 0, given = Int(work_size);                                           \
    p##geqrf_(&m, &n, a, &lead, scale, work, &given, &info);                                                                               \
    MXNET_CHECK(info == 0) << "[linalg] geqrf does not take argument " << -info;                                                           \
  }                                                                                                                                        \
  template <>                                                                                                                              \
  void Routines<T>::LqVectors(int64_t rows, int64_t columns, T* a, const T* scale, T* work, int64_t work_size) {                           \
    const FewThreads few(std::max(rows, columns));                                                                                         \
    int m = Int(columns), n = Int(rows), lead = Lead(columns), info = 0, given = Int(work_size);                                           \
    p##orgqr_(&m, &n, &n, a, &lead, scale, work, &given, &info);                                                                           \
    MXNET_CHECK(info == 0) << "[linalg] orgqr does not take argument " << -info;                                                           \
  }                                                                                                                                        \
  template <>                                                                                                                              \
  int64_t Routines<T>::Eigen(bool vectors, int64_t n, T* a, T* w, T* work, int64_t work_size, int32_t* integers, int64_t integers_size) {  \
    const FewThreads few(n);                                                                                                               \
    int size = Int(n), lead = Lead(n), info = 0, given = Int(work_size), whole = Int(integers_size);                                       \
    p##syevd_(vectors ? "V" : "N", "U", &size, a, &lead, w, work, &given, integers, &whole, &info, 1, 1);                                  \
    return info;                                                                                                                           \
  }                                                                                                                                        \
  template <>                                                                                                                              \
  void Routines<T>::SolveLu(int64_t n, int64_t columns, const T* lu, const int32_t* pivots, T* x) {                                        \
    SettleBlasThreads();                                                                                                                   \
    int size = Int(n), many = Int(columns), lead = Lead(n), info = 0;                                                                      \
    p##getrs_("T", &size, &many, lu, &lead, pivots, x, &lead, &info, 1);                                                                   \
    MXNET_CHECK(info == 0) << "[linalg] getrs does not take argument " << -info;                                                           \
  }                                                                                                                                        \
  template <>                                                                                                                              \
  int64_t Routines<T>::SingularWork(int64_t m, int64_t n, bool vectors) {                                                                  \
    int rows = Int(n), columns = Int(m), lead = Lead(n), k = Int(std::min(m, n)), lead_k = Lead(k), info = 0, query = -1, none = 0;        \
    T size = 0;                                                                                                                            \
    p##gesdd_(vectors ? "S" : "N", &rows, &columns, nullptr, &lead, nullptr, nullptr, &lead, nullptr, &lead_k, &size, &query, &none,       \
              &info, 1);                                                                                                                   \
    return std::max<int64_t>(WorkSize(static_cast<double>(size)), 1);                                                                      \
  }                                                                                                                                        \
  template <>                                                                                                                              \
  int64_t Routines<T>::Singular(int64_t m, int64_t n, T* a, T* w, T* u, T* v, T* work, int64_t work_size, int32_t* integers) {             \
    SettleBlasThreads();                                                                                                                   \
    int rows = Int(n), columns = Int(m), lead = Lead(n), lead_k = Lead(std::min(m, n)), info = 0, given = Int(work_size);                  \
    p##gesdd_(u ? "S" : "N", &rows, &columns, a, &lead, w, v, &lead, u, &lead_k, work, &given, integers, &info, 1);                        \
    return info;                                                                                                                           \
  }                                                                                                                                        \
  template <>                                                                                                                              \
  int64_t Routines<T>::EigenGeneralWork(int64_t n, bool vectors) {                                                                         \
    int size = Int(n), lead = Lead(n), info = 0, query = -1;                                                                               \
    T wanted = 0;                                                                                                                          \
    p##geev_("N", vectors ? "V" : "N", &size, nullptr, &lead, nullptr, nullptr, nullptr, &lead, nullptr, &lead, &wanted, &query, &info, 1, \
             1);                                                                                                                           \
    return std::max<int64_t>(WorkSize(static_cast<double>(wanted)), 1);                                                                    \
  }                                                                                                                                        \
  template <>                                                                                                                              \
  int64_t Routines<T>::EigenGeneral(int64_t n, T* a, T* real, T* imaginary, T* vectors, T* work, int64_t work_size) {                      \
    SettleBlasThreads();                                                                                                                   \
    int size = Int(n), lead = Lead(n), info = 0, given = Int(work_size);                                                                   \
    p##geev_("N", vectors ? "V" : "N", &size, a, &lead, real, imaginary, nullptr, &lead, vectors, &lead, work, &given, &info, 1, 1);       \
    return info;                                                                                                                           \
  }                                                                                                                                        \
  template <>                                                                                                                              \
  int64_t Routines<T>::LeastSquares(int64_t m, int64_t n, int64_t columns, T* a, T* b, T* w, T rcond, int64_t* rank) {                     \
    SettleBlasThreads();                                                                                                                   \
    int rows = Int(m), size = Int(n), many = Int(columns), lead = Lead(m), lead_b = Lead(std::max(m, n)), found = 0, info = 0, query = -1; \
    T wanted = 0;                                                                                                                          \
    int integers_wanted = 0;                                                                                                               \
    p##gelsd_(&rows, &size, &many, a, &lead, b, &lead_b, w, &rcond, &found, &wanted, &query, &integers_wanted, &info);                     \
    int given = Int(std::max<int64_t>(WorkSize(static_cast<double>(wanted)), 1));                                                          \
    std::vector<T> work(static_cast<size_t>(given));                                                                                       \
    std::vector<int> integers(static_cast<size_t>(std::max(integers_wanted, 1)));                                                          \
    p##gelsd_(&rows, &size, &many, a, &lead, b, &lead_b, w, &rcond, &found, work.data(), &given, integers.data(), &info);                  \
    *rank = found;                                                                                                                         \
    return info;                                                                                                                           \
  }                                                                                                                                        \
  template <>                                                                                                                              \
  void Routines<T>::Solve(const SmallSide& s, T alpha, int64_t m, int64_t n, const T* a, T* x) {                                           \
    ShareTriangle(s, m, n, [&](int64_t first, int rows, int columns) {                                                                     \
      cblas_##p##trsm(CblasRowMajor, s.right ? CblasRight : CblasLeft, Uplo(s.lower), Trans(s.transpose), CblasNonUnit, rows, columns,     \
                      alpha, a, Lead(s.right ? n : m), x + first, Lead(n));                                                                \
    });                                                                                                                                    \
  }                                                                                                                                        \
  template <>                                                                                                                              \
  void Routines<T>::Multiply(const SmallSide& s, T alpha, int64_t m, int64_t n, const T* a, T* x) {                                        \
    ShareTriangle(s, m, n, [&](int64_t first, int rows, int columns) {                                                                     \
      cblas_##p##trmm(CblasRowMajor, s.right ? CblasRight : CblasLeft, Uplo(s.lower), Trans(s.transpose), CblasNonUnit, rows, columns,     \
                      alpha, a, Lead(s.right ? n : m), x + first, Lead(n));                                                                \
    });                                                                                                                                    \
  }                                                                                                                                        \
  template <>                                                                                                                              \
  void Routines<T>::SymmetricProduct(bool transpose, T alpha, int64_t n, int64_t k, const T* a, T* out) {                                  \
    SettleBlasThreads();                                                                                                                   \
    cblas_##p##syrk(CblasRowMajor, CblasLower, Trans(transpose), Int(n), Int(k), alpha, a, Lead(transpose ? n : k), T(0), out, Lead(n));   \
  }
MXNET_ROUTINES(float, s)
MXNET_ROUTINES(double, d)

}  // namespace lapack
}  // namespace mxnet
