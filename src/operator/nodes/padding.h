#ifndef MXNET_OPERATOR_NODES_PADDING_H_
#define MXNET_OPERATOR_NODES_PADDING_H_

#include <cstdint>
#include <vector>

namespace mxnet {

/* View of an operator that puts zeros around its first input: how many before and behind each
 * dimension, in turn. Empty where it puts something else there. */
struct ZerosAroundView {
  std::vector<int64_t> widths;
};

}  // namespace mxnet
#endif  // MXNET_OPERATOR_NODES_PADDING_H_
