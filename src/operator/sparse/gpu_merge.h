/* What several sparse arrays store together, on a GPU. Results may be one of the inputs: these are
 * read before memory of results changes. All wait for how much is stored. */
#ifndef MXNET_OPERATOR_SPARSE_GPU_MERGE_H_
#define MXNET_OPERATOR_SPARSE_GPU_MERGE_H_

#include <vector>

#include "mxnet/kernel_args.h"
#include "mxnet/ndarray.h"
#include "operator/sparse/csr_merge.h"

namespace mxnet {
namespace sparse {

/* row_sparse `out` gets the numbers of the rows that either of two such arrays of its shape stores,
 * and room for values; values[0], values[1]: what a and b have in these rows, 0 where nothing. */
void StoreUnionOnDevice(KernelArgs& args, const SparseParts& a, const SparseParts& b, SparseParts* out, TBlob values[2]);
/* out = the sum of row_sparse arrays, in their order. */
void AddRowsOnDevice(KernelArgs& args, const std::vector<const SparseParts*>& parts, SparseParts* out);

/*
 * csr `out` = the elements that either of two csr arrays stores, or (`both`) both do.
 * `apply` makes results of values of each, 0 where it has none; those that are 0 are dropped.
 * REQUIRES: elements in order.
 */
void MergeElementsOnDevice(KernelArgs& args, const SparseParts& a, const SparseParts& b, bool both, const ElementsFn& apply,
                           SparseParts* out);

}  // namespace sparse
}  // namespace mxnet
#endif  // MXNET_OPERATOR_SPARSE_GPU_MERGE_H_
