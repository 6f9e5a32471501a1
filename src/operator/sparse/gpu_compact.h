/* Parts of csr arrays on a GPU: elements that are kept, and parts that stand in a whole. */
#ifndef MXNET_OPERATOR_SPARSE_GPU_COMPACT_H_
#define MXNET_OPERATOR_SPARSE_GPU_COMPACT_H_

#include <functional>

#include "mxnet/kernel_args.h"
#include "mxnet/ndarray.h"

namespace mxnet {
namespace sparse {

/* Rows of a csr matrix: row r has the elements pointers[r] to pointers[r + 1] - 1, of which the
 * first is number `first`, and there are `count`. */
struct CsrRows {
  int64_t rows = 0;
  const int64_t* pointers = nullptr;
  int64_t first = 0, count = 0;
  const int64_t* columns = nullptr;  // of element 0
  const void* values = nullptr;
};
/* Memory for what is kept: all rows + 1 pointers, and so many columns and values. */
struct CsrTarget {
  int64_t *pointers, *columns;
  void* values;
};

/* Which elements, by marks. */
TBlob KeepColumnsOnDevice(KernelArgs& args, const CsrRows& from, int64_t low, int64_t high);
/* Those whose numbers, one for each, have a place (PlacesOnDevice). */
TBlob KeepPlacesOnDevice(KernelArgs& args, const int64_t* number, int64_t count, const int64_t* places);
/* Moves them to where target(how many) says, columns shifted. Waits for their number. */
void CompactOnDevice(KernelArgs& args, const CsrRows& from, int dtype, const TBlob& keep, int64_t shift,
                     const std::function<CsrTarget(int64_t count)>& target);

/* Of `rows` rows that stand in an array of `all`, from row `first` on: its index pointers. */
void PointersAroundOnDevice(KernelArgs& args, const int64_t* pointers, int64_t first, int64_t rows, int64_t all, int64_t* to);

}  // namespace sparse
}  // namespace mxnet
#endif  // MXNET_OPERATOR_SPARSE_GPU_COMPACT_H_
