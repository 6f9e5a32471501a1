/* Products of a few queries with keys, and of their weights with values, for several instruction
 * sets: keys and values are read as they lie. */
#ifndef MXNET_OPERATOR_NN_ATTENTION_ATTENTION_ROWS_H_
#define MXNET_OPERATOR_NN_ATTENTION_ATTENTION_ROWS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {
namespace nn {

/* Rows in memory, `row` elements from one to the next. */
struct FloatRows {
  const float* data;
  int64_t row;
};

}  // namespace nn

MXNET_CPU_DECLARE(
    /* scores[i * line + j] = scale * (query i, key j) for i < rows, j < keys; each has `size`
     * elements. */
    void KeyProducts(int64_t rows, int64_t keys, int64_t size, float scale, nn::FloatRows query, nn::FloatRows key, float* scores,
                     int64_t line);
    /* y[i * y_row + c] = sum over j < keys of (weights i)[j] * (value j)[c] for c < size, to which
     * `add` adds what y was. */
    void ValueSums(int64_t rows, int64_t keys, int64_t size, nn::FloatRows weights, nn::FloatRows value, bool add, float* y,
                   int64_t y_row);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_ATTENTION_ATTENTION_ROWS_H_
