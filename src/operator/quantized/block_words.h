/* Weights of few bits in blocks, in the order in which products of bytes read them: what is made
 * once for a plan, where block_dense.h takes them as they lie. */
#ifndef MXNET_OPERATOR_QUANTIZED_BLOCK_WORDS_H_
#define MXNET_OPERATOR_QUANTIZED_BLOCK_WORDS_H_

#include "operator/quantized/block_dense.h"

namespace mxnet {

/* A panel has kColumns rows of a weight. Of each block there are its words (four bytes) of all
 * rows, word by word, and behind them the scales and, where there are any, the shifts. */
struct BlockWords {
  static constexpr int64_t kColumns = 16, kLine = 4 * kColumns;
  static int64_t Panels(int64_t rows) { return (rows + kColumns - 1) / kColumns; }
  static int64_t PanelBytes(const BlockRows& w) { return w.blocks * (w.bytes / 4 + (w.shift ? 2 : 1)) * kLine; }
};

/*
 * PackBlockWords: the panel of the first `count` rows, at most kColumns; behind the last of them it
 * has that one again. MultiplyBlockWords: out = rows of data times some panels, of a weight of
 * whole words; of `weight` sizes are read, and whether there is a shift. Needs the instructions
 * that BytePanelColumns tells of.
 */
MXNET_CPU_DECLARE(void PackBlockWords(const BlockRows& weight, int64_t count, char* panel);
                  void MultiplyBlockWords(const BlockRows& weight, const char* panels, const ByteRow* data, int64_t rows,
                                          const ByteResult& out);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_BLOCK_WORDS_H_
