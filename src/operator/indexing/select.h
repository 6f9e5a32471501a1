/* out = condition ? x : y, by pieces, and what counts as a condition. */
#ifndef MXNET_OPERATOR_INDEXING_SELECT_H_
#define MXNET_OPERATOR_INDEXING_SELECT_H_

#include "mxnet/base.h"

namespace mxnet {

/* Piece i of `count`, of piece_bytes each, comes from x where condition[i] is not zero (NaN is not
 * zero), else from y. */
void Select(const TBlob& condition, const void* x, const void* y, void* out, int64_t count, int64_t piece_bytes);

/* flags[i] = 1 where element begin + i of an array is not zero (NaN is not zero), else 0. */
void NonzeroFlags(const TBlob& array, int64_t begin, int64_t n, uint8_t* flags);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_INDEXING_SELECT_H_
