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

[[maybe_unused]] const bool given = SetSubgraphFunctions({Read, Infer});

}  // namespace
}  // namespace mxnet
