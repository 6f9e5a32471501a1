// One call of a plan.
#ifndef MXNET_EXECUTOR_PLAN_PLAN_CALL_H_
#define MXNET_EXECUTOR_PLAN_PLAN_CALL_H_

#include <memory>
#include <vector>

#include "mxnet/imperative.h"
#include "mxnet/ndarray.h"

namespace mxnet {

/* Everything one run of a phase needs to know; kept alive by the pushed operations. */
struct PlanCall {
  std::vector<NDArray> arrays;  // by slot; none where the phase does not touch it
  Imperative::RandomResource* random = nullptr;
  RandomState random_start;  // as it was before this forward pass
  /* Of a phase with nodes that run alone, in place of the device's. */
  struct OwnRandom {
    RandomState state;
    NDArray taken;  // without memory: orders the operation that takes them before those that draw
  };
  OwnRandom own_random[2];            // forward, backward
  std::shared_ptr<PlanCall> repeats;  // a forward pass to repeat with its random numbers, leaving the device's alone
  bool free_after_forward = false, free_after_backward = false;
  bool graphs = false;     // a GPU may run it as CUDA graphs: arrays keep their places from call to call
  bool on_caller = false;  // the caller computes it itself, whatever it costs, unless something that it needs is in use
};

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PLAN_PLAN_CALL_H_
