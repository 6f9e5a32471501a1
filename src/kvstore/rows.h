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

/* Bytes of one row of an array of any storage. */
size_t RowBytes(const Shape& shape, int dtype);
/* to = the rows `ids`, ascending, of a dense or row_sparse array; a row that it does not store is
 * 0. In an engine operation, on the CPU. Throws what SparseParts::Settle throws. */
void GatherRows(const TBlob& from, const int64_t* ids, int64_t count, void* to);

/* Rows that are added up. */
struct Rows {
  bool all = false;              // every row of the array, in order; else:
  const int64_t* ids = nullptr;  // of the rows, ascending, each once
  int64_t count = 0;
  const void* values = nullptr;
};
/*
 * out = the sum of `in`, which are of its shape and dtype, in their order and rounded as SumArrays
 * does (kvstore/reduce.h). A row_sparse `out` gets the rows that any has; those of a dense one that
 * none has become 0. CPU only.
 */
void AddRows(const std::vector<Rows>& in, const TBlob& out);

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_KVSTORE_ROWS_H_
