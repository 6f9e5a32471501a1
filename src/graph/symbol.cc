// Composition, copies, listings and attributes of symbols.
#include <algorithm>
#include <sstream>
#include <unordered_set>

#include "graph/compose.h"
#include "graph/constraints.h"
#include "mxnet/graph.h"
#include "operator/record/async_call.h"
#include "operator/record/check.h"
#include "operator/record/initial_value.h"
#include "operator/runtime/compiled_graph.h"
#include "operator/runtime/holds_graphs.h"

namespace mxnet {
namespace {

/* A node and its gradient know each other by the parameters that they share where the node has a
 * state of its own, or holds a graph with such nodes: a copy has others. */
AttrsPtr AttrsOfCopy(const AttrsPtr& attrs) {
  if (!attrs->op) return attrs;
  const AsyncCall* async = attrs->op->trait<AsyncCall>();
  if (async && async->for_call) return async->for_call(attrs);
  if (!attrs->op->trait<HoldsGraphs>() || attrs->op->RunsBy(*attrs) != RunBy::kGraphKernel) return attrs;
  auto copy = std::make_shared<Attrs>(*MakeAttrs(attrs->op, attrs->dict));
  for (const auto& graph : attrs->subgraphs) copy->subgraphs.push_back(std::make_shared<Symbol>(graph->Copy()));
  return copy;
}

std::string ListNames(const std::vector<std::string>& names) {
  std::string s;
  for (const auto& n : names) s += (s.empty() ? "" : ", ") + n;
  return s.empty() ? "(none)" : s;
}

std::string EntryName(const NodeEntry& e) {
  if (e.node->is_variable()) return e.node->name;
  const auto names = e.node->op()->ListOutputs(*e.node->attrs);
  const std::string suffix = e.index < names.size() ? names[e.index] : "output" + std::to_string(e.index);
  return e.node->name.empty() ? suffix : e.node->name + "_" + suffix;
}

bool IsAtomic(const Symbol& s) {
  if (s.outputs.empty()) return false;
  const NodePtr& n = s.outputs[0].node;
  if (n->is_variable() || !n->inputs.empty()) return false;
  for (const auto& e : s.outputs)
    if (e.node != n) return false;
  return true;
}

std::vector<NodeEntry> VisibleOutputs(const NodePtr& n) {
  const int count = n->is_variable() ? 1 : n->op()->NumVisibleOutputs(*n->attrs);
  std::vector<NodeEntry> entries;
  for (int i = 0; i < count; ++i) entries.push_back({n, static_cast<uint32_t>(i), 0});
  return entries;
}

/* The graphs that the operator of an atomic symbol holds come before its inputs. */
void TakeGraphs(Node* node, std::vector<Symbol>* args, std::vector<std::string>* keys) {
  const HoldsGraphs* graphs = node->op()->trait<HoldsGraphs>();
  if (!graphs || !node->attrs->subgraphs.empty()) return;
  const size_t n = graphs->names.size();
  MXNET_CHECK_KIND(args->size() >= n, Value) << "[" << node->op()->name << "] got " << args->size()
                                             << " inputs; the first ones are the graphs " << ListNames(graphs->names);
  auto attrs = std::make_shared<Attrs>(*node->attrs);
  for (size_t i = 0; i < n; ++i) {
    MXNET_CHECK_KIND(!(*args)[i].outputs.empty(), Value) << "[" << node->op()->name << "] graph " << graphs->names[i] << " has no outputs";
    attrs->subgraphs.push_back(std::make_shared<Symbol>((*args)[i].Copy()));
  }
  node->attrs = std::move(attrs);
  args->erase(args->begin(), args->begin() + static_cast<std::ptrdiff_t>(n));
  if (!keys->empty()) keys->erase(keys->begin(), keys->begin() + static_cast<std::ptrdiff_t>(std::min(n, keys->size())));
}

void ComposeAtomic(Symbol* self, std::vector<Symbol> args, std::vector<std::string> keys, const std::string& name) {
  Node* node = self->outputs[0].node.get();
  TakeGraphs(node, &args, &keys);
  const Op* op = node->op();
  const std::vector<std::string> inputs = op->ListInputs(*node->attrs);
  const size_t n = inputs.size();
  std::vector<NodeEntry> given(n);
  size_t position = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    const bool by_name = i < keys.size() && !keys[i].empty();
    size_t at = position;
    if (by_name) {
      at = std::find(inputs.begin(), inputs.end(), keys[i]) - inputs.begin();
      MXNET_CHECK_KIND(at < n, Value) << "[" << op->name << "] there is no input " << keys[i] << "; inputs: " << ListNames(inputs);
    } else {
      ++position;
      MXNET_CHECK_KIND(at < n, Value) << "[" << op->name << "] got " << args.size() << " inputs; accepted: " << n << " ("
                                      << ListNames(inputs) << ")";
    }
    MXNET_CHECK_KIND(!given[at], Value) << "[" << op->name << "] input " << inputs[at] << " is given twice";
    MXNET_CHECK_KIND(args[i].outputs.size() == 1, Value) << "[" << op->name << "] input " << inputs[at] << " is a symbol with "
                                                         << args[i].outputs.size() << " outputs; choose one of them, e.g. symbol[0]";
    given[at] = args[i].outputs[0];
  }
  node->name = name;
  const std::vector<int> mutated = op->MutateInputs(*node->attrs);
  for (size_t i = 0; i < n; ++i) {
    const bool aux = std::find(mutated.begin(), mutated.end(), static_cast<int>(i)) != mutated.end();
    if (!given[i]) {
      // what the user never mentioned becomes a variable that carries the node's attributes
      AttrDict dict = node->attrs->dict;
      given[i] = {MakeVariable(name.empty() ? inputs[i] : name + "_" + inputs[i], std::move(dict)), 0, 0};
    }
    if (!given[i].node->is_variable()) continue;
    if (aux) ++given[i].version;
    WishInitialValue(*node->attrs, inputs[i], given[i].node.get());  // also of a variable that the user made, unless the user says how
  }
  node->inputs = std::move(given);
}

// Replaces free variables of a finished graph. Builds new nodes on the way, so that other users of
// the old ones see no change.
void ComposeGraph(Symbol* self, const std::vector<Symbol>& args, const std::vector<std::string>& keys, const std::string& name) {
  const std::vector<NodePtr> variables = self->ListInputs(Symbol::kAll);
  std::unordered_map<const Node*, NodeEntry> with;
  for (size_t i = 0; i < args.size(); ++i) {
    MXNET_CHECK_KIND(i < keys.size() && !keys[i].empty(), Value)
        << "[Symbol] got a positional input for a composed symbol; name the variable that it replaces: net(data=x)";
    MXNET_CHECK_KIND(args[i].outputs.size() == 1, Value)
        << "[Symbol] input " << keys[i] << " has " << args[i].outputs.size() << " outputs; choose one of them";
    auto it = std::find_if(variables.begin(), variables.end(), [&](const NodePtr& v) { return v->name == keys[i]; });
    MXNET_CHECK_KIND(it != variables.end(), Value)
        << "[Symbol] there is no variable " << keys[i] << "; variables: " << ListNames(self->ListInputNames(Symbol::kAll));
    with[it->get()] = args[i].outputs[0];
  }
  std::unordered_map<const Node*, NodePtr> renewed;
  auto replace = [&](const NodeEntry& e) -> NodeEntry {
    auto v = with.find(e.node.get());
    if (v != with.end())
      return NodeEntry{v->second.node, v->second.index, v->second.node->is_variable() ? std::max(e.version, v->second.version) : 0};
    auto r = renewed.find(e.node.get());
    return r == renewed.end() ? e : NodeEntry{r->second, e.index, e.version};
  };
  DFSVisit(self->outputs, [&](const NodePtr& n) {
    bool changed = false;
    for (const auto& e : n->inputs) changed = changed || with.count(e.node.get()) || renewed.count(e.node.get());
    for (const auto& d : n->control_deps) changed = changed || renewed.count(d.get());
    if (!changed) return;
    auto copy = std::make_shared<Node>();
    copy->name = n->name;
    copy->attrs = AttrsOfCopy(n->attrs);
    for (const auto& e : n->inputs) copy->inputs.push_back(replace(e));
    for (const auto& d : n->control_deps) copy->control_deps.push_back(renewed.count(d.get()) ? renewed[d.get()] : d);
    renewed[n.get()] = copy;
  });
  for (auto& e : self->outputs) e = replace(e);
  bool one_node = !self->outputs.empty();
  for (const auto& e : self->outputs) one_node = one_node && e.node == self->outputs[0].node;
  if (one_node && !name.empty() && renewed.size()) {
    for (const auto& kv : renewed)
      if (kv.second == self->outputs[0].node) kv.second->name = name;
  }
}

}  // namespace

