/* RNN as other operators compute it, for its second derivatives. */
#ifndef MXNET_OPERATOR_NN_RNN_RNN_TWICE_H_
#define MXNET_OPERATOR_NN_RNN_RNN_TWICE_H_

#include <vector>

#include "mxnet/node.h"

namespace mxnet {
namespace nn {

/* WriteOutFn of _backward_RNN: output, state_output and, of lstm, statecell_output. Dropout is that
 * of the forward pass. */
std::vector<NodeEntry> WriteOutRnn(const Node& backward, const std::vector<NodeEntry>& inputs);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_RNN_RNN_TWICE_H_
