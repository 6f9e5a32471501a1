// Graphs that nodes hold, as the records of those nodes see them.
#include "operator/runtime/subgraph.h"

#include "mxnet/graph.h"

namespace mxnet {
namespace {

Subgraph Read(const Symbol& graph) {
  Subgraph read;
  DFSVisit(graph.outputs, [&](const NodePtr& n) { read.nodes.push_back(n); });
  read.inputs = graph.ListInputs(Symbol::kAll);
  read.outputs = graph.outputs;
  return read;
}

SubgraphTypes Infer(const Symbol& graph, const std::vector<int>& inputs) {
  const IndexedGraph g(graph.outputs);
  std::vector<int> dtypes(g.num_entries(), kDTypeUnknown);
  const std::vector<NodePtr> variables = graph.ListInputs(Symbol::kAll);
  for (size_t i = 0; i < inputs.size(); ++i) dtypes[g.eid(g.id.at(variables[i].get()), 0)] = inputs[i];
  InferTypes(g, &dtypes, kDTypeUnknown);
  SubgraphTypes types;
  for (uint32_t id = 0; id < g.nodes.size(); ++id)
    types[g.nodes[id].source].assign(dtypes.begin() + g.entry_ptr[id], dtypes.begin() + g.entry_ptr[id + 1]);
  return types;
}

std::shared_ptr<Symbol> Make(std::vector<NodeEntry> outputs) {
  auto graph = std::make_shared<Symbol>();
  graph->outputs = std::move(outputs);
  return graph;
}

// `infer` fills in a vector by entry; what it finds out about outputs of one entry is the same.
template <typename T, typename Merge, typename Fill>
bool InferArguments(const Symbol& graph, std::vector<T>* inputs, std::vector<T>* outputs, const T& unknown, const Merge& merge,
                    const Fill& infer) {
  const IndexedGraph g(graph.outputs);
  std::vector<T> values(g.num_entries(), unknown);
  for (size_t i = 0; i < g.input_nodes.size(); ++i) values[g.eid(g.input_nodes[i], 0)] = (*inputs)[i];
  for (size_t o = 0; o < g.outputs.size(); ++o)
    MXNET_CHECK_KIND(merge(&values[g.eid(g.outputs[o])], (*outputs)[o]), Value)
        << "result " << o << " of the graph does not fit where it goes";
  const bool known = infer(g, &values);
  for (size_t i = 0; i < g.input_nodes.size(); ++i) (*inputs)[i] = values[g.eid(g.input_nodes[i], 0)];
  for (size_t o = 0; o < g.outputs.size(); ++o) (*outputs)[o] = values[g.eid(g.outputs[o])];
  return known;
}

bool InferArgumentShapes(const Symbol& graph, ShapeVector* inputs, ShapeVector* outputs) {
  return InferArguments(graph, inputs, outputs, Shape(), MergeShape,
                        [](const IndexedGraph& g, ShapeVector* shapes) { return InferShapes(g, shapes); });
}

bool InferArgumentTypes(const Symbol& graph, std::vector<int>* inputs, std::vector<int>* outputs) {
  return InferArguments(graph, inputs, outputs, int{kDTypeUnknown}, MergeDType,
                        [](const IndexedGraph& g, std::vector<int>* dtypes) { return InferTypes(g, dtypes, kDTypeUnknown); });
}

std::vector<NodeEntry> GradientOf(const std::vector<NodeEntry>& ys, const std::vector<NodeEntry>& xs,
                                  const std::vector<NodeEntry>& head_grads) {
  return Gradient(ys, xs, head_grads);
}

[[maybe_unused]] const bool given = SetSubgraphFunctions({Read, Infer, Make, InferArgumentShapes, InferArgumentTypes, GradientOf});

}  // namespace
}  // namespace mxnet
