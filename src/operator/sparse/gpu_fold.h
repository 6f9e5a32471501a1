/* Sums of the elements of csr arrays on a GPU. */
#ifndef MXNET_OPERATOR_SPARSE_GPU_FOLD_H_
#define MXNET_OPERATOR_SPARSE_GPU_FOLD_H_

#include "mxnet/kernel_args.h"
#include "mxnet/ndarray.h"

namespace mxnet {
namespace sparse {

enum class FoldKind : int { kSum = 0, kAbs = 1, kSquare = 2, kCount = 3 };

/*
 * out[k] = the sum, divided, of what is made of the elements of row k, or (`columns`) of column k;
 * `root`: its square root. Sums are double, or (`integers`) wrap around as 64-bit integers, neither
 * divided nor rooted. Those of columns are atomic, or, with MXNET_ENFORCE_DETERMINISM, in order.
 */
struct Fold {
  FoldKind kind;
  bool columns, integers;
  double divisor;
  bool root;
};
void FoldOnDevice(KernelArgs& args, const SparseParts& csr, const Fold& fold, const TBlob& out);

}  // namespace sparse
}  // namespace mxnet
#endif  // MXNET_OPERATOR_SPARSE_GPU_FOLD_H_
