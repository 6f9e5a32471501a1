/* Layers on quantized numbers, written as what they compute of floats: for graphs that are trained,
 * since integers have no gradients. */
#ifndef MXNET_ONNX_REWRITE_FLOAT_NODES_H_
#define MXNET_ONNX_REWRITE_FLOAT_NODES_H_

#include <deque>
#include <vector>

#include "onnx/run/session.h"

namespace mxnet {
namespace onnx {

/*
 * The nodes of a graph, in their order, where operators on quantized numbers (QLinearConv, ...) are
 * DequantizeLinear of what they read, the operator on floats, and QuantizeLinear; and sums of
 * products of integers (MatMulInteger) with the Cast and the scales behind them are products of
 * what DequantizeLinear makes. What only moves quantized numbers moves the floats. Nodes whose
 * scales are not known to be right for that stay as they are. `made` owns what is new.
 */
std::vector<const NodeProto*> FloatNodes(const GraphProto& graph, const Session& session, std::deque<NodeProto>* made);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_REWRITE_FLOAT_NODES_H_
