/* Numbers by their values on a GPU: which there are, and where. */
#ifndef MXNET_OPERATOR_SPARSE_GPU_GROUPS_H_
#define MXNET_OPERATOR_SPARSE_GPU_GROUPS_H_

#include "mxnet/kernel_args.h"

namespace mxnet {
namespace sparse {

/* Place k of the sorted numbers is number element[k] of those given. */
struct SortedNumbers {
  int64_t count = 0;
  const int64_t *sorted = nullptr, *element = nullptr;
};
/* Stable. REQUIRES: numbers in [0, bound). */
SortedNumbers SortOnDevice(KernelArgs& args, const int64_t* number, int64_t count, int64_t bound);

/* Of `bound` + 1 numbers 0, 1, ...: how many of the sorted ones are below. */
const int64_t* PointersOnDevice(KernelArgs& args, const SortedNumbers& numbers, int64_t bound);

/* The different numbers, ascending; those equal to ids[g] are the places begin[g] to
 * begin[g + 1] - 1 of the sorted ones. */
struct NumberGroups {
  int64_t count = 0;
  const int64_t *ids = nullptr, *begin = nullptr;
};
/* Waits for their count. */
NumberGroups GroupOnDevice(KernelArgs& args, const SortedNumbers& numbers);

}  // namespace sparse
}  // namespace mxnet
#endif  // MXNET_OPERATOR_SPARSE_GPU_GROUPS_H_
