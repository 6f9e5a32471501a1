/*
 * Linear algebra of one small matrix on the CPU, by loops of our own: they beat LAPACK there, and
 * several threads may work on several matrices. `wide`: double, else float. Row-major without
 * gaps; orders of at most kSmallMatrix.
 */
#ifndef MXNET_OPERATOR_LINALG_FACTORS_SMALL_H_
#define MXNET_OPERATOR_LINALG_FACTORS_SMALL_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {

constexpr int64_t kSmallMatrix = 64;

/* SmallEigen's. Its rotations are rounded numbers, whose errors add up faster than LAPACK's in
 * large matrices of double; those of float are double. */
constexpr int64_t SmallEigenMatrix(bool wide) { return wide ? kSmallMatrix / 2 : kSmallMatrix; }

/* op(a) is a triangle of a, or its transpose; it stands left of x, or right. */
struct SmallSide {
  bool lower, transpose, right;
};

MXNET_CPU_DECLARE(
    /* out = the factor whose triangle is given; the other triangle of `in` is not read. Returns 0,
     * or the order of the first leading minor that is not positive. out may be in. */
    int64_t SmallCholesky(bool wide, bool lower, const void* in, void* out, int64_t n);
    /* (l l^T)^-1, l lower. Returns 0, or 1 + the place of a 0 on the diagonal. */
    int64_t SmallCholeskyInverse(bool wide, const void* l, void* out, int64_t n);
    /* In place, rows swapped: pivots[k] >= k is the row that row k was swapped with. Returns 0, or
     * 1 + the place of the first pivot 0; the factors are right then too. */
    int64_t SmallLu(bool wide, void* a, int32_t* pivots, int64_t n);
    void SmallInverse(bool wide, const void* lu, const int32_t* pivots, void* out, int64_t n);
    /* x = alpha * op(a)^-1 x, and x = alpha * op(a) x (or x op(a)); x is m x n. */
    void SmallSolve(bool wide, const SmallSide& side, double alpha, const void* a, void* x, int64_t m, int64_t n);
    void SmallMultiply(bool wide, const SmallSide& side, double alpha, const void* a, void* x, int64_t m, int64_t n);
    /* Rows of u, symmetric with the lower triangle given and of finite numbers, become the
     * eigenvectors, each of either sign; w: the eigenvalues, which ascend. Returns 0, or 1 + the
     * place of an eigenvalue that was not found. Without `vectors` u stays.
     * 0 < n <= SmallEigenMatrix(wide). */
    int64_t SmallEigen(bool wide, bool vectors, void* u, void* w, int64_t n);
    /* The same of a matrix of two diagonals d and e, n and n - 1 numbers, of which e is lost; e has
     * room for n. Eigenvalues are in any order. `rows`, n x pitch, become the eigenvectors, with
     * zeros behind them; pitch is a multiple of 8. Scaled: squares neither overflow nor vanish. */
    int64_t SmallTridiagonal(bool wide, double* d, double* e, void* rows, int64_t n, int64_t pitch);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_LINALG_FACTORS_SMALL_H_
