// What a plan is and how long its nodes take, for people.
#ifndef MXNET_EXECUTOR_EXPLAIN_H_
#define MXNET_EXECUTOR_EXPLAIN_H_

#include <memory>
#include <string>
#include <vector>

#include "executor/plan/plan.h"

namespace mxnet {

/* Nanoseconds by run and node. */
using NodeTimes = std::vector<std::vector<double>>;

/*
 * Runs the plan `runs` times, forward and backward, node by node, in an arena of its own, without
 * CUDA graphs; what runs before that is not counted. On a GPU times are the device's, from events
 * on the stream. Nothing of the caller's is written: results, gradients and auxiliary states that
 * the plan writes are copies, and no random resource is used. `inputs` in slot order; where one is
 * none, zeros are taken. Waits. Constant nodes take no time, because they are up to date after the
 * first run. Throws Error(kValue) when an input does not fit the plan, and what a kernel throws.
 */
NodeTimes TimePlan(const std::shared_ptr<const Plan>& plan, const std::vector<NDArray>& inputs, int runs);

/*
 * The plan as one JSON object: device, training, inputs, passes, stats, bulks, nodes (operator,
 * name, parameters, tensors with shape, layout and place, FLOPs, bytes, times) and the blocks of
 * the arena with their offsets and lifetimes. `times` may be empty. docs/explain.md lists the
 * members.
 */
std::string ExplainPlan(const Plan& plan, const std::vector<std::string>& input_names, const NodeTimes& times);

/* Of the plan that ran last; before any run an executor's plan for training, if it has one. Throws
 * Error(kValue) when there is none. */
std::string ExplainExecutor(const Executor& executor, int runs);
/* `inputs` as for Invoke; none arrays stand for zeros. */
std::string ExplainCachedOp(const CachedOp& op, const std::vector<NDArray>& inputs, int runs);

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_EXPLAIN_H_
