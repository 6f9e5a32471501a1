/* Running sums on a GPU. */
#ifndef MXNET_OPERATOR_REDUCE_GPU_SCAN_H_
#define MXNET_OPERATOR_REDUCE_GPU_SCAN_H_

#include "mxnet/kernel_args.h"

namespace mxnet {
namespace reduce {

struct DeviceScan {
  int64_t outer = 1, length = 1, inner = 1;  // the array around the axis
  bool reverse = false;                      // from the end
  bool exclusive = false;                    // without the element itself
};
/* out = sums of in along the middle, in an order that depends on the shape alone: in double, or in
 * int64 where out is of integers. May work in place. */
void ScanOnDevice(KernelArgs& args, const DeviceScan& scan, const TBlob& in, const TBlob& out);

}  // namespace reduce
}  // namespace mxnet
#endif  // MXNET_OPERATOR_REDUCE_GPU_SCAN_H_
