/* Loops of array_lists.cc on the CPU. Arrays are floating. */
#ifndef MXNET_OPERATOR_OPTIMIZER_ARRAY_LISTS_H_
#define MXNET_OPERATOR_OPTIMIZER_ARRAY_LISTS_H_

#include "mxnet/base.h"

namespace mxnet {

/* Summed in double: the same on any number of threads. */
double SumOfSquares(const TBlob& array);

bool AllFinite(const TBlob& array);

/* out = lr * eta * |w| / (|g| * rescale + wd * |w| + eps), and lr where |w| or |g| is 0, of arrays
 * of one dtype and size; of w and g the squares of their lengths are given. */
void LarsRates(const TBlob& lrs, const TBlob& weights, const TBlob& grads, const TBlob& wds, float eta, float eps, float rescale,
               const TBlob& out);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_OPTIMIZER_ARRAY_LISTS_H_
