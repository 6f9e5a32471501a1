/* Columns of csr arrays in 16 or 32 bits, beside the 64 of the array itself. */
#ifndef MXNET_NDARRAY_NARROW_COLUMNS_H_
#define MXNET_NDARRAY_NARROW_COLUMNS_H_

#include "mxnet/ndarray.h"

namespace mxnet {

/* The same numbers as index[kColumns], each in so many bytes. Null: there are none. */
struct NarrowColumns {
  const void* numbers = nullptr;
  int bytes = 0;
};

/*
 * For operations that read each stored element once, which the memory's bandwidth bounds. A large
 * array gets the copy when this is asked for a second time with the same elements, and keeps it
 * until its elements change; small ones get none. Valid while the caller may read the parts.
 */
NarrowColumns NarrowColumnsOf(const SparseParts& csr);
/* Whoever changes index parts, or frees them, says so here first. */
void DropNarrowColumns(const SparseParts* parts);

}  // namespace mxnet
#endif  // MXNET_NDARRAY_NARROW_COLUMNS_H_
