/* Rows of the table that are computed without detours through a compute type. */
#ifndef MXNET_OPERATOR_POINTWISE_BOOLS_H_
#define MXNET_OPERATOR_POINTWISE_BOOLS_H_

#include "operator/pointwise/execute.h"

namespace mxnet {
namespace pointwise {

/* out = row(in...) on the CPU where that is a logical function of bools: all are arrays of bools as
 * large as out. False where it is not; then nothing is done. */
bool ExecuteBools(int row, const Operand* in, int count, const TBlob& out, OpReq req);

/* The same for comparisons of arrays of `compute`'s dtype, whose results are bools, and for
 * arithmetic of int8, uint8, float16 and bfloat16: arrays as large as out, and at most one
 * number. */
bool ExecuteUnconverted(int row, int compute, const Operand* in, int count, const TBlob& out, OpReq req);

}  // namespace pointwise
}  // namespace mxnet
#endif  // MXNET_OPERATOR_POINTWISE_BOOLS_H_
