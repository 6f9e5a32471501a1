/* Loops over 8-bit integers and what they are made of and become. */
#ifndef MXNET_OPERATOR_QUANTIZED_BYTES_H_
#define MXNET_OPERATOR_QUANTIZED_BYTES_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {

/* Where a loop writes 8-bit integers: what is below or above is cut. */
struct ByteLimits {
  float low, high;
};

/*
 * Rounding is to the nearest whole number, ties to the even one; NaN gives 0 and what is beyond the
 * limits is cut to them. `is_unsigned`: bytes are uint8, else int8.
 *
 * ToBytes: x * scale + shift. SumsToBytes: x * scale. BytesToFloats: x * scale, where shift is
 * taken off before. BytesToBytes: x * scale + shift; ScaleColumns: with a scale and a shift for
 * each. ColumnExtremes: low and high become the least and the greatest of what they are and x.
 * AddBytes: a * a_scale + b * b_scale; AddWide the same as int32. MultiplyBytes: products, exact.
 * ProductsToBytes: products * scale, cut towards zero. PositiveBytes: the larger of x and 0.
 * AddToSums: sums + add, cut to int32. Extremes: the least and the greatest of numbers that are no
 * NaN; low and high are looked at first. LargestSum: the largest magnitude. MaxBytes: the larger
 * one of each pair; x may begin behind `greatest` in the same array. SumLines: of n numbers of each
 * line, of which there is one at least. WordMeans: sum of `count` sums, `apart` from each other,
 * from each of n on, divided by how many `numbers` that adds, which is odd or a power of two and at
 * most 128.
 */
MXNET_CPU_DECLARE(
    void ToBytes(const float* x, float scale, float shift, ByteLimits limits, int64_t n, void* out);
    void SumsToBytes(const int32_t* x, float scale, ByteLimits limits, int64_t n, void* out);
    void BytesToFloats(const void* x, bool is_unsigned, float shift, float scale, int64_t n, float* out);
    void BytesToBytes(const void* x, bool is_unsigned, float scale, float shift, ByteLimits limits, int64_t n, void* out);
    void ScaleColumns(const void* x, bool is_unsigned, const float* scale, const float* shift, ByteLimits limits, int64_t n, void* out);
    void ColumnExtremes(const void* x, bool is_unsigned, int64_t n, int32_t* low, int32_t* high);
    void AddBytes(const void* a, bool a_unsigned, float a_scale, const void* b, bool b_unsigned, float b_scale, ByteLimits limits,
                  int64_t n, void* out);
    void AddWide(const void* a, bool a_unsigned, double a_scale, const void* b, bool b_unsigned, double b_scale, int64_t n, int32_t* out);
    void MultiplyBytes(const void* a, bool a_unsigned, const void* b, bool b_unsigned, int64_t n, int32_t* out);
    void ProductsToBytes(const void* a, bool a_unsigned, const void* b, bool b_unsigned, float scale, ByteLimits limits, int64_t n,
                         void* out);
    void ProductsToFloats(const void* a, bool a_unsigned, const void* b, bool b_unsigned, float scale, int64_t n, float* out);
    void PositiveBytes(const int8_t* x, int64_t n, int8_t* out); void AddToSums(const int32_t* add, int64_t n, int32_t* sums);
    void AddToRow(int32_t add, int64_t n, int32_t* sums); void Extremes(const float* x, int64_t n, float* low, float* high);
    void ByteExtremes(const void* x, bool is_unsigned, int64_t n, int* low, int* high); int64_t LargestOfSums(const int32_t* x, int64_t n);
    void MaxBytes(const void* x, bool is_unsigned, int64_t n, void* greatest);
    void SumLines(const char* const* lines, int64_t count, bool is_unsigned, int64_t n, int16_t* sums);
    void WordMeans(const int16_t* x, int64_t count, int64_t apart, int64_t numbers, bool is_unsigned, int64_t n, void* out);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_BYTES_H_
