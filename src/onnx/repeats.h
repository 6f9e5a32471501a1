/* Products with keys and values that several heads share. */
#ifndef MXNET_ONNX_REPEATS_H_
#define MXNET_ONNX_REPEATS_H_

#include <deque>
#include <vector>

#include "onnx/model.h"

namespace mxnet {
namespace onnx {

/* The domain of the nodes that take the place of others; convert/matrix.cc has their rule. */
constexpr char kRepeatsDomain[] = "mxnet.repeats";

/*
 * The nodes of a graph, where a MatMul is one node with an Expand and a Reshape that repeat its
 * second input for each head of a group, and that nobody else reads: MatMul(a, apart, sizes of the
 * Expand, sizes of the Reshape). Where nodes run one by one, nothing is repeated then. Plans get
 * what the nodes say, which fold_repeats and fuse_attention know. `made` owns what is new.
 */
std::vector<const NodeProto*> JoinRepeats(const std::vector<const NodeProto*>& nodes, const GraphProto& graph, std::deque<NodeProto>* made);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_REPEATS_H_
