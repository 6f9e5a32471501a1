#ifndef MXNET_OPERATOR_NODES_PADDING_H_
#define MXNET_OPERATOR_NODES_PADDING_H_

#include <cstdint>
#include <vector>

#include "mxnet/base.h"
#include "mxnet/node.h"

namespace mxnet {

/* View of an operator that puts zeros around its first input: how many before and behind each
 * dimension, in turn. Empty where it puts something else there. */
struct ZerosAroundView {
  std::vector<int64_t> widths;
};

/* The convolution on other data, which it pads by `pad` on both sides of each spatial dimension. */
NodePtr MakePadded(const Node& convolution, const NodeEntry& data, const Shape& pad);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_NODES_PADDING_H_
