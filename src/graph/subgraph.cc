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

InferSwitches InGraph(InferSwitches switches) {
  switches.in_graph = true;
  return switches;
}

SubgraphTypes Infer(const Symbol& graph, const InferSwitches& switches, const std::vector<int>& inputs) {
  const IndexedGraph g(graph.outputs);
  TensorTypes entries(g.num_entries());
  const std::vector<NodePtr> variables = graph.ListInputs(Symbol::kAll);
  for (size_t i = 0; i < inputs.size(); ++i) entries[g.eid(g.id.at(variables[i].get()), 0)].dtype = inputs[i];
  GraphInference how;
  how.shapes = false;
  how.switches = InGraph(switches);
  InferEntries(g, &entries, how);
  SubgraphTypes types;
  for (uint32_t id = 0; id < g.nodes.size(); ++id)
    for (uint32_t e = g.entry_ptr[id]; e < g.entry_ptr[id + 1]; ++e) types[g.nodes[id].source].push_back(entries[e].dtype);
  return types;
}

std::shared_ptr<Symbol> Make(std::vector<NodeEntry> outputs) {
  auto graph = std::make_shared<Symbol>();
  graph->outputs = std::move(outputs);
  return graph;
}

// One part of the types, `part`. What is found out about outputs of one entry is the same.
template <typename T, typename Merge>
bool InferArguments(const Symbol& graph, const GraphInference& how, T TensorType::*part, std::vector<T>* inputs, std::vector<T>* outputs,
                    const Merge& merge) {
  const IndexedGraph g(graph.outputs);
  TensorTypes entries(g.num_entries());
  for (size_t i = 0; i < g.input_nodes.size(); ++i) entries[g.eid(g.input_nodes[i], 0)].*part = (*inputs)[i];
  for (size_t o = 0; o < g.outputs.size(); ++o)
    MXNET_CHECK_KIND(merge(&(entries[g.eid(g.outputs[o])].*part), (*outputs)[o]), Value)
        << "result " << o << " of the graph does not fit where it goes";
  const bool known = InferEntries(g, &entries, how);
  for (size_t i = 0; i < g.input_nodes.size(); ++i) (*inputs)[i] = entries[g.eid(g.input_nodes[i], 0)].*part;
  for (size_t o = 0; o < g.outputs.size(); ++o) (*outputs)[o] = entries[g.eid(g.outputs[o])].*part;
  return known;
}

bool InferArgumentShapes(const Symbol& graph, const InferSwitches& switches, ShapeVector* inputs, ShapeVector* outputs) {
  GraphInference how;
  how.dtypes = false;
  how.switches = InGraph(switches);
  return InferArguments(graph, how, &TensorType::shape, inputs, outputs, MergeShape);
}

bool InferArgumentTypes(const Symbol& graph, const InferSwitches& switches, std::vector<int>* inputs, std::vector<int>* outputs) {
  GraphInference how;
  how.shapes = false;
  how.switches = InGraph(switches);
  return InferArguments(graph, how, &TensorType::dtype, inputs, outputs, MergeDType);
}

std::vector<NodeEntry> GradientOf(const std::vector<NodeEntry>& ys, const std::vector<NodeEntry>& xs,
                                  const std::vector<NodeEntry>& head_grads) {
  return Gradient(ys, xs, head_grads);
}

[[maybe_unused]] const bool given = SetSubgraphFunctions({Read, Infer, Make, InferArgumentShapes, InferArgumentTypes, GradientOf});

}  // namespace
}  // namespace mxnet
