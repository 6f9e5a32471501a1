/* out = condition ? x : y, by pieces. */
#ifndef MXNET_OPERATOR_INDEXING_SELECT_H_
#define MXNET_OPERATOR_INDEXING_SELECT_H_

#include "mxnet/base.h"

namespace mxnet {

/* Piece i of `count`, of piece_bytes each, comes from x where condition[i] is not zero (NaN is not
 * zero), else from y. */
void Select(const TBlob& condition, const void* x, const void* y, void* out, int64_t count, int64_t piece_bytes);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_INDEXING_SELECT_H_
