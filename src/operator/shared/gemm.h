/*
 * Dense matrix products on the CPU: C = alpha * op(A) * op(B) + beta * C, row-major, op(X) = X or
 * its transpose. float32 runs in oneDNN when it is linked and MXNET_ONEDNN_ENABLED=1, in OpenBLAS
 * otherwise; float64 always in OpenBLAS. m, n or k of 0 are allowed (k = 0 scales C). Throws
 * Error(kValue) when a size exceeds what the library counts with.
 */
#ifndef MXNET_OPERATOR_SHARED_GEMM_H_
#define MXNET_OPERATOR_SHARED_GEMM_H_

#include <cstdint>

namespace mxnet {

void Gemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, float alpha, const float* a, int64_t lda, const float* b,
          int64_t ldb, float beta, float* c, int64_t ldc);
void Gemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, double alpha, const double* a, int64_t lda, const double* b,
          int64_t ldb, double beta, double* c, int64_t ldc);

/* Without gaps between rows. */
template <typename T>
void Gemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, const T* a, const T* b, T beta, T* c) {
  Gemm(trans_a, trans_b, m, n, k, T(1), a, trans_a ? m : k, b, trans_b ? k : n, beta, c, n);
}

namespace detail {
/* Set by gemm_onednn.cc when that file is linked. Returns false when it does not take the case. */
using SgemmFn = bool (*)(bool, bool, int64_t, int64_t, int64_t, float, const float*, int64_t, const float*, int64_t, float, float*,
                         int64_t);
extern SgemmFn g_onednn_sgemm;
}  // namespace detail

}  // namespace mxnet
#endif  // MXNET_OPERATOR_SHARED_GEMM_H_
