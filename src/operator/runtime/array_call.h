/*
 * How an operator on arrays calls another operator. The imperative layer, which lies above this
 * one, gives the function when the library is loaded.
 */
#ifndef MXNET_OPERATOR_RUNTIME_ARRAY_CALL_H_
#define MXNET_OPERATOR_RUNTIME_ARRAY_CALL_H_

#include <vector>

#include "mxnet/kernel_args.h"
#include "mxnet/ndarray.h"

namespace mxnet {

/* Imperative::Run. */
using RunOnArraysFn = void (*)(const AttrsPtr& attrs, const std::vector<NDArray>& inputs, const std::vector<OpReq>& req,
                               const std::vector<NDArray>& outputs, bool is_train);
/* Returns true, so that an initializer can call it. */
bool SetRunOnArrays(RunOnArraysFn run);
void RunOnArrays(const AttrsPtr& attrs, const std::vector<NDArray>& inputs, const std::vector<OpReq>& req,
                 const std::vector<NDArray>& outputs, bool is_train);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RUNTIME_ARRAY_CALL_H_
