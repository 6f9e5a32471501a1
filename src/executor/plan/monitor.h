// Who wants to see the results of a graph's nodes.
#ifndef MXNET_EXECUTOR_PLAN_MONITOR_H_
#define MXNET_EXECUTOR_PLAN_MONITOR_H_

#include <string>

#include "mxnet/executor.h"
#include "mxnet/op.h"

namespace mxnet {

/* Is shown the outputs of every node, with `all` its inputs too. A CachedOp's monitor sees numbers
 * for outputs without names (NAME_0), an executor's NAME_output. */
struct Monitor {
  Executor::MonitorFn fn;
  bool all = false, numbers_outputs = false;
  /* The function may take itself away meanwhile, or set another one. */
  void Tell(const std::string& name, const Op& op, const NDArray& array) const {
    const Executor::MonitorFn now = fn;
    if (now) now(name.c_str(), op.name.c_str(), array);
  }
  explicit operator bool() const { return static_cast<bool>(fn); }
};

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PLAN_MONITOR_H_
