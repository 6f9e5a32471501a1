/* Dense and sparse arrays from each other on a GPU, and sums of both. */
#ifndef MXNET_OPERATOR_SPARSE_GPU_CAST_H_
#define MXNET_OPERATOR_SPARSE_GPU_CAST_H_

#include "mxnet/kernel_args.h"
#include "mxnet/ndarray.h"

namespace mxnet {
namespace sparse {

/* ToDense of a sparse array. */
void ToDenseOnDevice(KernelArgs& args, const SparseParts& in, const TBlob& out);
/* FromDense. Waits for how much is stored. */
void FromDenseOnDevice(KernelArgs& args, const TBlob& in, SparseParts* out);
/* row_sparse `parts` without rows that are 0 altogether. Waits. */
void DropZeroRowsOnDevice(KernelArgs& args, SparseParts* parts);
/* out += or -= what is stored. */
void AddStoredOnDevice(KernelArgs& args, const SparseParts& parts, const TBlob& out, bool minus);

}  // namespace sparse
}  // namespace mxnet
#endif  // MXNET_OPERATOR_SPARSE_GPU_CAST_H_
