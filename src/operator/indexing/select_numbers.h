#ifndef MXNET_OPERATOR_INDEXING_SELECT_NUMBERS_H_
#define MXNET_OPERATOR_INDEXING_SELECT_NUMBERS_H_

#include "operator/indexing/select.h"

namespace mxnet {

/* Select (select.h) where bit 0 of `singles` says that x, bit 1 that y is one piece for all of
 * them. Such pieces have at most 8 bytes. */
void SelectNumbers(const TBlob& condition, const void* x, const void* y, void* out, int64_t count, int64_t piece_bytes, unsigned singles);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_INDEXING_SELECT_NUMBERS_H_
