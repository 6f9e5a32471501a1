#include "library/graphs.h"

#include <algorithm>

#include "graph/json.h"
#include "mxnet/op.h"

namespace mxnet {
namespace library {
namespace {

std::string Dims(const Shape& shape) {
  std::string text;
  for (int64_t d : shape) text += (text.empty() ? "" : ",") + std::to_string(d);
  return "[" + text + "]";
}

bool HasParameter(const Node& node, const std::string& name) {
  return !node.is_variable() &&
         std::any_of(node.op()->params.begin(), node.op()->params.end(), [&](const ParamInfo& p) { return p.name == name; });
}

/* Puts in, by entry id, what the caller knows of variables. */
void Seed(const IndexedGraph& g, const Request& r, TensorTypes* entries) {
  for (uint32_t id : g.input_nodes) {
    const std::string& name = g.nodes[id].source->name;
    TensorType& into = (*entries)[g.eid(id, 0)];
    for (const auto* arrays : {&r.given.args, &r.given.aux}) {
      const auto array = arrays->find(name);
      if (array != arrays->end()) into = array->second.type();
    }
    const auto shape = r.shapes.find(name);
    if (shape != r.shapes.end()) into.shape = shape->second;
    const auto dtype = r.dtypes.find(name);
    if (dtype != r.dtypes.end()) into.dtype = dtype->second;
  }
}

}  // namespace

void SetAttr(const NodePtr& node, const std::string& key, const std::string& value) {
  auto attrs = std::make_shared<Attrs>(*node->attrs);
  attrs->dict[key] = value;
  node->attrs = std::move(attrs);
}

Symbol Described(const Request& request) {
  Symbol copy = request.symbol.Copy();
  if (!request.infer) return copy;
  const IndexedGraph g(copy.outputs);
  TensorTypes entries(g.num_entries());
  Seed(g, request, &entries);
  InferEntries(g, &entries);
  std::vector<NodePtr> nodes(g.nodes.size());
  DFSVisit(copy.outputs, [&](const NodePtr& n) { nodes[g.id.at(n.get())] = n; });
  for (uint32_t id = 0; id < nodes.size(); ++id) {
    std::string shape_text, dtype_text;
    bool known = true;
    for (uint32_t e = g.entry_ptr[id]; e < g.entry_ptr[id + 1]; ++e) {
      known = known && entries[e].known();
      shape_text += (shape_text.empty() ? "" : ", ") + Dims(entries[e].shape);
      dtype_text += (dtype_text.empty() ? "" : ", ") + std::to_string(entries[e].dtype);
    }
    if (!known) continue;
    SetAttr(nodes[id], kShapeAttr, "[" + shape_text + "]");
    SetAttr(nodes[id], kDTypeAttr, "[" + dtype_text + "]");
  }
  return copy;
}

std::string TextWithFirstResults(const Symbol& described) {
  const Symbol copy = described.Copy();
  DFSVisit(copy.outputs, [](const NodePtr& n) {
    const auto shape = n->attrs->dict.find(kShapeAttr), dtype = n->attrs->dict.find(kDTypeAttr);
    if (shape == n->attrs->dict.end() || dtype == n->attrs->dict.end()) return;
    const std::string first_shape = shape->second.substr(1, shape->second.find(']')),
                      first_dtype = dtype->second.substr(1, dtype->second.find_first_of(",]") - 1);
    if (!HasParameter(*n, "shape")) SetAttr(n, "shape", first_shape);
    if (!HasParameter(*n, "dtype")) SetAttr(n, "dtype", first_dtype);
  });
  return SymbolToJSON(copy);
}

Symbol Undescribed(const Symbol& symbol) {
  Symbol copy = symbol.Copy();
  DFSVisit(copy.outputs, [](const NodePtr& n) {
    if (!n->attrs->dict.count(kShapeAttr) && !n->attrs->dict.count(kDTypeAttr)) return;
    auto attrs = std::make_shared<Attrs>(*n->attrs);
    attrs->dict.erase(kShapeAttr);
    attrs->dict.erase(kDTypeAttr);
    n->attrs = std::move(attrs);
  });
  return copy;
}

}  // namespace library
}  // namespace mxnet
