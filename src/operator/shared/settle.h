/* SparseParts::Settle for parts on a GPU. */
#ifndef MXNET_OPERATOR_SHARED_SETTLE_H_
#define MXNET_OPERATOR_SHARED_SETTLE_H_

#include "mxnet/kernel_args.h"
#include "mxnet/ndarray.h"

namespace mxnet {

/*
 * What a caller filled in is looked at by a kernel, whose finding is read back: once, for the parts
 * remember it. Throws what Settle throws, with part and position.
 */
void SettleOnDevice(KernelArgs& args, SparseParts* parts);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_SHARED_SETTLE_H_
