/*
 * A compiled graph as one operator of the tape: _CachedOp. Its backward pass is normally that of
 * the recorded call (_backward_CachedOp). What computes is src/executor/cached_op.cc's.
 */
#ifndef MXNET_OPERATOR_RUNTIME_COMPILED_GRAPH_H_
#define MXNET_OPERATOR_RUNTIME_COMPILED_GRAPH_H_

#include <memory>
#include <vector>

#include "mxnet/ndarray.h"
#include "mxnet/node.h"

namespace mxnet {

class CompiledGraph {
 public:
  virtual ~CompiledGraph() = default;
  virtual int num_inputs() const = 0;
  virtual int num_outputs() const = 0;
  virtual const Symbol& graph() const = 0;
  /* Without a place on the tape: whoever calls records the call. */
  virtual void Call(const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs, bool is_train) = 0;
  /* Of a node with this graph: GradientFn. */
  virtual std::vector<NodeEntry> Gradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) = 0;
};

/* One recorded call, until its backward pass. */
class RecordedCall {
 public:
  virtual ~RecordedCall() = default;
  virtual int num_gradients() const = 0;
  virtual void Backward(const std::vector<NDArray*>& ograds, const std::vector<NDArray*>& grads) = 0;
};

/* Parameters of _CachedOp (`call` null when a backward pass made the node) and of
 * _backward_CachedOp. */
struct CompiledGraphParam {
  std::shared_ptr<CompiledGraph> graph;
  std::shared_ptr<RecordedCall> call;
};
AttrsPtr CompiledGraphAttrs(CompiledGraphParam param);
AttrsPtr BackwardOfCallAttrs(CompiledGraphParam param);
/* Throws Error(kValue) when the node comes from a file and so has none. */
const CompiledGraphParam& CompiledGraphOf(const Attrs& attrs);

/* The graph that a node _CachedOp stands for, given as text or, in files, as its subgraph; null for
 * other nodes. */
const Symbol* GraphOf(const Attrs& attrs);
/* How a graph is made of the parameters of a call by name: `subgraph`, the text of a symbol file,
 * and flags of CachedOp. The executor gives it. */
using MakeCompiledGraph = std::shared_ptr<CompiledGraph> (*)(const AttrDict& params);
bool SetMakeCompiledGraph(MakeCompiledGraph make);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RUNTIME_COMPILED_GRAPH_H_
