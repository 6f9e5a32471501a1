/* Products of matrices of 8-bit integers, with sums that are exact. */
#ifndef MXNET_OPERATOR_QUANTIZED_INTGEMM_H_
#define MXNET_OPERATOR_QUANTIZED_INTGEMM_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {

/*
 * LargestMagnitude: the largest |x[i]| that is a number; 0 of none. QuantizeBytes: the nearest
 * whole numbers to x * scale in [-127, 127], ties to the even one, 0 for NaN. WidenBytes: the same
 * numbers (int8, or uint8) in 16 bits. MultiplyRows: sums[i * pitch + j] = the dot product of rows
 * i of a and j of b, of k numbers each; up to 2^16 of them, whose sum fits.
 */
MXNET_CPU_DECLARE(float LargestMagnitude(const float* x, int64_t n);
                  void QuantizeBytes(const float* x, float scale, int64_t n, int8_t* out);
                  void WidenBytes(const void* x, bool is_unsigned, int64_t n, int16_t* out);
                  void MultiplyRows(const int16_t* a, int64_t rows, int64_t a_pitch, const int16_t* b, int64_t columns, int64_t b_pitch,
                                    int64_t k, int32_t* sums, int64_t pitch);)

namespace detail {
/* oneDNN's c (m, n) = a (m, k) * b (n, k)^T, exact, where that library and the processor have it;
 * else null. a is int8, or uint8. REQUIRES: k <= 2^16. */
extern bool (*g_onednn_byte_product)(int64_t m, int64_t n, int64_t k, const void* a, bool a_unsigned, const int8_t* b, int32_t* c);
}  // namespace detail

}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_INTGEMM_H_
