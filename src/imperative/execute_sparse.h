/* Eager calls with arrays that are not all dense. */
#ifndef MXNET_IMPERATIVE_EXECUTE_SPARSE_H_
#define MXNET_IMPERATIVE_EXECUTE_SPARSE_H_

#include <vector>

#include "mxnet/ndarray.h"
#include "operator/record/sparse_form.h"

namespace mxnet {

/* Has the call to be looked at? */
inline bool MayBeSparse(const Op& op, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs) {
  for (const NDArray* a : inputs)
    if (IsSparse(a->storage_type())) return true;
  for (const NDArray* a : outputs)
    if (IsSparse(a->storage_type())) return true;
  return op.makes_sparse;
}

/*
 * Runs the operator's sparse form, or, where it has none for these storages, the operator on dense
 * copies; results are cast into the arrays that are given. False: everything is dense, and nothing
 * is done.
 */
bool ExecuteSparse(const AttrsPtr& attrs, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs,
                   const std::vector<OpReq>* reqs, Context ctx, bool is_train, bool shapes_only, size_t read);

}  // namespace mxnet
#endif  // MXNET_IMPERATIVE_EXECUTE_SPARSE_H_