void WishInitialValue(const Attrs& attrs, const std::string& input, Node* variable) {
  const std::string init = InitialValue(attrs, input);
  if (init.empty() || variable->attrs->dict.count("__init__")) return;
  AttrDict dict = variable->attrs->dict;
  dict["__init__"] = init;
  variable->attrs = MakeAttrs(nullptr, std::move(dict));
}

Symbol Inlined(const Symbol& given, const std::vector<Symbol>& args, std::vector<std::string> keys, const std::string& name) {
  Symbol graph = given.Copy();
  const std::vector<NodePtr> variables = graph.ListInputs(Symbol::kAll);
  MXNET_CHECK_KIND(args.size() <= variables.size(), Value) << "[_CachedOp] got " << args.size() << " inputs; accepted: " << variables.size()
                                                           << " (" << ListNames(graph.ListInputNames(Symbol::kAll)) << ")";
  // Several variables of a text may have one name, so places stand for the names here.
  std::vector<std::string> own;
  for (size_t i = 0; i < variables.size(); ++i) {
    own.push_back(variables[i]->name);
    variables[i]->name = std::to_string(i);
  }
  keys.resize(args.size());
  size_t position = 0;
  for (auto& key : keys) {
    const size_t at = key.empty() ? position++ : static_cast<size_t>(std::find(own.begin(), own.end(), key) - own.begin());
    MXNET_CHECK_KIND(at < own.size(), Value) << "[_CachedOp] there is no input " << key << "; inputs: " << ListNames(own);
    key = std::to_string(at);
  }
  const std::string before = name.empty() ? "" : name + "_";
  DFSVisit(graph.outputs, [&](const NodePtr& n) {
    if (!n->is_variable()) n->name = before + n->name;
  });
  ComposeGraph(&graph, args, keys, "");
  for (size_t i = 0; i < variables.size(); ++i) variables[i]->name = before + own[i];
  return graph;
}

