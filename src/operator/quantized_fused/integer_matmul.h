/* Products of two stacks of matrices of 8-bit integers with zero points. */
#ifndef MXNET_OPERATOR_QUANTIZED_FUSED_INTEGER_MATMUL_H_
#define MXNET_OPERATOR_QUANTIZED_FUSED_INTEGER_MATMUL_H_

#include "mxnet/kernel_args.h"
#include "operator/quantized_fused/fused_layer.h"

namespace mxnet {
namespace quantized {

/* out (batch, m, n) = a (batch, m, k) b (batch, k, n), times scale, in the steps of `out`. */
struct MatMulCall {
  int64_t batch, m, n, k;
  int a_type, a_zero, b_zero;
  const void* a;
  const int8_t* b;
  float scale;
  Affine out;  // float32, int32 (sums alone), int8 or uint8
  void* to;
};
/* Exact; false: not taken. Null where no library is linked. */
extern bool (*g_integer_matmul)(KernelArgs& args, const MatMulCall& call);

}  // namespace quantized
}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_FUSED_INTEGER_MATMUL_H_
