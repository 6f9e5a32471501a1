/*
 * LU factors of one matrix by recursion (Toledo, Locality of reference in LU decomposition with
 * partial pivoting, 1997): nearly all the work is in a few matrix products, which our threads
 * share. Row-major without gaps; float and double.
 */
#ifndef MXNET_OPERATOR_LINALG_FACTORS_RECURSIVE_LU_H_
#define MXNET_OPERATOR_LINALG_FACTORS_RECURSIVE_LU_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {
namespace linalg {

/* p a = l u in place, the ones on the diagonal of l not stored: pivots[k] >= k is the row that row
 * k was swapped with. Returns 0, or 1 + the place of the first pivot 0; the factors are right then,
 * too. */
template <typename T>
int64_t RecursiveLu(int64_t n, T* a, int32_t* pivots);
/* x, n x k, = a^-1 x. */
template <typename T>
void SolveRecursiveLu(int64_t n, int64_t k, const T* lu, const int32_t* pivots, T* x);

constexpr int64_t kPanel = 16;     // columns of the narrowest piece of a factorization
constexpr int64_t kTriangle = 32;  // rows of the smallest triangle

}  // namespace linalg

MXNET_CPU_DECLARE(
    /* RecursiveLu of m rows of kPanel elements, of which the first `width` are columns; pivots
     * count from the first row. */
    int64_t PanelLu(bool wide, int64_t m, int64_t width, void* panel, int32_t* pivots);
    /* x, n x k with n <= kTriangle, = l^-1 x with ones on the diagonal, or = u^-1 x. Rows are
     * `pitch` and `x_pitch` elements apart. */
    void SolveTriangleBlock(bool wide, bool lower, int64_t n, int64_t k, const void* a, int64_t pitch, void* x, int64_t x_pitch);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_LINALG_FACTORS_RECURSIVE_LU_H_
