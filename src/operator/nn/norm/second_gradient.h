/* Second derivatives of normalizations whose statistics are those of the data. */
#ifndef MXNET_OPERATOR_NN_NORM_SECOND_GRADIENT_H_
#define MXNET_OPERATOR_NN_NORM_SECOND_GRADIENT_H_

#include <functional>
#include <string>
#include <vector>

#include "mxnet/node.h"

namespace mxnet {
namespace nn {

/* A node of a gradient: what it was given, what normalizes, and which elements share a mean. */
struct Normalization {
  using MakeEntry = std::function<NodeEntry(const NodeEntry&)>;
  NodeEntry ograd, data, gamma;
  /* Of the data, with other parameters. */
  std::function<NodeEntry(const NodeEntry& gamma, const NodeEntry& beta)> forward;
  /* Result 0 or 2: the gradients of data and beta. */
  std::function<NodeEntry(const NodeEntry& ograd, const NodeEntry& gamma, uint32_t result)> backward;
  AttrDict over;          // of `mean`: the dimensions of what is normalized together, which stay
  double eps;             // added to the variance
  MakeEntry arranged;     // an array like the data so that `over` fits; null: as it is
  MakeEntry of_the_data;  // zeros in place of an array where the statistics are not those of the data; null: they are
};

/* Of a node of "_backward_" + forward, which has the inputs ograd, data and gamma and the results
 * data_grad, gamma_grad and beta_grad; the operator `forward` takes data, gamma and beta. */
Normalization NormalizationOf(const std::string& forward, const NodePtr& node, AttrDict over, double eps,
                              Normalization::MakeEntry arranged = nullptr);

/* The gradients of ograd, data and gamma. They are made of forward and backward, so that they can
 * be differentiated again. */
std::vector<NodeEntry> NormalizationSecondGradient(const Normalization& norm, const std::vector<NodeEntry>& ograds);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_NORM_SECOND_GRADIENT_H_
