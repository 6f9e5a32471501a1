/* Sorting along one dimension on a GPU: short lines by one block each, long ones by a stable radix
 * sort of all. */
#ifndef MXNET_OPERATOR_INDEXING_GPU_ORDER_H_
#define MXNET_OPERATOR_INDEXING_GPU_ORDER_H_

#include "mxnet/kernel_args.h"
#include "operator/indexing/order.h"

namespace mxnet {

/* OrderEntries where args.run says. */
void OrderEntries(KernelArgs& args, const TBlob& data, int64_t outer, int64_t size, int64_t inner, int64_t k, bool ascending, void* values,
                  int64_t* positions);
/* On the GPU. `bound`: data is int64 and lies in [0, bound); 0: nothing is known. */
void OrderEntriesOnDevice(KernelArgs& args, const TBlob& data, int64_t outer, int64_t size, int64_t inner, int64_t k, bool ascending,
                          void* values, int64_t* positions, int64_t bound = 0);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_INDEXING_GPU_ORDER_H_
