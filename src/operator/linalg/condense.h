/*
 * Two diagonals that have the eigenvalues of a symmetric matrix, or the singular values of a
 * matrix, after Householder's reflections from both sides (Dongarra, Sorensen and Hammarling, Block
 * reduction of matrices to condensed forms for eigenvalue computations, 1989). Row-major; float and
 * double. The reflections are those of reflections.h.
 */
#ifndef MXNET_OPERATOR_LINALG_CONDENSE_H_
#define MXNET_OPERATOR_LINALG_CONDENSE_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {
namespace linalg {

/* Rows of what is reduced begin at multiples of this many numbers, and so do the loops along them:
 * a load that crosses a cache line takes twice the time. */
constexpr int64_t kCondenseStep = 16;
constexpr int64_t CondensePitch(int64_t n) { return (n + kCondenseStep - 1) / kCondenseStep * kCondenseStep; }

/* a, n x n with CondensePitch(n) numbers from row to row, = q^T t q. t has `diagonal` and, on both
 * sides of it, `beside`, n - 1 numbers. Row i of a from column i + 1 on becomes reflection i of q's
 * n - 1, which stands in columns from i + 1 on; `scale` gets as many numbers. What is left of the
 * diagonal gets lost. */
template <typename T>
void Tridiagonal(int64_t n, T* a, T* diagonal, T* beside, T* scale);

/* a, m x n with m <= n and CondensePitch(n), = p^T b q. b has `diagonal` and, below it, `beside`,
 * m - 1 numbers. Row i of a becomes reflection i of q, and row i of `right`, m x m without gaps,
 * from column i + 1 on reflection i of p's m - 1. Of `right` the rest is not set, and what is left
 * of the diagonal of a gets lost. `scale` gets m numbers, `scale_right` m - 1. */
template <typename T>
void Bidiagonal(int64_t m, int64_t n, T* a, T* diagonal, T* beside, T* scale, T* right, T* scale_right);

}  // namespace linalg

MXNET_CPU_DECLARE(
    /* out[k] = row k times x, `count` rows of n numbers. */
    void RowsTimes(bool wide, int64_t count, int64_t n, const void* rows, int64_t pitch, const void* x, void* out);
    /* x += sign * sum of factors[k * step] * row k. */
    void AddRows(bool wide, double sign, int64_t count, int64_t n, const void* rows, int64_t pitch, const void* factors, int64_t step,
                 void* x);
    /* y += a x for rows [begin, end) of the upper triangle of a symmetric a, and what mirrors them.
     * begin is a multiple of kCondenseStep, as end is but for n. Squares of as many numbers on the
     * diagonal are read whole. */
    void SymmetricTimes(bool wide, int64_t begin, int64_t end, int64_t n, const void* a, int64_t pitch, const void* x, void* y);
    /* The reflection that makes a row of n numbers (beta, 0, ...): the row from element 1 on
     * becomes its vector. Returns beta. */
    double ReflectionOf(bool wide, int64_t n, void* row, void* scale);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_LINALG_CONDENSE_H_
