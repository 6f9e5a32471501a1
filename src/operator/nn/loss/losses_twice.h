/* Losses over sequences as other operators compute them, for their second derivatives. Both compute
 * in float64, as their kernels do. */
#ifndef MXNET_OPERATOR_NN_LOSS_LOSSES_TWICE_H_
#define MXNET_OPERATOR_NN_LOSS_LOSSES_TWICE_H_

#include <vector>

#include "mxnet/node.h"

namespace mxnet {
namespace nn {

struct CtcWrittenOut {
  bool data_lengths, label_lengths;  // are they among the inputs?
  bool blank_first;
};
/* The losses of data, label and lengths. */
NodeEntry WriteOutCtc(const CtcWrittenOut& how, const std::vector<NodeEntry>& inputs);

/* The likelihood. */
NodeEntry WriteOutHawkes(const std::vector<NodeEntry>& inputs);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_LOSS_LOSSES_TWICE_H_
