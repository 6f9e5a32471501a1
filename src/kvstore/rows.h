/* Rows of values of stores. */
#ifndef MXNET_KVSTORE_ROWS_H_
#define MXNET_KVSTORE_ROWS_H_

#include <cstdint>
#include <vector>

#include "mxnet/ndarray.h"

namespace mxnet {
namespace kvstore {

/*
 * out = the rows `ids` of `from`, which is dense or row_sparse; a row that `from` does not store is
 * 0. `ids`: numbers of any dtype, in any order, also several times; out has each once, ascending.
 * Asynchronous; an id outside of the array is an Error(kIndex) that stays with `out`.
 * REQUIRES: `out` is row_sparse, of the shape and dtype of `from`.
 */
void TakeRows(const NDArray& from, const NDArray& ids, const NDArray& out, int priority);
/* Ascending, each once. Throws Error(kIndex) for numbers outside of [0, rows) and what is no whole
 * number. */
std::vector<int64_t> UniqueRows(const TBlob& ids, int64_t rows);

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_KVSTORE_ROWS_H_
