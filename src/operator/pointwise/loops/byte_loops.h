/* Loops whose results are bytes, as Loop says (loops.h). */
#ifndef MXNET_OPERATOR_POINTWISE_LOOPS_BYTE_LOOPS_H_
#define MXNET_OPERATOR_POINTWISE_LOOPS_BYTE_LOOPS_H_

#include "operator/pointwise/loops/loops.h"

namespace mxnet {

MXNET_CPU_DECLARE(
    /* Comparisons and tests of operands of `dtype`, whose results are bools; null where a row is
     * none, or has no such loop. */
    pointwise::Loop TruthLoop(int row, int dtype);
    /* Logical functions and comparisons of bools; null where a row is neither. */
    pointwise::Loop BoolLoop(int row);
    /* Divisions and shifts of int8 (`is_signed`) or uint8 by a single element, which is at least 2
     * in size or, of shifts, 0 to 7; null where a row is neither. */
    pointwise::Loop ByteNumberLoop(int row, bool is_signed);
    /* Arithmetic of int8 (`is_signed`) or uint8; null where a row has no such loop. */
    pointwise::Loop ByteLoop(int row, bool is_signed);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_POINTWISE_LOOPS_BYTE_LOOPS_H_
