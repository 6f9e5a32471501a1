/* Products that read a transposed array as it lies. */
#ifndef MXNET_ONNX_REWRITE_TRANSPOSED_H_
#define MXNET_ONNX_REWRITE_TRANSPOSED_H_

#include <deque>
#include <vector>

#include "onnx/run/session.h"

namespace mxnet {
namespace onnx {

/*
 * The nodes of a graph, where a MatMul and a Transpose of its second input's matrices are one
 * FusedMatMul: a decoder multiplies by the keys of its whole cache in each step, and its exporter
 * has transposed them. A number that they are multiplied by behind that goes to the first input,
 * which has a row for each token. A Transpose that others read stays. `made` owns what is new.
 */
std::vector<const NodeProto*> JoinTransposes(const std::vector<const NodeProto*>& nodes, const GraphProto& graph, const Session& session,
                                             std::deque<NodeProto>* made);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_REWRITE_TRANSPOSED_H_
