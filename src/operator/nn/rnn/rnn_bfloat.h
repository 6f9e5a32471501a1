/*
 * Products of RNN in bfloat16, where the processor multiplies such numbers: what steps hand on in
 * float32 is rounded before it is multiplied, sums are float32.
 */
#ifndef MXNET_OPERATOR_NN_RNN_RNN_BFLOAT_H_
#define MXNET_OPERATOR_NN_RNN_RNN_BFLOAT_H_

#include <cstdint>

#include "base/half.h"
#include "mxnet/kernel_args.h"
#include "operator/nn/cpu_gemm/half_sums.h"
#include "operator/nn/rnn/rnn.h"

namespace mxnet {
namespace nn {

constexpr int64_t kHalfPanel = 32;  // columns of all panels but the last

/* Is this call, whose data is input `data`, one for the functions below? */
bool RnnInBfloat(const KernelArgs& args, int data);

/* A packed matrix of `filters` columns, in float32's room, and its panels
 * (packed_bfloat_kernels.h). */
int64_t HalfPackedSize(int64_t filters, int64_t depth);
int64_t HalfPanels(int64_t filters);

/* B(i, j) = from[j * depth + i], or from[i * filters + j]. On several threads. */
void HalfPackRows(int64_t filters, int64_t depth, const bfloat16* from, bfloat16* packed);
void HalfPackColumns(int64_t filters, int64_t depth, const bfloat16* from, bfloat16* packed);
/* Gates of `hidden` rows each: for every 32 units their columns of all gates lie side by side, the
 * last units being filled up to as many. */
void HalfPackGates(int64_t gates, int64_t hidden, int64_t depth, const bfloat16* from, bfloat16* packed);

/* All panels on several threads, to sums(count, filters). With `room` for as many, products are
 * added to what is there. */
void HalfProductTo(const HalfMatrix& a, int64_t filters, const bfloat16* packed, float* room, float* sums);
/* c(m, n) = a(k, m)^T b(k, n). */
void HalfTransposed(KernelArgs& args, int64_t m, int64_t n, int64_t k, const bfloat16* a, const bfloat16* b, bfloat16* c);

/* n numbers in workspace memory, rounded. */
bfloat16* Rounded(KernelArgs& args, const float* from, int64_t n);
/* Of rows of `depth` numbers, as HalfMatrix has them. */
HalfMatrix RoundedRows(KernelArgs& args, const float* from, int64_t count, int64_t depth);
HalfMatrix HalfRows(KernelArgs& args, const bfloat16* from, int64_t count, int64_t depth);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_RNN_RNN_BFLOAT_H_
