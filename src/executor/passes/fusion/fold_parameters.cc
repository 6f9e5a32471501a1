// Folding as fold_scale.cc does it, with new parameters in the place of constant nodes: for graphs
// that are written to files, and for quantization, which wants to see the weights.
#include "executor/passes/fusion/fold_parameters.h"

#include "operator/nn/common/nn_common.h"
#include "operator/nn/common/scale_shift.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace {

std::unique_ptr<GraphInfo> Infer(const PassGraph& g, const std::map<std::string, Shape>& shapes) {
  auto info = std::make_unique<GraphInfo>(g.outputs);
  info->types.resize(info->g.num_entries());
  for (uint32_t id : info->g.input_nodes) {
    const auto known = shapes.find(info->g.nodes[id].source->name);
    if (known != shapes.end()) info->types[info->g.eid(id, 0)].shape = known->second;
  }
  GraphInference how;
  how.default_dtype = kFloat32;
  InferEntries(info->g, &info->types, how);
  for (uint32_t id = 0; id < info->g.nodes.size(); ++id) {  // images have as many dimensions as filters
    Shape& shape = info->types[info->g.eid(id, 0)].shape;
    if (shape.ndim_known() || RoleOf(*info->g.nodes[id].source) != Role::kConvolution) continue;
    const Shape& filters = info->types[info->g.eid(info->g.nodes[id].inputs[1])].shape;
    if (filters.ndim_known()) shape = Shape(filters.ndim());
  }
  return info;
}

struct ResultInfo {
  bool ndim_known;
  int dtype;
};
ResultInfo ResultOf(const GraphInfo& info, const Node& n) {
  const uint32_t e = info.g.eid(info.g.id.at(&n), 0);
  return {info.types[e].shape.ndim_known(), info.types[e].dtype};
}

void RemoveDropout(PassGraph* g, const std::set<std::string>& kept) {
  RewriteEntries(g, [&](const NodePtr& n, const NodePtr&) {
    std::vector<NodeEntry> results;
    const auto dropout = View<DropoutView>(*n);
    for (int i = 0; i < n->num_outputs(); ++i)
      results.push_back(i == 0 && dropout && dropout->DropsNothing(false) && !kept.count(n->name)
                            ? n->inputs[0]
                            : NodeEntry{n, static_cast<uint32_t>(i), 0});
    return results;
  });
}

/* Behind "_weight", or the whole name where it does not end so. */
std::string BiasName(const std::string& weight) {
  const std::string ending = "_weight";
  const bool ends = weight.size() > ending.size() && weight.compare(weight.size() - ending.size(), ending.size(), ending) == 0;
  return (ends ? weight.substr(0, weight.size() - ending.size()) : weight) + "_bias";
}

/* The folded layer on variables. Adds to the result what they are. */
NodePtr OnVariables(const Node& n, const std::string& name, std::set<std::string>* taken, FoldedSymbol* result) {
  const Node& fold = *n.inputs[1].node;
  const nn::ScaleShiftParam& p = *nn::ScaleShiftOf(fold);
  std::string bias = p.has_bias ? fold.inputs[1].node->name : BiasName(fold.inputs[0].node->name);
  while (!p.has_bias && !taken->insert(bias).second) bias += "_";
  const std::string names[] = {fold.inputs[0].node->name, bias};
  const NodePtr values = nn::MakeScaleShift(p, fold.inputs, fold.name);
  auto made = std::make_shared<Node>();
  made->name = name;
  made->attrs = n.attrs;
  made->inputs = {n.inputs[0]};
  for (uint32_t i = 0; i < 2; ++i) {
    made->inputs.push_back({MakeVariable(names[i]), 0, 0});
    result->names.push_back(names[i]);
    result->made.outputs.push_back({values, i, 0});
  }
  return made;
}

}  // namespace

FoldedSymbol FoldIntoParameters(const Symbol& symbol, const std::map<std::string, Shape>& shapes, const std::set<std::string>& kept) {
  PassGraph g;
  g.outputs = symbol.outputs;
  RemoveDropout(&g, kept);
  EntryUsers users = CountUsers(g);
  std::set<std::string> taken;
  for (const auto& name : symbol.ListInputNames(Symbol::kAll)) taken.insert(name);
  std::map<std::string, std::string> layers;  // what is folded -> the layer it goes into
  const auto info = Infer(g, shapes);
  FoldScaleShift(&g, *info, [&](const Node& layer, const Node& behind) {
    const ResultInfo result = ResultOf(*info, layer);
    if (kept.count(behind.name) || !result.ndim_known || result.dtype != kFloat32) return false;
    for (size_t i = 1; i < layer.inputs.size(); ++i)
      if (users[layer.inputs[i]] != 1) return false;
    const auto before = layers.find(layer.name);
    layers[behind.name] = before == layers.end() ? layer.name : before->second;
    return true;
  });
  FoldedSymbol result;
  Rewrite(&g, [&](const NodePtr& n, const NodePtr&) {
    const bool folded = n->inputs.size() > 1 && nn::ScaleShiftOf(*n->inputs[1].node);
    return folded ? OnVariables(*n, layers.at(n->name), &taken, &result) : n;
  });
  result.symbol.outputs = g.outputs;
  return result;
}

}  // namespace mxnet
