/* Loops over 8-bit integers with zero points. */
#ifndef MXNET_OPERATOR_QUANTIZED_FUSED_INTEGER_LOOPS_H_
#define MXNET_OPERATOR_QUANTIZED_FUSED_INTEGER_LOOPS_H_

#include "operator/quantized/bytes.h"

namespace mxnet {

/* (a - a_zero) * a_scale + (b - b_zero) * b_scale + shift, or (a - a_zero) (b - b_zero) * scale +
 * shift, each operation rounded. */
struct BytePair {
  const void *a, *b;
  bool a_unsigned, b_unsigned;
  float a_scale, b_scale;  // of sums
  float a_zero, b_zero;
  float shift;
  int zero;  // what is added behind the rounding; before it an odd one sends ties elsewhere
};

/* low and high: of whole numbers, less the zero point. */
struct IntegerSteps {
  float scale, low, high;
};

/*
 * All round to the nearest whole number, ties to the even one, and cut to the limits.
 * DivideToBytes: x / scale, rounded, + zero; NaN gives the lowest. AddPairs,
 * MultiplyPairs: BytePair.
 * LookUp: table[x] of bytes as they lie in memory. AddColumns: sums[j] += x[i * n + j] over `rows`
 * rows; SumBytes: the sum of n bytes.
 * RoundToSteps: x / scale, rounded and cut, * scale. PassInSteps: `grad`, and 0 where it is cut.
 */
MXNET_CPU_DECLARE(void DivideToBytes(const float* x, float scale, float zero, ByteLimits limits, int64_t n, void* out);
                  void AddPairs(const BytePair& p, ByteLimits limits, int64_t n, void* out);
                  void MultiplyPairs(const BytePair& p, float scale, ByteLimits limits, int64_t n, void* out);
                  void LookUp(const uint8_t* x, const uint8_t* table, int64_t n, uint8_t* out);
                  void AddColumns(const void* x, bool is_unsigned, int64_t rows, int64_t n, int32_t* sums);
                  int32_t SumBytes(const void* x, bool is_unsigned, int64_t n);
                  void RoundToSteps(const float* x, const IntegerSteps& steps, int64_t n, float* out);
                  void PassInSteps(const float* grad, const float* x, const IntegerSteps& steps, int64_t n, float* out);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_FUSED_INTEGER_LOOPS_H_
