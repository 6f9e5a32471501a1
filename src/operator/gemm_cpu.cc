// Matrix products through OpenBLAS, and the choice between it and oneDNN.
#include "operator/gemm.h"

#include <cblas.h>

#include <algorithm>
#include <limits>

#include "mxnet/env.h"
#include "mxnet/error.h"

namespace mxnet {
namespace detail {
SgemmFn g_onednn_sgemm = nullptr;
}

namespace {
template <typename T>
void Scale(int64_t m, int64_t n, T beta, T* c, int64_t ldc) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) c[i * ldc + j] = beta == T(0) ? T(0) : beta * c[i * ldc + j];
}

blasint Int(int64_t v) {
  MXNET_CHECK_KIND(v <= std::numeric_limits<blasint>::max(), Value) << "[gemm] size " << v << "; the BLAS library takes at most "
                                                                   << std::numeric_limits<blasint>::max();
  return static_cast<blasint>(std::max<int64_t>(v, 1));
}
}  // namespace

void Gemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, float alpha, const float* a, int64_t lda, const float* b, int64_t ldb, float beta,
          float* c, int64_t ldc) {
  if (m <= 0 || n <= 0) return;
  if (k <= 0) return Scale(m, n, beta, c, ldc);
  if (detail::g_onednn_sgemm && Env::Get().onednn_enabled && detail::g_onednn_sgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)) return;
  cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, Int(m), Int(n), Int(k), alpha, a, Int(lda), b,
              Int(ldb), beta, c, Int(ldc));
}

void Gemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, double alpha, const double* a, int64_t lda, const double* b, int64_t ldb, double beta,
          double* c, int64_t ldc) {
  if (m <= 0 || n <= 0) return;
  if (k <= 0) return Scale(m, n, beta, c, ldc);
  cblas_dgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, Int(m), Int(n), Int(k), alpha, a, Int(lda), b,
              Int(ldb), beta, c, Int(ldc));
}

}  // namespace mxnet
