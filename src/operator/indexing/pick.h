/* Kernels that read or write one entry along a dimension. Arrays are seen as (outer, size, inner).
 * REQUIRES: indices in range. */
#ifndef MXNET_OPERATOR_INDEXING_PICK_H_
#define MXNET_OPERATOR_INDEXING_PICK_H_

#include "mxnet/base.h"

namespace mxnet {

/* out[o, i] = data[o, index[o, i], i] */
void PickEntries(const TBlob& data, int64_t outer, int64_t size, int64_t inner, const int64_t* index, void* out);
/* data[o, index[o, i], i] = values[o, i] */
void PutEntries(const void* values, int64_t outer, int64_t size, int64_t inner, const int64_t* index, const TBlob& data);
/* out[o, j, i] = data[o, index[o, j, i], i] for j in [0, k), and the other way; of several values
 * for one place any is kept. */
void TakeLines(const TBlob& data, int64_t outer, int64_t size, int64_t inner, int64_t k, const int64_t* index, void* out);
void PutLines(const void* values, int64_t outer, int64_t size, int64_t inner, int64_t k, const int64_t* index, const TBlob& data);
/* out[i, :] = off but for out[i, index[i]] = on where the index is in range. */
void FillOneHot(const TBlob& out, const TBlob& index, int64_t depth, double on, double off);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_INDEXING_PICK_H_
