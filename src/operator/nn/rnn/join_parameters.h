/* The parameters of a recurrent layer as one vector. */
#ifndef MXNET_OPERATOR_NN_RNN_JOIN_PARAMETERS_H_
#define MXNET_OPERATOR_NN_RNN_JOIN_PARAMETERS_H_

#include <string>
#include <vector>

#include "mxnet/node.h"

namespace mxnet {
namespace nn {

/* The elements of all arrays, one array behind the other, as one vector. */
NodePtr MakeJoinedParameters(std::vector<NodeEntry> arrays, const std::string& name);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_RNN_JOIN_PARAMETERS_H_
