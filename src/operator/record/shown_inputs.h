// Which operators monitors show with the names of their inputs and outputs.
#ifndef MXNET_OPERATOR_RECORD_SHOWN_INPUTS_H_
#define MXNET_OPERATOR_RECORD_SHOWN_INPUTS_H_

#include <vector>

#include "mxnet/op.h"

namespace mxnet {

/* False: a monitor calls the inputs NAME_input0, NAME_input1, ... */
bool ShowsInputNames(const Op& op);
/* False: hooks of compiled blocks call the outputs NAME_0, NAME_1, ... */
bool ShowsOutputNames(const Op& op);

/* How monitors call the gradients of an operator's inputs in 1.9.1. */
struct ShownGradients {
  bool by_name = false;      // NAME_backward_data, not NAME_backward_output0
  bool own_node = false;     // NAME_backward_lhs_output: each gradient is a node of its own there
  std::vector<int> without;  // inputs that have none and are not counted
  std::vector<int> zero;     // inputs that no node here computes a gradient of, and whose zeros are shown there
};
const ShownGradients& ShownGradientsOf(const Op& op);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RECORD_SHOWN_INPUTS_H_
