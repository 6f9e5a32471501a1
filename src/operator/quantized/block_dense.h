/* Loops over weights of 2, 4 or 8 bits in blocks, each with a scale and a zero point. */
#ifndef MXNET_OPERATOR_QUANTIZED_BLOCK_DENSE_H_
#define MXNET_OPERATOR_QUANTIZED_BLOCK_DENSE_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {

/*
 * Rows of a weight, one behind the other. A byte has 8 / bits numbers, the low bits first; a block
 * has `bytes` bytes.
 * A number q stands for q * scale - shift; without shift, for (q - half of their count) * scale.
 */
struct BlockRows {
  const uint8_t* packed;
  const float *scale, *shift;  // for each block; shift may be null
  int64_t blocks, bytes;
  int bits;
};

/*
 * SplitBlocks: of `blocks` blocks of x, the numbers that stand at the same place of their bytes lie
 * together, place by place. DotBlocks: out[r * out_pitch + i] is the product of row i of
 * `count` with row r of `rows` of such numbers, which are `pitch` apart.
 */
MXNET_CPU_DECLARE(void SplitBlocks(const float* x, int64_t blocks, int64_t bytes, int bits, float* out);
                  void DotBlocks(const BlockRows& weight, int64_t count, const float* split, int64_t pitch, int64_t rows, float* out,
                                 int64_t out_pitch);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_BLOCK_DENSE_H_
