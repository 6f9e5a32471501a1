/* Products of rows of floats with weights of few bits in blocks: one call of the operators of
 * block_dense.cc. */
#ifndef MXNET_OPERATOR_QUANTIZED_BLOCK_JOB_H_
#define MXNET_OPERATOR_QUANTIZED_BLOCK_JOB_H_

#include "mxnet/kernel_args.h"
#include "operator/quantized/block_dense.h"
#include "operator/shared/epilogue_op.h"

namespace mxnet {
namespace quantized {

/* out(rows, hidden) = post(x(rows, K) weight^T + bias + addend); bias and addend may be null, and
 * addend may be out. */
struct BlockJob {
  BlockRows weight;  // row i is that of column i of the result
  int64_t rows, hidden;
  const float *x, *bias, *addend;
  float* out;
  nn::EpilogueOp post;
  bool in_integers;                                           // data may be rounded to 8 bits
  int weight_input = -1, scale_input = -1, shift_input = -1;  // whose arrays those of `weight` are; -1: parts of them
  int64_t BlockSize() const { return weight.bytes * 8 / weight.bits; }
  int64_t K() const { return weight.blocks * BlockSize(); }
};

/* By one of four ways: in integers, from words that a plan keeps, or from the weight as it lies,
 * with numbers that become floats in registers, or, for many rows, in panels that stay in the
 * cache. */
void MultiplyBlocks(KernelArgs& args, const BlockJob& job);

}  // namespace quantized
}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_BLOCK_JOB_H_
