// How long the nodes of a plan take.
#ifndef MXNET_EXECUTOR_PLAN_PLAN_TIMING_H_
#define MXNET_EXECUTOR_PLAN_PLAN_TIMING_H_

#include <memory>
#include <vector>

#include "executor/plan/plan_instance.h"

namespace mxnet {

/*
 * Runs the plan `runs` times, forward and backward, node by node, in an arena of its own, without
 * CUDA graphs; what runs before that is not counted. On a GPU times are the device's, from events
 * on the stream. Nothing of the caller's is written: results, gradients and auxiliary states that
 * the plan writes are copies, and no random resource is used. `inputs` in slot order; where one is
 * none, zeros are taken. Waits. Constant nodes take no time, because they are up to date after the
 * first run. Throws Error(kValue) when an input does not fit the plan, and what a kernel throws.
 */
NodeTimes TimePlan(const std::shared_ptr<const Plan>& plan, const std::vector<NDArray>& inputs, int runs);

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PLAN_PLAN_TIMING_H_
