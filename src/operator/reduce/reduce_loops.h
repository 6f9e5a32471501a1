/*
 * Serial reduction loops, one set per fold of folds.cuh and compute type (pointwise::kF32, kF64,
 * kI64).
 * Without safe accumulation, partial results of float are gathered in double every few hundred
 * elements, so errors do not grow with the length.
 */
#ifndef MXNET_OPERATOR_REDUCE_REDUCE_LOOPS_H_
#define MXNET_OPERATOR_REDUCE_REDUCE_LOOPS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"
#include "operator/reduce/table.h"

namespace mxnet {
namespace reduce {

struct Loops {
  /* acc[r] = merge(acc[r], all of x[r * n .. r * n + n)) for r < rows; acc is double (int64_t for
   * kI64). */
  void (*rows)(const void* x, int64_t rows, int64_t n, void* acc);
  /* part[j] = merge(part[j], x[r * stride + j]) for r < rows, j < n; part is of the type
   * accumulated in. */
  void (*columns)(const void* x, int64_t rows, int64_t stride, int64_t n, void* part);
  /* acc[j] = merge(acc[j], part[j]), then part[j] = the neutral element. */
  void (*flush)(void* part, void* acc, int64_t n);
  /* *acc = merge(*acc, all of parts[0 .. n)); parts are accumulators. */
  void (*merged)(const void* parts, int64_t n, void* acc);
  /* acc[j] = the neutral element, for acc and (when not null) part. */
  void (*start)(void* part, void* acc, int64_t n);
};

}  // namespace reduce

// compute: 0 float, 1 double, 2 int64, 3 float data accumulated in double from the first addition
// on
MXNET_CPU_DECLARE(const reduce::Loops* ReduceLoops(int kind, int compute);
                  /* kSum, kMax, kMin, kAny or kAll of n > 0 bools, int8 (`is_signed`) or uint8. */
                  int64_t FoldBytes(int kind, bool is_signed, const void* data, int64_t n);
                  /* kAny or kAll of each of n columns of rows > 0 rows of bytes, as 1 or 0. */
                  void FoldByteColumns(int kind, const void* data, int64_t rows, int64_t stride, int64_t n, uint8_t* folded);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_REDUCE_REDUCE_LOOPS_H_
