/*
 * The ways to reduce, a row each:
 *
 * FOLD (name, neutral, map, merge, range)
 *   neutral  what nothing reduces to: zero, one, lowest, highest (of the accumulator's type)
 *   map      what is made of an element x before it takes part
 *   merge    what two partial results a and b become; an element that was mapped is one
 *   range    Sums, Products: accumulated in double or int64. Compares: the result is one of the
 *            elements. Truths: it is 0 or 1
 *
 * The texts are C++ for the CPU's loops, where x, a and b are single numbers or vectors, and CUDA C
 * for GPUs. Both know zero, one, Larger(a, b) and Smaller(a, b), where NaN wins.
 */
// clang-format off
#define MXNET_REDUCTION_FOLDS(FOLD)                            \
  FOLD(Sum,       zero,    x,                      a + b,               Sums)     \
  FOLD(Prod,      one,     x,                      a * b,               Products) \
  FOLD(NanSum,    zero,    x == x ? x : zero,      a + b,               Sums)     \
  FOLD(NanProd,   one,     x == x ? x : one,       a * b,               Products) \
  FOLD(Max,       lowest,  x,                      Larger(a, b),        Compares) \
  FOLD(Min,       highest, x,                      Smaller(a, b),       Compares) \
  FOLD(SumAbs,    zero,    x < zero ? -x : x,      a + b,               Sums)     \
  FOLD(SumSquare, zero,    x * x,                  a + b,               Sums)     \
  FOLD(Any,       zero,    x,                      b != zero ? one : a, Truths)   \
  FOLD(All,       one,     x,                      b != zero ? a : zero, Truths)
// clang-format on