Symbol Symbol::Variable(const std::string& name, AttrDict attrs) {
  Symbol s;
  s.outputs.push_back({MakeVariable(name, std::move(attrs)), 0, 0});
  return s;
}

Symbol Symbol::Atomic(const Op* op, AttrDict dict) {
  auto n = std::make_shared<Node>();
  n->attrs = MakeAttrs(op, Constrained(std::move(dict)));
  CheckPublic(*n->attrs);
  Symbol s;
  s.outputs = VisibleOutputs(n);
  return s;
}

Symbol Symbol::Group(const std::vector<Symbol>& parts) {
  Symbol s;
  for (const auto& p : parts) s.outputs.insert(s.outputs.end(), p.outputs.begin(), p.outputs.end());
  return s;
}

void Symbol::Compose(const std::vector<Symbol>& args, const std::vector<std::string>& keys, const std::string& name) {
  MXNET_CHECK_KIND(!outputs.empty(), Value) << "[Symbol] an empty symbol cannot be composed";
  for (const auto& a : args)
    MXNET_CHECK_KIND(!IsAtomic(a) || a.outputs[0].node->op()->NumInputs(*a.outputs[0].node->attrs) == 0, Value)
        << "[Symbol] an input is operator " << a.outputs[0].node->op()->name << " without its own inputs; compose it first";
  const Symbol* graph = IsAtomic(*this) ? GraphOf(*outputs[0].node->attrs) : nullptr;
  if (graph)  // so nothing behind needs to know such nodes
    *this = Inlined(*graph, args, keys, name);
  else if (IsAtomic(*this))
    ComposeAtomic(this, args, keys, name);
  else
    ComposeGraph(this, args, keys, name);
}

Symbol Symbol::Copy() const {
  std::unordered_map<const Node*, NodePtr> copies;
  DFSVisit(outputs, [&](const NodePtr& n) {
    auto copy = std::make_shared<Node>();
    copy->name = n->name;
    copy->attrs = AttrsOfCopy(n->attrs);
    for (const auto& e : n->inputs) copy->inputs.push_back({copies.at(e.node.get()), e.index, e.version});
    for (const auto& d : n->control_deps) copy->control_deps.push_back(copies.at(d.get()));
    copies[n.get()] = copy;
  });
  Symbol s;
  for (const auto& e : outputs) s.outputs.push_back({copies.at(e.node.get()), e.index, e.version});
  return s;
}

Symbol Symbol::operator[](size_t index) const {
  MXNET_CHECK_KIND(index < outputs.size(), Index) << "[Symbol] output " << index << " of a symbol with " << outputs.size() << " outputs";
  Symbol s;
  s.outputs.push_back(outputs[index]);
  return s;
}

Symbol Symbol::GetInternals() const {
  Symbol s;
  DFSVisit(outputs, [&](const NodePtr& n) {
    auto visible = VisibleOutputs(n);
    s.outputs.insert(s.outputs.end(), visible.begin(), visible.end());
  });
  return s;
}

