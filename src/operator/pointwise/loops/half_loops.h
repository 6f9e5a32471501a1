/* Loops over float16 and bfloat16 that convert in registers, as Loop says (loops.h). */
#ifndef MXNET_OPERATOR_POINTWISE_LOOPS_HALF_LOOPS_H_
#define MXNET_OPERATOR_POINTWISE_LOOPS_HALF_LOOPS_H_

#include "operator/pointwise/loops/loops.h"

namespace mxnet {

MXNET_CPU_DECLARE(
    /* Sums, differences, products and quotients of arrays of kFloat16 or kBfloat16, computed in
     * float32 and rounded once; a single operand is a float. Null for other rows, and where this
     * level of the CPU has no such instructions. */
    pointwise::Loop HalfLoop(int row, int dtype);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_POINTWISE_LOOPS_HALF_LOOPS_H_
