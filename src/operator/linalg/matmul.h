/*
 * Batches of matrix products: c[i] = op(a[i]) * op(b[i]), row-major without gaps. op(a) is m x k,
 * op(b) k x n. On the CPU float32 and float64 go to Gemm, half types to MultiplyHalf; where that
 * does not take them they are widened to float32 in `workspace`, and the result is rounded once.
 * Many small products are spread over threads, large ones use threads inside.
 */
#ifndef MXNET_OPERATOR_LINALG_MATMUL_H_
#define MXNET_OPERATOR_LINALG_MATMUL_H_

#include <functional>

#include "mxnet/base.h"
#include "mxnet/run_context.h"

namespace mxnet {

struct MatmulSize {
  int64_t batch = 1, m = 0, n = 0, k = 0;
};
void Matmul(int dtype, bool trans_a, bool trans_b, const MatmulSize& size, const void* a, const void* b, void* c,
            const std::function<void*(size_t)>& workspace);
/* The same where `run` says: on the CPU, or by the library of a GPU. */
void Matmul(const RunContext& run, int dtype, bool trans_a, bool trans_b, const MatmulSize& size, const void* a, const void* b, void* c,
            const std::function<void*(size_t)>& workspace);
/* On the CPU, for a b of few numbers and any number of rows: c = a op(b), to each row of which the
 * n numbers of `start` are added, if there are any. False, and nothing is done, where b has more,
 * or for other types than float32 and float64. REQUIRES: the size's batch is 1. */
bool ThinProduct(int dtype, bool trans_b, const MatmulSize& size, const void* a, const void* b, const void* start, void* c);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_LINALG_MATMUL_H_
