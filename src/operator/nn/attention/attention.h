/* What the kernels of _fused_attention share. */
#ifndef MXNET_OPERATOR_NN_ATTENTION_ATTENTION_H_
#define MXNET_OPERATOR_NN_ATTENTION_ATTENTION_H_

#include <string>
#include <vector>

#include "mxnet/kernel_args.h"

namespace mxnet {
namespace nn {

/*
 * How queries, keys and values are given, with the names of attention's arrays in the field:
 *   kSeparate  query (batch, rows, heads x width), key and value (batch, columns, heads x width)
 *   kSelf      queries, keys and values of one sequence, interleaved by head: (steps, batch, heads
 *              x 3 x width)
 *   kCross     queries (rows, batch, heads x width); keys and values, interleaved by head:
 *              (columns, batch, heads x 2 x width)
 */
enum class AttentionLayout { kSeparate, kSelf, kCross };

struct AttentionParam {
  double scale = 1;
  int64_t heads = 1;
  AttentionLayout layout = AttentionLayout::kSeparate;
  int64_t shared = 1;       // so many of the batch in a row have the same key and value (separate, one head; inference on the CPU)
  bool mask = false;        // added to the scores; a boolean one says which of them count
  bool length = false;      // how many columns count, for each row
  float dropout = 0;        // of the weights: an element becomes 0 with this probability; others are scaled
  bool zeros = false;       // a row of weights that are NaN, as where nothing counts, is zeros (inference on the CPU)
  bool statistics = false;  // a second output, for the backward pass: what one kernel on a GPU leaves of the scores, a number for each row

  /* Inputs: so many arrays, then mask, length, draws (from _draw_counters). */
  int Arrays() const { return layout == AttentionLayout::kSeparate ? 3 : layout == AttentionLayout::kCross ? 2 : 1; }
  int LengthAt() const { return Arrays() + mask; }
  int DrawsAt() const { return LengthAt() + length; }
  int Inputs() const { return DrawsAt() + (dropout > 0); }
};

/* A node of _fused_attention, for passes. */
NodePtr MakeAttention(const AttentionParam& param, std::vector<NodeEntry> inputs, const std::string& name);

/* Where the heads' matrices lie in an array: element (i, j) of head h of example b at offset +
 * b / shared * example + h * head + i * row + j. */
struct HeadsIn {
  int array = 0;  // which of the inputs, or of the gradients
  int64_t offset = 0, example = 0, head = 0, row = 0, shared = 1;
  int64_t At(int64_t b, int64_t h, int64_t i) const { return offset + b / shared * example + h * head + i * row; }
};

struct AttentionDims {
  /* REQUIRES: shapes that InferShape accepted, of the arrays alone. */
  AttentionDims(const AttentionParam& p, const Shape* arrays);
  AttentionDims(const KernelArgs& args, int first);  // arrays from input `first` on

  int64_t batch = 0, heads = 1, rows = 0, columns = 0, width = 0, value_width = 0;
  HeadsIn query, key, value, output;  // output.array means nothing
};

/* On the CPU, in bfloat16 with float32 sums: the weights are rounded once. False, and nothing done,
 * where that is not the way: another dtype or processor, dropout, or few rows. */
bool BfloatAttention(KernelArgs& args);
/* Does that compute so many rows of a head, here, without dropout and zeros? */
bool BfloatAttentionTakes(int64_t rows);

/* On a GPU, forward: arrays, [mask], [length], [draws] -> output, [statistics]; backward: ograd,
 * arrays, [mask], [length], [draws], [output, statistics] -> gradients of the arrays. */
void AttentionOnDevice(KernelArgs& args);
void AttentionBackwardOnDevice(KernelArgs& args);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_ATTENTION_ATTENTION_H_
