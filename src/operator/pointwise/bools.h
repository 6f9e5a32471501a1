/* Rows of the table on arrays of bools, byte for byte. */
#ifndef MXNET_OPERATOR_POINTWISE_BOOLS_H_
#define MXNET_OPERATOR_POINTWISE_BOOLS_H_

#include "operator/pointwise/execute.h"

namespace mxnet {
namespace pointwise {

/* out = row(in...) on the CPU where that is a logical function of bools: all are arrays of bools as
 * large as out. False where it is not; then nothing is done. */
bool ExecuteBools(int row, const Operand* in, int count, const TBlob& out, OpReq req);

}  // namespace pointwise
}  // namespace mxnet
#endif  // MXNET_OPERATOR_POINTWISE_BOOLS_H_
