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
  /* From row i on. */
  BlockRows From(int64_t i) const {
    return {packed + i * blocks * bytes, scale + i * blocks, shift ? shift + i * blocks : nullptr, blocks, bytes, bits};
  }
};

/*
 * A row of data in 8 bits, for weights of 4 bits in blocks of 16, 32, 64, 128 ... bytes: each block
 * has a scale of its own, its largest magnitude / 127. Bytes of the weight go by in pieces of 64;
 * for each of these there are the numbers that meet low bits, 64 of them, those that meet high
 * bits, and for four bytes each the scale, and the sum of the eight numbers times that. What lies
 * behind the end is zero. A block with NaN or an infinity gives NaN.
 */
struct IntegerRow {
  static constexpr int64_t kPiece = 64;
  static bool Takes(int64_t bytes_of_block) { return bytes_of_block % kPiece == 0 || bytes_of_block == 16 || bytes_of_block == 32; }
  static int64_t Pieces(int64_t bytes) { return (bytes + kPiece - 1) / kPiece; }
  int8_t* numbers;
  float *scales, *sums;
};

/*
 * IntegerBlocks: such a row of `blocks` blocks of `bytes` bytes. DotIntegers: out[r * out_pitch +
 * i] is the product of row i of `count` with rows[r]; sums of integers are exact.
 */
MXNET_CPU_DECLARE(void IntegerBlocks(const float* x, int64_t blocks, int64_t bytes, const IntegerRow& out);
                  void DotIntegers(const BlockRows& weight, int64_t count, const IntegerRow* data, int64_t rows, float* out,
                                   int64_t out_pitch);)

/*
 * A row of data in 8 bits for panels of bytes: its numbers, and of each block the scale, the sum of
 * its numbers times that, and what a zero point in the middle adds to products of integers. Of as
 * many numbers as four bytes of the weight have, those at the first place of a byte come first.
 */
struct ByteRow {
  int8_t* numbers;
  float *scales, *sums;
  int32_t* less;
};

/* The same for few rows, which meet the weight as it lies: in pieces of 64 bytes of the weight, 64
 * numbers for each place in a byte, and `less` for each four bytes; of larger blocks it stands
 * together in the first piece. Scales and sums are by block. Behind the end of the last piece, and
 * of the last sixteen blocks, there are zeros. */
struct ByteLanes {
  static constexpr int64_t kPiece = 64, kGroup = 16;
  static constexpr int kPlanes = 3;
  static bool Takes(int64_t bytes_of_block) {
    return bytes_of_block % kPiece == 0 || (bytes_of_block % 4 == 0 && kPiece % bytes_of_block == 0);
  }
  static int64_t Pieces(int64_t bytes) { return (bytes + kPiece - 1) / kPiece; }
  int8_t* numbers;
  float *scales, *sums;
  int32_t* less;
};

/* Blocks [first, first + blocks) of some rows of a weight: for each four numbers those of all
 * columns, and for each block scales and shifts of the columns; shifts may be null. */
struct BytePanel {
  uint8_t* numbers;
  float *scales, *shifts;
  int64_t first, blocks, size;  // numbers of a block
};

/* Where results of a panel go, rows `pitch` apart, and what is added: bias and addend may be null,
 * and addend may be `to`. */
struct ByteResult {
  float* to;
  int64_t pitch, columns;
  const float *bias, *addend;
};

/*
 * BytePanelColumns: columns of a panel; 0: this processor has no instructions for them.
 * FillBytePanel: as FillPanel below; blocks are whole words. FillByteRow, FillByteLanes: a row for
 * such a weight. FillPlanes: the same in 24 bits, which floats have, as the sum of kPlanes rows of
 * 8 bits; false if some are no numbers or too small. DotByteLanes: as DotIntegers. DotPlanes: of
 * one row in such planes. All but the first need these instructions.
 */
MXNET_CPU_DECLARE(int64_t BytePanelColumns(); void FillBytePanel(const BlockRows& weight, int64_t count, int64_t first, int64_t blocks,
                                                                 int64_t ahead, const BytePanel& panel);
                  void FillByteRow(const float* x, const BlockRows& weight, const ByteRow& out);
                  void MultiplyBytePanel(const BytePanel& panel, const ByteRow* data, int64_t rows, const ByteResult& out);
                  void FillByteLanes(const float* x, const BlockRows& weight, const ByteLanes& out);
                  bool FillPlanes(const float* x, const BlockRows& weight, const ByteLanes* out);
                  void DotPlanes(const BlockRows& weight, int64_t count, const ByteLanes* data, float* out);
                  void DotByteLanes(const BlockRows& weight, int64_t count, const ByteLanes* data, int64_t rows, float* out,
                                    int64_t out_pitch);)

/*
 * For few rows of data. SplitBlocks: of `blocks` blocks of x, the numbers that stand at the same
 * place of their bytes lie together, place by place. DotBlocks: out[r * out_pitch + i] is the
 * product of row i of `count` with row r of `rows` of such numbers, which are `pitch` apart.
 *
 * For many rows. FillPanel: panel[i * width + c] is what number i of blocks [first, first + blocks)
 * of row c stands for; `width` is whole vectors, and columns from `count` on are those of the last
 * row. Bytes that are wanted next lie `ahead` bytes further; 0: not known.
 */
MXNET_CPU_DECLARE(void SplitBlocks(const float* x, int64_t blocks, int64_t bytes, int bits, float* out);
                  void DotBlocks(const BlockRows& weight, int64_t count, const float* split, int64_t pitch, int64_t rows, float* out,
                                 int64_t out_pitch);
                  void FillPanel(const BlockRows& weight, int64_t count, int64_t first, int64_t blocks, int64_t ahead, float* panel,
                                 int64_t width);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_BLOCK_DENSE_H_
