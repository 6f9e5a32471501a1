// All nodes of a graph in one call.
#include "c_api/c_api_symbol.h"
#include "graph/gradient.h"
#include "graph/json.h"
#include "mxnet/numpy_shapes.h"
#include "mxnet/op.h"

using namespace mxnet;  // NOLINT

namespace {

/* Texts that lie one behind the other, and where each begins. Addresses are known when all are
 * there. */
class Texts {
 public:
  void Clear() {
    bytes_.clear();
    begins_.clear();
  }
  void Add(const std::string& text) {
    begins_.push_back(bytes_.size());
    bytes_.append(text.c_str(), text.size() + 1);
  }
  uint32_t count() const { return static_cast<uint32_t>(begins_.size()); }
  const char** Point() {
    pointers_.clear();
    for (size_t begin : begins_) pointers_.push_back(bytes_.data() + begin);
    return pointers_.data();
  }

 private:
  std::string bytes_;
  std::vector<size_t> begins_;
  std::vector<const char*> pointers_;
};

/* What MXSymbolGetNodes hands out, of each thread. Lists named `_ptr` have one number more than
 * there are nodes: what belongs to node i are the elements from ptr[i] to ptr[i + 1]. */
struct NodeLists {
  Texts names, operators, outputs, attrs;
  std::vector<int> kinds;
  std::vector<uint32_t> input_ptr, inputs, output_ptr, attr_ptr, graph_ptr, heads;
  std::vector<SymbolHandle> graphs;

  void Clear() {
    for (Texts* texts : {&names, &operators, &outputs, &attrs}) texts->Clear();
    for (auto* numbers : {&inputs, &heads}) numbers->clear();
    for (auto* begins : {&input_ptr, &output_ptr, &attr_ptr, &graph_ptr}) begins->assign(1, 0);
    kinds.clear();
    graphs.clear();
  }
  void Add(const IndexedGraph::NodeInfo& info, bool np_shape);
};

void NodeLists::Add(const IndexedGraph::NodeInfo& info, bool np_shape) {
  const Node& node = *info.source;
  names.Add(node.name);
  operators.Add(node.is_variable() ? "null" : NameInFiles(*node.op(), np_shape));
  kinds.push_back(node.is_variable() ? kMXNodeArgument : kMXNodeOperator);
  for (const auto& input : info.inputs) inputs.insert(inputs.end(), {input.node, input.index});
  input_ptr.push_back(static_cast<uint32_t>(inputs.size() / 2));
  Symbol results;
  for (int i = 0; i < node.num_outputs(); ++i) results.outputs.push_back({info.weak.lock(), static_cast<uint32_t>(i), 0});
  for (const std::string& name : results.ListOutputNames()) outputs.Add(name);
  output_ptr.push_back(outputs.count());
  for (const auto& attr : node.attrs->dict) {
    if (attr.first == kMirrorAttr) continue;  // of the gradient pass alone
    attrs.Add(attr.first);
    attrs.Add(attr.second);
  }
  attr_ptr.push_back(attrs.count() / 2);
  graph_ptr.push_back(graph_ptr.back() + static_cast<uint32_t>(node.attrs->subgraphs.size()));
}

}  // namespace

int MXSymbolGetNodes(SymbolHandle symbol, uint32_t* num_nodes, const char*** names, const char*** operators, const int** kinds,
                     const uint32_t** input_ptr, const uint32_t** inputs, const uint32_t** output_ptr, const char*** outputs,
                     const uint32_t** attr_ptr, const char*** attrs, const uint32_t** graph_ptr, SymbolHandle** graphs, uint32_t* num_heads,
                     const uint32_t** heads) {
  API_BEGIN(num_nodes, names, operators, kinds, input_ptr, inputs, output_ptr, outputs, attr_ptr, attrs, graph_ptr, graphs, num_heads,
            heads);
  const IndexedGraph graph(AsSymbol(symbol)->outputs);
  NodeLists& lists = PerThread<NodeLists>();
  lists.Clear();
  for (const auto& info : graph.nodes) lists.Add(info, NumpyShapes());
  for (size_t i = 0; i < graph.input_nodes.size(); ++i)
    if (graph.is_mutable_input[i]) lists.kinds[graph.input_nodes[i]] = kMXNodeAuxiliaryState;
  for (const auto& head : graph.outputs) lists.heads.insert(lists.heads.end(), {head.node, head.index});
  *names = lists.names.Point();
  *operators = lists.operators.Point();
  *outputs = lists.outputs.Point();
  *attrs = lists.attrs.Point();
  std::vector<std::unique_ptr<Symbol>> inner;
  for (const auto& info : graph.nodes)
    for (const auto& held : info.source->attrs->subgraphs) inner.push_back(std::make_unique<Symbol>(*held));
  lists.graphs.reserve(inner.size());
  for (auto& held : inner) lists.graphs.push_back(held.release());
  *num_nodes = static_cast<uint32_t>(graph.nodes.size());
  *num_heads = static_cast<uint32_t>(graph.outputs.size());
  *kinds = lists.kinds.data();
  *input_ptr = lists.input_ptr.data();
  *inputs = lists.inputs.data();
  *output_ptr = lists.output_ptr.data();
  *attr_ptr = lists.attr_ptr.data();
  *graph_ptr = lists.graph_ptr.data();
  *graphs = lists.graphs.data();
  *heads = lists.heads.data();
  API_END();
}
