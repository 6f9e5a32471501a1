#ifndef MXNET_OPERATOR_OPTIMIZER_SUM_OF_SQUARES_H_
#define MXNET_OPERATOR_OPTIMIZER_SUM_OF_SQUARES_H_

#include "mxnet/base.h"

namespace mxnet {

/* Of a floating array on the CPU, summed in double: the same on any number of threads. */
double SumOfSquares(const TBlob& array);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_OPTIMIZER_SUM_OF_SQUARES_H_