Symbol Symbol::GetChildren() const {
  Symbol s;
  std::unordered_set<const Node*> seen;
  for (const auto& e : outputs)
    if (seen.insert(e.node.get()).second) s.outputs.insert(s.outputs.end(), e.node->inputs.begin(), e.node->inputs.end());
  return s;
}

std::vector<NodePtr> Symbol::ListInputs(ListOption option) const {
  std::vector<NodePtr> variables;
  std::unordered_set<const Node*> mutated;
  DFSVisit(outputs, [&](const NodePtr& n) {
    if (n->is_variable()) {
      variables.push_back(n);
    } else if (option != kAll) {
      for (int i : n->op()->MutateInputs(*n->attrs))
        if (i < n->num_inputs()) mutated.insert(n->inputs[i].node.get());
    }
  });
  if (option == kAll) return variables;
  std::vector<NodePtr> chosen;
  for (const auto& v : variables)
    if ((mutated.count(v.get()) != 0) == (option == kAuxStates)) chosen.push_back(v);
  return chosen;
}

std::vector<std::string> Symbol::ListInputNames(ListOption option) const {
  std::vector<std::string> names;
  for (const auto& v : ListInputs(option)) names.push_back(v->name);
  return names;
}

std::vector<std::string> Symbol::ListOutputNames() const {
  std::vector<std::string> names;
  for (const auto& e : outputs) names.push_back(EntryName(e));
  return names;
}

bool Symbol::GetAttr(const std::string& key, std::string* out) const {
  if (outputs.empty()) return false;
  const Node* node = outputs[0].node.get();
  for (const auto& e : outputs)
    if (e.node.get() != node) return false;
  if (key == "name") {
    *out = node->name;
    return true;
  }
  auto it = node->attrs->dict.find(key);
  if (it == node->attrs->dict.end()) return false;
  *out = it->second;
  return true;
}

void Symbol::SetAttr(const std::string& key, const std::string& value) {
  MXNET_CHECK_KIND(!outputs.empty(), Value) << "[Symbol] an empty symbol has no attributes";
  Node* node = outputs[0].node.get();
  for (const auto& e : outputs)
    MXNET_CHECK_KIND(e.node.get() == node, Value) << "[Symbol] attribute " << key << " is set on a group; choose one output";
  if (key == "name") {
    node->name = value;
    return;
  }
  AttrDict dict = node->attrs->dict;
  dict[key] = value;
  auto fresh = MakeAttrs(node->op(), std::move(dict));
  if (!node->attrs->subgraphs.empty()) {
    auto with_graphs = std::make_shared<Attrs>(*fresh);
    with_graphs->subgraphs = node->attrs->subgraphs;
    fresh = with_graphs;
  }
  node->attrs = fresh;
}

std::vector<std::pair<std::string, std::string>> Symbol::ListAttrs(bool recursive) const {
  std::vector<std::pair<std::string, std::string>> list;
  if (recursive) {
    DFSVisit(outputs, [&](const NodePtr& n) {
      for (const auto& kv : n->attrs->dict) list.emplace_back(n->name + "$" + kv.first, kv.second);
    });
  } else if (!outputs.empty()) {
    for (const auto& kv : outputs[0].node->attrs->dict) list.emplace_back(kv);
  }
  return list;
}

std::string Symbol::Print() const {
  std::ostringstream os;
  if (outputs.size() == 1 && outputs[0].node->is_variable()) return "Variable:" + outputs[0].node->name + "\n";
  os << "Symbol Outputs:\n";
  for (size_t i = 0; i < outputs.size(); ++i) os << "\toutput[" << i << "]=" << outputs[i].node->name << '(' << outputs[i].index << ")\n";
  DFSVisit(outputs, [&](const NodePtr& n) {
    if (n->is_variable()) {
      os << "Variable:" << n->name << '\n';
      return;
    }
    os << "--------------------\nOp:" << n->op()->name << ", Name=" << n->name << "\nInputs:\n";
    for (size_t i = 0; i < n->inputs.size(); ++i) {
      const NodeEntry& e = n->inputs[i];
      os << "\targ[" << i << "]=" << e.node->name << '(' << e.index << ')';
      if (e.node->is_variable()) os << " version=" << e.version;
      os << '\n';
    }
    if (!n->attrs->dict.empty()) {
      os << "Attrs:\n";
      for (const auto& kv : n->attrs->dict) os << '\t' << kv.first << '=' << kv.second << '\n';
    }
    if (!n->control_deps.empty()) {
      os << "Control deps:\n";
      for (size_t i = 0; i < n->control_deps.size(); ++i) os << "\tcdep[" << i << "]=" << n->control_deps[i]->name << '\n';
    }
  });
  return os.str();
}

}  // namespace mxnet
