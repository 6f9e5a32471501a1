/* Two csr matrices of one shape, element by element. */
#ifndef MXNET_OPERATOR_SPARSE_CSR_MERGE_H_
#define MXNET_OPERATOR_SPARSE_CSR_MERGE_H_

#include <functional>

#include "mxnet/kernel_args.h"
#include "mxnet/ndarray.h"

namespace mxnet {
namespace sparse {

/* out[i] = f(a[i], b[i]) for so many elements of the matrices' dtype; out may be a. */
using ElementsFn = std::function<void(const void* a, const void* b, void* out, int64_t count)>;

/*
 * csr `out` = f of the elements that either has, or with `both` of those that both have, without
 * what is 0 then. What one of them does not store is 0 for f. On the CPU.
 * REQUIRES: both have the columns of each row in ascending order.
 */
void MergeElements(KernelArgs& args, const SparseParts& a, const SparseParts& b, bool both, const ElementsFn& f, SparseParts* out);

}  // namespace sparse
}  // namespace mxnet
#endif  // MXNET_OPERATOR_SPARSE_CSR_MERGE_H_
