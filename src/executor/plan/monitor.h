// Who wants to see the results of a graph's nodes.
#ifndef MXNET_EXECUTOR_PLAN_MONITOR_H_
#define MXNET_EXECUTOR_PLAN_MONITOR_H_

#include "mxnet/executor.h"

namespace mxnet {

/* Is shown the outputs of every node, with `all` its inputs too. A CachedOp's monitor sees numbers
 * for outputs without names (NAME_0), an executor's NAME_output. */
struct Monitor {
  Executor::MonitorFn fn;
  bool all = false, numbers_outputs = false;
  explicit operator bool() const { return static_cast<bool>(fn); }
};

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PLAN_MONITOR_H_
