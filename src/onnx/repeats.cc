#include "onnx/repeats.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace mxnet {
namespace onnx {
namespace {

bool IsPlain(const NodeProto& n, const char* op) {
  return n.op == op && n.domain.empty() && n.small.empty() && n.inputs.size() == 2 && n.outputs.size() == 1;
}

/* Also one that JoinTransposes has made. */
bool IsProduct(const NodeProto& n) {
  if (IsPlain(n, "MatMul")) return true;
  const auto is_swap = [](const Attribute& a) { return a.name == "transB"; };
  return n.op == "FusedMatMul" && n.domain == "com.microsoft" && n.small.empty() && n.inputs.size() == 2 &&
         std::all_of(n.attributes.begin(), n.attributes.end(), is_swap);
}

class Graph {
 public:
  Graph(const std::vector<const NodeProto*>& nodes, const GraphProto& graph) {
    for (const NodeProto* n : nodes) {
      for (const auto* list : {&n->inputs, &n->captured})
        for (const std::string& name : *list) ++uses_[name];
      for (const std::string& name : n->outputs) makers_[name] = n;
    }
    for (const ValueInfo& v : graph.outputs) ++uses_[v.name];
  }
  /* What makes the name, for one reader alone; null: something else does. */
  const NodeProto* MakerFor(const std::string& name, const char* op) const {
    const auto found = makers_.find(name);
    return found != makers_.end() && IsPlain(*found->second, op) && uses_.at(name) == 1 ? found->second : nullptr;
  }

 private:
  std::unordered_map<std::string, const NodeProto*> makers_;
  std::unordered_map<std::string, int> uses_;
};

NodeProto Joined(const NodeProto& product, const NodeProto& expand, const NodeProto& reshape) {
  NodeProto n;
  n.name = product.name, n.op = "MatMul", n.domain = kRepeatsDomain, n.opset = 1;
  n.inputs = {product.inputs[0], expand.inputs[0], expand.inputs[1], reshape.inputs[1]}, n.outputs = product.outputs;
  n.attributes = product.attributes;
  n.attributes.insert(n.attributes.end(), reshape.attributes.begin(), reshape.attributes.end());
  return n;
}

}  // namespace

std::vector<const NodeProto*> JoinRepeats(const std::vector<const NodeProto*>& nodes, const GraphProto& graph,
                                          std::deque<NodeProto>* made) {
  if (std::none_of(nodes.begin(), nodes.end(), [](const NodeProto* n) { return IsPlain(*n, "Expand"); })) return nodes;
  const Graph known(nodes, graph);
  std::unordered_set<const NodeProto*> gone;
  std::vector<const NodeProto*> with = nodes;
  for (const NodeProto*& n : with) {
    const NodeProto* const reshape = IsProduct(*n) ? known.MakerFor(n->inputs[1], "Reshape") : nullptr;
    const NodeProto* const expand = reshape ? known.MakerFor(reshape->inputs[0], "Expand") : nullptr;
    if (!expand) continue;
    gone.insert({reshape, expand});
    n = &made->emplace_back(Joined(*n, *expand, *reshape));
  }
  with.erase(std::remove_if(with.begin(), with.end(), [&](const NodeProto* n) { return gone.count(n) > 0; }), with.end());
  return with;
}

}  // namespace onnx
}  // namespace mxnet
