/* How pointwise loops reach operands that are broadcast: their steps along the result, and elements
 * copied along them. */
#ifndef MXNET_OPERATOR_POINTWISE_LOOPS_GATHER_H_
#define MXNET_OPERATOR_POINTWISE_LOOPS_GATHER_H_

#include <cstddef>
#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {
namespace pointwise {

constexpr int kMaxDims = 32;

/* An operand along the dimensions of the result; strides in elements, 0 where it repeats. */
struct Steps {
  int ndim = 0;
  int64_t dim[kMaxDims], stride[kMaxDims];

  /* One dimension more, within the others; where it goes on as the last one does, they become
   * one. */
  void Add(int64_t size, int64_t step) {
    const int last = ndim - 1;
    if (last >= 0 && stride[last] == step * size) {
      dim[last] *= size;
      stride[last] = step;
    } else {
      dim[ndim] = size;
      stride[ndim++] = step;
    }
  }
};

/* n times the element at `value`. */
void FillElements(void* out, int64_t n, const void* value, size_t size);

}  // namespace pointwise

MXNET_CPU_DECLARE(
    /* Elements [begin, begin + n) in the result's order, copied as they are; `size` bytes each.
     * Steps::ndim is at least 1. */
    void GatherElements(const pointwise::Steps& steps, const void* base, size_t size, int64_t begin, int64_t n, void* out);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_POINTWISE_LOOPS_GATHER_H_
