// Which operators monitors show with the names of their inputs and outputs.
#ifndef MXNET_OPERATOR_RECORD_SHOWN_INPUTS_H_
#define MXNET_OPERATOR_RECORD_SHOWN_INPUTS_H_

#include "mxnet/op.h"

namespace mxnet {

/* False: a monitor calls the inputs NAME_input0, NAME_input1, ... */
bool ShowsInputNames(const Op& op);
/* False: hooks of compiled blocks call the outputs NAME_0, NAME_1, ... */
bool ShowsOutputNames(const Op& op);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RECORD_SHOWN_INPUTS_H_
