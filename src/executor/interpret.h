// Running a graph operator by operator, for what a plan cannot hold.
#ifndef MXNET_EXECUTOR_INTERPRET_H_
#define MXNET_EXECUTOR_INTERPRET_H_

#include <vector>

#include "executor/plan/monitor.h"

namespace mxnet {

/* Runs a graph without a plan (value-dependent shapes, small graphs, recording). inputs in
 * ListInputs(kAll) order. */
void Interpret(const Symbol& symbol, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs, const Context& ctx,
               const Monitor& monitor = {});
/* Does it hold an operator whose result's shape depends on values? */
bool HasDynamicShape(const Symbol& symbol);
/* A head gradient as a plan reads it: of the output's dtype, on its device, and of that storage
 * (kUndefined is dense). `given` itself when it is that already. */
NDArray AsGradientOf(int dtype, Context ctx, const NDArray& given, StorageType storage = StorageType::kDense);

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_INTERPRET_H_
