// Which operators monitors show with the names of their inputs.
#ifndef MXNET_OPERATOR_SHOWN_INPUTS_H_
#define MXNET_OPERATOR_SHOWN_INPUTS_H_

#include "mxnet/op.h"

namespace mxnet {

/* False: a monitor calls the inputs NAME_input0, NAME_input1, ... */
bool ShowsInputNames(const Op& op);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_SHOWN_INPUTS_H_
