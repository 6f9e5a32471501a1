/* Loops of L2Normalization and its gradient for several instruction sets. */
#ifndef MXNET_OPERATOR_NN_NORM_L2_KERNELS_H_
#define MXNET_OPERATOR_NN_NORM_L2_KERNELS_H_

#include <cmath>
#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {

/* Sums over what shares one norm. */
struct L2Sums {
  double squares = 0, products = 0;  // of x * x and g * x
};
/* The gradient is g * by_gradient + x * by_data. */
struct L2Factors {
  double by_gradient = 0, by_data = 0;
  L2Factors() = default;
  L2Factors(const L2Sums& sums, double eps) {
    by_gradient = 1.0 / std::sqrt(sums.squares + eps);
    by_data = -sums.products * by_gradient * by_gradient * by_gradient;
  }
};

/* dtype: float32 or float64. Results may be written over what is read. */
MXNET_CPU_DECLARE(
    /* y = x / norm of `rows` rows of n elements. */
    void L2Rows(int dtype, const void* x, void* y, int64_t rows, int64_t n, double eps);
    void L2RowsGradient(int dtype, const void* g, const void* x, void* dx, int64_t rows, int64_t n, double eps);
    /* In two steps, for a row that threads share: adds the sums over n neighbouring elements, and
     * finds the gradient of n. */
    void L2RowSums(int dtype, const void* g, const void* x, int64_t n, L2Sums* sums);
    void L2RowGradient(int dtype, const void* g, const void* x, void* dx, int64_t n, const L2Factors& factors);
    /* dx of n neighbouring columns of `rows` elements, which lie `stride` apart. */
    void L2ColumnsGradient(int dtype, const void* g, const void* x, void* dx, int64_t rows, int64_t stride, int64_t n, double eps);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_NORM_L2_KERNELS_H_
