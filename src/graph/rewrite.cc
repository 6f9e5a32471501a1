#include "graph/rewrite.h"

#include <map>
#include <unordered_set>
#include <utility>

#include "graph/entry_key.h"
#include "mxnet/op.h"
#include "operator/nodes/graph_operators.h"
#include "operator/record/traits_graph.h"

namespace mxnet {

Symbol RemoveAmpCast(const Symbol& symbol) {
  std::unordered_map<const Node*, NodePtr> renewed;
  std::function<NodeEntry(NodeEntry)> resolve = [&](NodeEntry e) {
    while (!e.node->is_variable() && e.node->op()->trait<MixedPrecisionCast>()) e = NodeEntry(e.node->inputs.at(e.index));
    auto it = renewed.find(e.node.get());
    return it == renewed.end() ? e : NodeEntry{it->second, e.index, e.version};
  };
  DFSVisit(symbol.outputs, [&](const NodePtr& n) {
    std::vector<NodeEntry> inputs;
    bool changed = false;
    for (const auto& e : n->inputs) {
      inputs.push_back(resolve(e));
      changed = changed || inputs.back().node != e.node;
    }
    if (!changed) return;
    auto copy = std::make_shared<Node>();
    copy->name = n->name;
    copy->attrs = n->attrs;
    copy->inputs = std::move(inputs);
    for (const auto& d : n->control_deps) copy->control_deps.push_back(renewed.count(d.get()) ? renewed[d.get()] : d);
    renewed[n.get()] = copy;
  });
  Symbol s;
  for (const auto& e : symbol.outputs) {  // a head that is a cast says what dtype the result has: it stays
    auto it = renewed.find(e.node.get());
    s.outputs.push_back(it == renewed.end() ? e : NodeEntry{it->second, e.index, e.version});
  }
  return s;
}

Symbol CutSubgraph(const Symbol& symbol, std::vector<Symbol>* inputs) {
  inputs->clear();
  auto name_of = [](const NodePtr& n) {
    auto it = n->attrs->dict.find("__subgraph_name__");
    return it == n->attrs->dict.end() ? std::string() : it->second;
  };
  const std::string name = symbol.outputs.empty() ? std::string() : name_of(symbol.outputs[0].node);
  if (name.empty()) return symbol;
  std::vector<NodePtr> order;
  DFSVisit(symbol.outputs, [&](const NodePtr& n) { order.push_back(n); });
  std::unordered_set<const Node*> inside;  // reached from the outputs without leaving the subgraph
  for (const auto& e : symbol.outputs) inside.insert(e.node.get());
  for (auto n = order.rbegin(); n != order.rend(); ++n) {
    if (!inside.count(n->get())) continue;
    for (const auto& e : (*n)->inputs)
      if (name_of(e.node) == name) inside.insert(e.node.get());
  }
  std::unordered_map<const Node*, NodePtr> renewed;
  std::map<EntryKey, NodePtr> variables;
  for (const NodePtr& n : order) {
    if (n->is_variable() || !inside.count(n.get())) continue;
    auto copy = std::make_shared<Node>();
    copy->name = n->name;
    copy->attrs = n->attrs;
    for (const auto& e : n->inputs) {
      if (inside.count(e.node.get())) {
        auto it = renewed.find(e.node.get());
        copy->inputs.push_back(it == renewed.end() ? e : NodeEntry{it->second, e.index, e.version});
        continue;
      }
      Symbol outside;
      outside.outputs = {e};
      NodePtr& variable = variables[e];
      if (!variable) variable = MakeVariable(outside.ListOutputNames()[0]);
      copy->inputs.push_back({variable, 0, 0});
      inputs->push_back(std::move(outside));
    }
    for (const auto& d : n->control_deps)
      if (inside.count(d.get())) copy->control_deps.push_back(renewed.count(d.get()) ? renewed[d.get()] : d);
    renewed[n.get()] = copy;
  }
  Symbol cut;
  for (const auto& e : symbol.outputs)
    cut.outputs.push_back(renewed.count(e.node.get()) ? NodeEntry{renewed[e.node.get()], e.index, e.version} : e);
  return cut;
}

Symbol GradientSymbol(const Symbol& symbol, const std::vector<std::string>& wrt) {
  std::map<std::string, NodePtr> arguments;
  std::string accepted;
  for (const NodePtr& v : symbol.ListInputs(Symbol::kReadOnlyArgs)) {
    arguments[v->name] = v;
    accepted += (accepted.empty() ? "" : ", ") + v->name;
  }
  std::vector<NodeEntry> xs, heads;
  for (const std::string& name : wrt) {
    auto it = arguments.find(name);
    MXNET_CHECK_KIND(it != arguments.end(), Value) << "[grad] got '" << name << "'; accepted: the arguments " << accepted;
    xs.push_back({it->second, 0, 0});
  }
  for (const NodeEntry& y : symbol.outputs) heads.push_back(graph_ops::OnesLike(y));
  Symbol gradient;
  gradient.outputs = Gradient(symbol.outputs, xs, heads);
  for (size_t i = 0; i < xs.size(); ++i)
    if (!gradient.outputs[i]) gradient.outputs[i] = graph_ops::ZerosLike(xs[i]);
  return gradient;
}

}  // namespace mxnet
