/* Which nodes of a graph compute with integers, written as floats. */
#ifndef MXNET_ONNX_REWRITE_INTEGERS_H_
#define MXNET_ONNX_REWRITE_INTEGERS_H_

#include <deque>
#include <vector>

#include "onnx/run/session.h"

namespace mxnet {
namespace onnx {

/* The domain of the nodes that take the place of others. Their rules are in
 * convert/quantized/integers.cc. */
constexpr char kIntegerDomain[] = "mxnet.integers";

/*
 * The nodes of a graph, in their order, where groups that compute with quantized numbers are one
 * node each: DequantizeLinear of what an operator reads, the operator, its activation, and
 * QuantizeLinear; and a product of integers with the Cast and the factors behind it. The results
 * are those of the group, but that two roundings may become one. `made` owns what is new.
 */
std::vector<const NodeProto*> IntegerNodes(const GraphProto& graph, const Session& session, std::deque<NodeProto>* made);

/* Does it round what it computes to integers that stand for floats? */
bool RoundsToIntegers(const GraphProto& graph);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_REWRITE_INTEGERS_H_
