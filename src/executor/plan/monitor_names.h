// What a monitor is shown of a node that runs, and under which names.
#ifndef MXNET_EXECUTOR_PLAN_MONITOR_NAMES_H_
#define MXNET_EXECUTOR_PLAN_MONITOR_NAMES_H_

#include <string>
#include <vector>

#include "executor/plan/plan.h"

namespace mxnet {

/* Ends the names of nodes that make the zero gradient of a variable that nothing reaches. */
constexpr const char* kNoGrad = "_no_grad";

struct ShownValue {
  std::string name;
  int blob;
  bool is_input;
  bool is_zero;  // the gradient of an input that has none: 0 everywhere, of the shape of `blob`
};

/*
 * Inputs and outputs of node `t`, inputs first; `variables` are the names of the plan's inputs. The
 * names are those of 1.9.1: a variable is shown as itself and as the input; operators without names
 * of their own for inputs have NAME_input0; the values of gradient nodes are numbered by the
 * forward node's inputs.
 */
std::vector<ShownValue> ShownBy(const Plan& plan, const std::vector<std::string>& variables, int t, bool backward, bool numbers_outputs);
/* Names of the inputs of a forward node, behind the node's own. */
std::vector<std::string> ShownInputs(const Attrs& attrs);
/* Those of the outputs; with `numbered` 0, 1, ... where 1.9.1 has no names. */
std::vector<std::string> ShownOutputs(const Attrs& attrs, bool numbered);

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PLAN_MONITOR_NAMES_H_
