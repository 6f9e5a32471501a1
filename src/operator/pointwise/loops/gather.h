/* How pointwise loops reach operands that are broadcast: the plan of a walk, and rows of elements
 * copied along it. */
#ifndef MXNET_OPERATOR_POINTWISE_LOOPS_GATHER_H_
#define MXNET_OPERATOR_POINTWISE_LOOPS_GATHER_H_

#include <cstddef>
#include <cstdint>

#include "operator/pointwise/loops/loops.h"

namespace mxnet {
namespace pointwise {

constexpr int kMaxDims = 32;

// Out's dimensions after merging those that all operands walk alike; strides in elements, 0 where
// an operand repeats.
struct Plan {
  int ndim = 0;
  int64_t dim[kMaxDims];
  int64_t stride[kMaxOperands][kMaxDims];
};

/* Elements [begin, begin + n) of operand k in out's order, copied as they are; `size` bytes
 * each. */
void Gather(const Plan& plan, int k, const void* base, size_t size, int64_t begin, int64_t n, void* out);
/* n times the element at `value`. */
void FillElements(void* out, int64_t n, const void* value, size_t size);

}  // namespace pointwise
}  // namespace mxnet
#endif  // MXNET_OPERATOR_POINTWISE_LOOPS_GATHER_H_
