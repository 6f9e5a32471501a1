/*
 * What a record may ask of a graph that its node holds (Attrs::subgraphs). The graph layer, which
 * lies above this one, gives the functions when the library is loaded (src/graph/subgraph.cc).
 */
#ifndef MXNET_OPERATOR_RUNTIME_SUBGRAPH_H_
#define MXNET_OPERATOR_RUNTIME_SUBGRAPH_H_

#include <memory>
#include <unordered_map>
#include <vector>

#include "mxnet/base.h"
#include "mxnet/infer_switches.h"
#include "mxnet/node.h"

namespace mxnet {

struct Subgraph {
  std::vector<NodePtr> nodes;   // before their users, variables among them
  std::vector<NodePtr> inputs;  // the variables, in the order of the holding node's inputs
  std::vector<NodeEntry> outputs;
};
/* Of every node of the graph: dtypes of its outputs. */
using SubgraphTypes = std::unordered_map<const Node*, std::vector<int>>;

struct SubgraphFunctions {
  Subgraph (*read)(const Symbol& graph);
  /* From those of the inputs, in both directions; kDTypeUnknown where they do not tell. */
  SubgraphTypes (*infer_types)(const Symbol& graph, const InferSwitches& switches, const std::vector<int>& inputs);
  /* A graph with these results. */
  std::shared_ptr<Symbol> (*make)(std::vector<NodeEntry> outputs);
  /* Of the inputs and outputs, in both directions. True when all of the graph is known. */
  bool (*infer_arguments)(const Symbol& graph, const InferSwitches& switches, ShapeVector* inputs, ShapeVector* outputs);
  bool (*infer_argument_types)(const Symbol& graph, const InferSwitches& switches, std::vector<int>* inputs, std::vector<int>* outputs);
  /* mxnet::Gradient. */
  std::vector<NodeEntry> (*gradient)(const std::vector<NodeEntry>& ys, const std::vector<NodeEntry>& xs,
                                     const std::vector<NodeEntry>& head_grads);
};
/* Returns true, so that an initializer can call it. */
bool SetSubgraphFunctions(const SubgraphFunctions& functions);

const SubgraphFunctions& OfSubgraphs();
Subgraph ReadSubgraph(const Symbol& graph);
/* Throws Error(kValue) that names `attrs`' operator when the graph has another number of inputs. */
SubgraphTypes InferSubgraphTypes(const Attrs& attrs, const InferSwitches& switches, const Symbol& graph, const std::vector<int>& inputs);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RUNTIME_SUBGRAPH_H_
