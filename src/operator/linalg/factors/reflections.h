/*
 * Householder's reflections of one matrix in blocks, so that nearly all the work is in matrix
 * products whose rows our threads share (Schreiber and Van Loan, A storage-efficient WY
 * representation, 1989). Row-major; float and double.
 *
 * Reflection i is h_i = 1 - scale[i] v_i^T v_i. Its row v_i begins at element i, with a 1 that is
 * not stored; q is h_m ... h_1, so that a = l q.
 */
#ifndef MXNET_OPERATOR_LINALG_FACTORS_REFLECTIONS_H_
#define MXNET_OPERATOR_LINALG_FACTORS_REFLECTIONS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"
#include "operator/linalg/factors/row_kernels.h"
#include "operator/linalg/factors/small.h"

namespace mxnet {
namespace linalg {

constexpr int64_t kReflections = 64;  // of a block
constexpr int64_t kFewRows = 16;      // reflected one after the other

/* `count` rows of up to `length` numbers, the first of which stand in columns 0, 1, ... */
template <typename T>
struct Reflections {
  int64_t count, length, pitch;
  const T* rows;
  const T* scale;
};

/* a = l q, m x n with m <= n: the lower triangle of a becomes l, what is right of it the rows v. */
template <typename T>
void FactorRows(int64_t m, int64_t n, T* a, T* scale);
/* a, as FactorRows left it, becomes the first m rows of q. */
template <typename T>
void RowsOfFactor(int64_t m, int64_t n, T* a, const T* scale);
/* c, `rows` rows of r.length numbers, becomes c q. */
template <typename T>
void TimesFactor(const Reflections<T>& r, int64_t rows, T* c, int64_t pitch);

/* Matrices whose rows are reflected one after the other, without a matrix product. */
constexpr int64_t kSmallLq = 8192;  // numbers, with the gaps of RowPitch
constexpr bool IsSmallLq(int64_t m, int64_t n) { return m <= kSmallMatrix && m * RowPitch(n) <= kSmallLq; }

}  // namespace linalg

MXNET_CPU_DECLARE(
    /* FactorRows of m <= kFewRows rows, `pitch` numbers apart. */
    void ReflectRows(bool wide, int64_t m, int64_t n, void* a, int64_t pitch, void* scale);
    /* q, m x n with m <= n, becomes the factor of orthonormal rows; l: m x m. Where IsSmallLq. */
    void SmallLq(bool wide, int64_t m, int64_t n, void* q, void* l);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_LINALG_FACTORS_REFLECTIONS_H_
