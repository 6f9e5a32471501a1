/* Numbers of outputs in symbol files. */
#ifndef MXNET_OPERATOR_RECORD_FILE_OUTPUTS_H_
#define MXNET_OPERATOR_RECORD_FILE_OUTPUTS_H_

#include "mxnet/op.h"

namespace mxnet {

/* How many outputs 1.9.1 counts for an operator in `node_row_ptr`: with those that only its own
 * gradient or workspace has, without hidden ones of ours. */
int OutputsInFiles(const Attrs& attrs);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RECORD_FILE_OUTPUTS_H_
