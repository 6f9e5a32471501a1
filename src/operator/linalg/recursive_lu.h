/*
 * LU factors of one float32 matrix by recursion: nearly all the work is in a few matrix products,
 * which oneDNN computes faster than OpenBLAS's own factorization. Row-major without gaps.
 */
#ifndef MXNET_OPERATOR_LINALG_RECURSIVE_LU_H_
#define MXNET_OPERATOR_LINALG_RECURSIVE_LU_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {
namespace linalg {

/* p a = l u in place, the ones on the diagonal of l not stored: pivots[k] >= k is the row that row
 * k was swapped with. Returns 0, or 1 + the place of the first pivot 0; the factors are right then,
 * too. */
int64_t RecursiveLu(int64_t n, float* a, int32_t* pivots);
/* x, n x k, = a^-1 x. */
void SolveRecursiveLu(int64_t n, int64_t k, const float* lu, const int32_t* pivots, float* x);

constexpr int64_t kPanel = 16;     // columns of the narrowest piece of a factorization
constexpr int64_t kTriangle = 32;  // rows of the smallest triangle

}  // namespace linalg

MXNET_CPU_DECLARE(
    /* RecursiveLu of m rows of kPanel elements, of which the first `width` are columns; pivots
     * count from the first row. */
    int64_t PanelLu(int64_t m, int64_t width, float* panel, int32_t* pivots);
    /* x, n x k with n <= kTriangle, = l^-1 x with ones on the diagonal, or = u^-1 x. Rows are
     * `pitch` and `x_pitch` elements apart. */
    void SolveTriangleBlock(bool lower, int64_t n, int64_t k, const float* a, int64_t pitch, float* x, int64_t x_pitch);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_LINALG_RECURSIVE_LU_H_
