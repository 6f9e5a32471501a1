/* Loops of the normalizations for several instruction sets. Sums are accumulated in double over
 * blocks summed in the data's type. */
#ifndef MXNET_OPERATOR_NN_NORM_NORM_KERNELS_H_
#define MXNET_OPERATOR_NN_NORM_NORM_KERNELS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {

constexpr int64_t kNormShortRow = 32;

struct NormMask {
  double scale, shift;
};
struct NormMaskColumns {
  const void *scale, *shift;  // of the data's type, per column
};

MXNET_CPU_DECLARE(
    /* Sums of the differences from `shift` and of their squares, of n neighbouring elements; added
     * to *sum and *squares. A shift near the mean keeps the digits that sums of the elements
     * themselves would lose. */
    void NormMoments(int dtype, const void* x, int64_t n, double shift, double* sum, double* squares);
    /* Sum of g and of g * (x - mean), added. With `mask`, here and below, g counts only where x *
   * mask->scale + mask->shift is positive: the gradient
     behind NormScale with relu, whose result need not be read. */
    void NormGradientSums(int dtype, const void* g, const void* x, int64_t n, double mean, double* sum, double* product,
                          const NormMask* mask);
    /* y = x * scale + shift; with `relu` what is negative becomes 0 */
    void NormScale(int dtype, const void* x, void* y, int64_t n, double scale, double shift, bool relu);
    /* y = (x - mean) * scale + shift, for data whose mean is large beside its deviation: x * scale
     * would lose what distinguishes the elements. */
    void NormScaleCentred(int dtype, const void* x, void* y, int64_t n, double mean, double scale, double shift);
    /* dx = g * a + (x - mean) * b + c */
    void NormGradientCentred(int dtype, const void* g, const void* x, void* dx, int64_t n, double mean, double a, double b, double c);
    /* dx = g * a + x * b + c */
    void NormGradient(int dtype, const void* g, const void* x, void* dx, int64_t n, double a, double b, double c, const NormMask* mask);
    /* The same with one number per column, for `rows` rows of `n` elements; arrays of doubles for
   * sums, of the data's type for coefficients. */
    void NormMomentsColumns(int dtype, const void* x, int64_t rows, int64_t n, const double* shift, double* sum, double* squares);
    void NormGradientSumsColumns(int dtype, const void* g, const void* x, int64_t rows, int64_t n, const double* mean, double* sum,
                                 double* product, const NormMaskColumns* mask);
    void NormScaleColumns(int dtype, const void* x, void* y, int64_t rows, int64_t n, const void* scale, const void* shift, bool relu);
    /* y = (x - mean) * scale + shift by columns. */
    void NormScaleCentredColumns(int dtype, const void* x, void* y, int64_t rows, int64_t n, const void* mean, const void* scale,
                                 const void* shift);
    /* y = relu(x * scale + shift + addend), and bit i of `bits` (null: not wanted) tells whether
     * y[i]
   * is positive. y may be the addend. */
    void NormScaleAdd(int dtype, const void* x, const void* addend, void* y, int64_t n, double scale, double shift, uint8_t* bits);
    /* The same by columns; the bits of a row start at a byte of their own. */
    void NormScaleAddColumns(int dtype, const void* x, const void* addend, void* y, int64_t rows, int64_t n, const void* scale,
                             const void* shift, uint8_t* bits);
    /* h[i] = g[i] where bit i is set, else 0, in `rows` rows whose bits start at bytes of their
     * own;
   * h may be g. */
    void NormKeepMarked(int dtype, const void* g, const uint8_t* bits, void* h, int64_t rows, int64_t n);
    /* y = (x - mean) * inv_std * gamma + beta, gamma and beta per element. */
    void NormRow(int dtype, const void* x, void* y, int64_t n, double mean, double inv_std, const void* gamma, const void* beta);
    /* With h = g * gamma: dx = inv_std * (h - mean(h) - (x - mean) * inv_std^2 * mean(h * (x -
   * mean))). dx may be null. Adds g and g * (x - mean) * inv_std
     to beta_sum and gamma_sum (arrays of doubles, may be null). */
    void NormRowGradient(int dtype, const void* g, const void* x, const void* gamma, void* dx, int64_t n, double mean, double inv_std,
                         double* gamma_sum, double* beta_sum);
    /* LayerNorm of `rows` rows of n <= kNormShortRow elements, several at a time. y, and rows'
     * means and
   * standard deviations, may be null. */
    void NormShortRows(int dtype, const void* x, void* y, int64_t rows, int64_t n, double eps, const void* gamma, const void* beta,
                       void* mean, void* deviation);
    /* Its gradient, as NormRowGradient has it. */
    void NormShortRowsGradient(int dtype, const void* g, const void* x, const void* gamma, void* dx, int64_t rows, int64_t n, double eps,
                               double* gamma_sum, double* beta_sum);
    void NormGradientColumns(int dtype, const void* g, const void* x, void* dx, int64_t rows, int64_t n, const void* a, const void* b,
                             const void* c, const NormMaskColumns* mask);)

/* The mean and 1 / sqrt(variance + eps) of n neighbouring elements of a dtype, T; NaN stays. */
template <typename T>
void RowMoments(int dtype, const T* x, int64_t n, double eps, double* mean, double* inv_std) {
  const double first = n > 0 && std::isfinite(x[0]) ? static_cast<double>(x[0]) : 0.0;
  double sum = 0, squares = 0;
  MXNET_CPU_CALL(NormMoments)(dtype, x, n, first, &sum, &squares);
  const double off = sum / static_cast<double>(n);
  *mean = first + off;
  *inv_std = 1.0 / std::sqrt(std::max(squares / static_cast<double>(n) - off * off, 0.0) + eps);
}

}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_NORM_NORM_KERNELS_H_
