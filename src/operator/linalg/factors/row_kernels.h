/*
 * Kernels along the rows of one matrix, for factorizations in blocks. `wide`: double, else float;
 * rows are `pitch` numbers apart. Loops are fastest from a row's number that is a multiple of
 * kRowStep, where rows are RowPitch apart: a load that crosses a cache line takes twice the time.
 */
#ifndef MXNET_OPERATOR_LINALG_FACTORS_ROW_KERNELS_H_
#define MXNET_OPERATOR_LINALG_FACTORS_ROW_KERNELS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"
#include "base/round_up.h"

namespace mxnet {
namespace linalg {

constexpr int64_t kRowStep = 16;
constexpr int64_t RowPitch(int64_t n) { return RoundUp(n, kRowStep); }
/* The larger half of n, in whole blocks, for factorizations that divide. */
constexpr int64_t LargerHalf(int64_t n, int64_t block) { return RoundUp(n / 2, block); }

}  // namespace linalg

MXNET_CPU_DECLARE(
    /* out[k] = row k times x, `count` rows of n numbers. */
    void RowsTimes(bool wide, int64_t count, int64_t n, const void* rows, int64_t pitch, const void* x, void* out);
    /* x += sign * sum of factors[k * step] * row k. */
    void AddRows(bool wide, double sign, int64_t count, int64_t n, const void* rows, int64_t pitch, const void* factors, int64_t step,
                 void* x);
    /* y += a x for rows [begin, end) of the upper triangle of a symmetric a, and what mirrors them.
     * begin is a multiple of kRowStep, as end is but for n. Squares of as many numbers on the
     * diagonal are read whole. */
    void SymmetricTimes(bool wide, int64_t begin, int64_t end, int64_t n, const void* a, int64_t pitch, const void* x, void* y);
    /* The reflection that makes a row of n numbers (beta, 0, ...): the row from element 1 on
     * becomes its vector. Returns beta. */
    double ReflectionOf(bool wide, int64_t n, void* row, void* scale);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_LINALG_FACTORS_ROW_KERNELS_H_
