/* Kernels that compute on the host for a GPU's arrays too: iterations of LAPACK that no kernel of
 * ours does. */
#ifndef MXNET_OPERATOR_SHARED_ON_HOST_H_
#define MXNET_OPERATOR_SHARED_ON_HOST_H_

#include <functional>

#include "mxnet/kernel_args.h"

namespace mxnet {

/*
 * compute(args); on a GPU with copies of the inputs on the host, and results and updated inputs
 * (Op::mutate_inputs) that are copied back. Waits for the stream, so it cannot be captured. The
 * profiler has a marker of each such call in the domain host_copy.
 * REQUIRES: the operator's kernels do not add.
 */
void OnHost(KernelArgs& args, const std::function<void(KernelArgs&)>& compute);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_SHARED_ON_HOST_H_
