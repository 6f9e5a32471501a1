/* Sorting along one dimension. Arrays are seen as (outer, size, inner). */
#ifndef MXNET_OPERATOR_INDEXING_ORDER_H_
#define MXNET_OPERATOR_INDEXING_ORDER_H_

#include "mxnet/base.h"

namespace mxnet {

/*
 * The first k entries of every line in order. Equal entries keep the order of their positions; NaN
 * counts as larger than everything. Without positions, -0 stands before 0, and every NaN is the
 * same. `values` (outer, k, inner) in the dtype of data and `positions` (outer, k, inner) may be
 * null.
 */
void OrderEntries(const TBlob& data, int64_t outer, int64_t size, int64_t inner, int64_t k, bool ascending, void* values,
                  int64_t* positions);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_INDEXING_ORDER_H_
