// What a plan is and how long its nodes take, for people.
#ifndef MXNET_EXECUTOR_EXPLAIN_H_
#define MXNET_EXECUTOR_EXPLAIN_H_

#include <memory>
#include <string>
#include <vector>

#include "executor/plan/plan_instance.h"

namespace mxnet {

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
