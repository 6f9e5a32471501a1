/* Products of float32 matrices with packed ones, for several instruction sets. */
#ifndef MXNET_OPERATOR_SHARED_PANEL_GEMM_H_
#define MXNET_OPERATOR_SHARED_PANEL_GEMM_H_

#include <cstdint>

#include "base/cpu_dispatch.h"
#include "base/round_up.h"

namespace mxnet {

/*
 * Packed matrices B(k, n): columns are padded to a multiple of kPackColumns; the columns from a
 * multiple of kPackColumns on begin at that column times k. What lies between depends on the
 * instruction set, so packing and product must be of one run.
 */
constexpr int64_t kPackColumns = 32;
inline int64_t PackedColumns(int64_t n) { return RoundUp(n, kPackColumns); }
inline int64_t PackedSize(int64_t n, int64_t k) { return PackedColumns(n) * k; }

MXNET_CPU_DECLARE(
    /* B(kk, j) = b[kk * ld + j], or b[j * ld + kk] if transposed. */
    void PackColumns(bool transposed, int64_t n, int64_t k, const float* b, int64_t ld, float* packed);
    /* C(m, n) = A(m, k) B(k, n), to which `add` adds what C was. */
    void PackedGemm(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* packed, float* c, int64_t ldc, bool add);
    /* C(m, n) = A(m, k) B(k, n) with A(i, kk) = a[kk * lda + i] and B(kk, j) = b[kk * ldb + j], to
     * which `add` adds what C was. */
    void TransposedGemm(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc,
                        bool add);
    /* C_g(m, n) += A(m, k) B_g(k, n) for all gates g: B_g lies at packed + g * gate_size, C_g at
     * c + g * gate_columns. */
    void PackedGates(int64_t m, int64_t n, int64_t k, int64_t gates, const float* a, int64_t lda, const float* packed, int64_t gate_size,
                     float* c, int64_t ldc, int64_t gate_columns);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_SHARED_PANEL_GEMM_H_
