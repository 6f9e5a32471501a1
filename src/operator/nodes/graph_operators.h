/*
 * The operators that the graph, the tape, plans, passes and stores use on their own account: sums
 * of gradients, zeros, copies, casts, reshapes. Their names stand here alone.
 */
#ifndef MXNET_OPERATOR_NODES_GRAPH_OPERATORS_H_
#define MXNET_OPERATOR_NODES_GRAPH_OPERATORS_H_

#include <memory>
#include <string>
#include <vector>

#include "mxnet/base.h"
#include "mxnet/node.h"

namespace mxnet {
namespace graph_ops {

// ---- new nodes; each function returns the result of one

NodeEntry ZerosLike(const NodeEntry& like, const std::string& name = "");
NodeEntry OnesLike(const NodeEntry& like, const std::string& name = "");
NodeEntry CopyOf(const NodeEntry& e, const std::string& name = "");
NodeEntry AddOf(const NodeEntry& a, const NodeEntry& b, const std::string& name = "");
/* One node for any number of terms. */
NodeEntry SumOf(const std::vector<NodeEntry>& terms, const std::string& name = "");
/* Onto what a caller's array held before; in place where that is the output's array. */
NodeEntry AddGradient(const NodeEntry& before, const NodeEntry& gradient, const std::string& name = "");
/* A gradient in the dtype of what it belongs to. */
NodeEntry CastGradient(const NodeEntry& gradient, const NodeEntry& of, const std::string& name = "");
/* Mixed precision: between float16, bfloat16 and float32, other dtypes pass. */
NodeEntry CastTo(const NodeEntry& e, int dtype, const std::string& name = "");
/* Mixed precision: output i is input i in the widest dtype among the inputs. */
NodePtr CastToWidest(const std::vector<NodeEntry>& inputs, const std::string& name = "");
NodeEntry CopyTo(const NodeEntry& e, const Context& ctx);
NodeEntry ReshapeTo(const NodeEntry& e, const Shape& shape, const std::string& name = "");
/* Dimension i of the result is dimension axes[i] of `e`; `e` itself where each is in its place. */
NodeEntry TransposeTo(const NodeEntry& e, const std::vector<int>& axes, const std::string& name = "");
/* Of as many dimensions; those of size 1 are repeated. */
NodeEntry BroadcastTo(const NodeEntry& e, const Shape& shape, const std::string& name = "");
/* The same tensor in another memory layout; the plan knows in which. */
NodeEntry ToLayout(const NodeEntry& e, const std::string& name = "");
/* Of this shape and dtype, for who looks at nothing else: it never runs. */
NodeEntry ShapeOnly(const Shape& shape, int dtype, const std::string& name = "");

// ---- parameters of nodes

/* x * number; exactly that number. Defined beside the record. */
AttrsPtr MultiplyAttrs(double number);
/* The pointwise operators of a graph with so many inputs in one pass. `shape`: of the result, where
 * it is larger than what the inputs broadcast to; unknown otherwise. */
AttrsPtr FusedPointwiseAttrs(std::shared_ptr<Symbol> graph, size_t num_inputs, const Shape& shape);

// ---- parameters of calls on arrays, made once

const AttrsPtr& Zeros();                   // in the dtype of the output
AttrsPtr Filled(double value, int dtype);  // with 0 or 1
AttrsPtr CastAttrs(int dtype);
AttrsPtr Sum(int terms);
const AttrsPtr& Copy();        // on one device
const AttrsPtr& CopyAcross();  // between devices and dtypes
const AttrsPtr& CastStorageAttrs(StorageType storage);
const AttrsPtr& AddGradients();  // of AddGradient
const AttrsPtr& RetainRows();    // (array, row numbers): these rows, row_sparse where that is wished for
const AttrsPtr& ReshapeLike();   // (array, array whose shape it gets)
const AttrsPtr& ConnectedTo();   // (array, array that it then depends on, with gradient 0)
/* (array, array): summed over the dimensions that the second one does not have; itself when their
 * shapes are equal. */
const Op* SumLike();

}  // namespace graph_ops
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NODES_GRAPH_OPERATORS_H_
