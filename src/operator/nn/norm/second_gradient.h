/* Second derivatives of normalizations whose statistics are those of the data. */
#ifndef MXNET_OPERATOR_NN_NORM_SECOND_GRADIENT_H_
#define MXNET_OPERATOR_NN_NORM_SECOND_GRADIENT_H_

#include <functional>
#include <string>
#include <vector>

#include "mxnet/op.h"

namespace mxnet {
namespace nn {

/* What normalizes, and which elements share a mean. */
struct Normalization {
  std::string forward;                                  // (data, gamma, beta) -> output
  AttrDict over;                                        // of `mean`: the dimensions of what is normalized together, which stay
  double eps;                                           // added to the variance
  std::function<NodeEntry(const NodeEntry&)> arranged;  // the data so that `over` fits; null: as it is
};

/*
 * The gradient of a node of "_backward_" + forward, which has the inputs ograd, data and gamma and
 * the results data_grad, gamma_grad and beta_grad. It is made of the same two operators, so that it
 * can be differentiated again.
 */
std::vector<NodeEntry> NormalizationSecondGradient(const Normalization& norm, const NodePtr& node, const std::vector<NodeEntry>& ograds);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_NORM_SECOND_GRADIENT_H_
