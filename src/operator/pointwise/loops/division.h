#ifndef MXNET_OPERATOR_POINTWISE_LOOPS_DIVISION_H_
#define MXNET_OPERATOR_POINTWISE_LOOPS_DIVISION_H_

#include "operator/pointwise/loops/loops.h"

namespace mxnet {

MXNET_CPU_DECLARE(
    /* The loop of div, floor_divide, mod or fmod whose second operand is one number of at least 2
     * or at most -2, the smallest of its type excepted (mask 2); null where there is none. */
    pointwise::Loop DivisionByNumber(int row, int compute);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_POINTWISE_LOOPS_DIVISION_H_
