// -symbol.json: writing what 1.9.1 reads, reading what 0.8 to 2.0 wrote.
#include <algorithm>
#include <limits>
#include <sstream>
#include <unordered_map>

#include "graph/compose.h"
#include "graph/gradient.h"
#include "graph/json.h"
#include "mxnet/graph.h"
#include "mxnet/op.h"
#include "operator/record/check.h"
#include "operator/record/file_outputs.h"
#include "operator/runtime/compiled_graph.h"
#include "operator/runtime/holds_graphs.h"
#include "operator/runtime/parameters_in_files.h"

namespace mxnet {

std::string NameInFiles(const Op& op, bool np_shape) {
  const std::string old = "_np_";
  if (!np_shape || op.name.compare(0, old.size(), old) != 0) return op.name;
  const std::string name = "_npi_" + op.name.substr(old.size());
  return Op::Find(name) == &op ? name : op.name;
}

namespace {

constexpr int kWrapAt = 10;  // longer lists get one line per element, as the reference's writer does

std::string Indent(int n) { return std::string(static_cast<size_t>(n) * 2, ' '); }

void WriteList(std::ostream& os, const std::vector<std::string>& items, int indent) {
  const bool wrap = items.size() > kWrapAt;
  os << '[';
  for (size_t i = 0; i < items.size(); ++i) {
    if (i) os << ", ";
    if (wrap) os << '\n' << Indent(indent + 1);
    os << items[i];
  }
  if (wrap) os << '\n' << Indent(indent);
  os << ']';
}

std::string Triple(uint32_t node, uint32_t index, uint32_t version) {
  return "[" + std::to_string(node) + ", " + std::to_string(index) + ", " + std::to_string(version) + "]";
}

/* `attrs`: the last member, which the outermost graph has. */
void WriteGraph(std::ostream& os, const Symbol& s, int indent, bool np_shape, const std::string& attrs = "");

/* The inputs of a node. A variable is followed by how many nodes have written it by then, this one
 * among them; `writes` has these numbers of what comes before. */
std::vector<std::string> InputTriples(const IndexedGraph& g, const IndexedGraph::NodeInfo& info, std::vector<uint32_t>* writes) {
  const Node& n = *info.source;
  if (!n.is_variable())
    for (int i : n.op()->MutateInputs(*n.attrs))
      if (static_cast<size_t>(i) < info.inputs.size()) ++(*writes)[info.inputs[static_cast<size_t>(i)].node];
  std::vector<std::string> inputs;
  for (const auto& e : info.inputs)
    inputs.push_back(Triple(e.node, e.index, g.nodes[e.node].source->is_variable() ? std::max(e.version, (*writes)[e.node]) : e.version));
  return inputs;
}

void WriteNode(std::ostream& os, const IndexedGraph::NodeInfo& info, const std::vector<std::string>& inputs, int indent, bool np_shape) {
  const Node& n = *info.source;
  os << "{\n" << Indent(indent + 1) << "\"op\": " << QuoteJson(n.is_variable() ? "null" : NameInFiles(*n.op(), np_shape));
  os << ", \n" << Indent(indent + 1) << "\"name\": " << QuoteJson(n.name);
  AttrDict dict = n.attrs->dict;
  dict.erase(kMirrorAttr);
  if (!dict.empty()) {
    os << ", \n" << Indent(indent + 1) << "\"attrs\": {";
    bool first = true;
    for (const auto& kv : dict) {
      os << (first ? "" : ", ");
      if (dict.size() > 1) os << '\n' << Indent(indent + 2);
      os << QuoteJson(kv.first) << ": " << QuoteJson(kv.second);
      first = false;
    }
    if (dict.size() > 1) os << '\n' << Indent(indent + 1);
    os << '}';
  }
  os << ", \n" << Indent(indent + 1) << "\"inputs\": ";
  WriteList(os, inputs, indent + 1);
  if (!info.control_deps.empty()) {
    std::vector<std::string> deps;
    for (uint32_t d : info.control_deps) deps.push_back(std::to_string(d));
    os << ", \n" << Indent(indent + 1) << "\"control_deps\": ";
    WriteList(os, deps, indent + 1);
  }
  if (!n.attrs->subgraphs.empty()) {
    os << ", \n" << Indent(indent + 1) << "\"subgraphs\": [";
    for (size_t i = 0; i < n.attrs->subgraphs.size(); ++i) {
      os << (i ? ", " : "") << '\n' << Indent(indent + 2);
      WriteGraph(os, *n.attrs->subgraphs[i], indent + 2, np_shape);
    }
    os << '\n' << Indent(indent + 1) << ']';
  }
  os << '\n' << Indent(indent) << '}';
}

void WriteGraph(std::ostream& os, const Symbol& s, int indent, bool np_shape, const std::string& attrs) {
  const IndexedGraph g(s.outputs);
  os << "{\n" << Indent(indent + 1) << "\"nodes\": [";
  std::vector<uint32_t> writes(g.nodes.size());
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    os << (i ? ", " : "") << '\n' << Indent(indent + 2);
    WriteNode(os, g.nodes[i], InputTriples(g, g.nodes[i], &writes), indent + 2, np_shape);
  }
  os << '\n' << Indent(indent + 1) << "], \n";
  std::vector<std::string> items;
  for (uint32_t id : g.input_nodes) items.push_back(std::to_string(id));
  os << Indent(indent + 1) << "\"arg_nodes\": ";
  WriteList(os, items, indent + 1);
  items.clear();
  int entries = 0;
  items.push_back("0");
  for (const auto& node : g.nodes)
    items.push_back(std::to_string(entries += node.source->is_variable() ? 1 : OutputsInFiles(*node.source->attrs)));
  os << ", \n" << Indent(indent + 1) << "\"node_row_ptr\": ";
  WriteList(os, items, indent + 1);
  items.clear();
  for (const auto& e : g.outputs) items.push_back(Triple(e.node, e.index, e.version));
  os << ", \n" << Indent(indent + 1) << "\"heads\": ";
  WriteList(os, items, indent + 1);
  os << attrs;
  os << '\n' << Indent(indent) << '}';
}

// ---- reading

const char* const kOldHiddenKeys[] = {"ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage"};
constexpr int kFirstVersionOf2 = 20000;
constexpr int kFirstWithInitialValues = 904;  // of auxiliary states, in their attributes
constexpr int kLastVersionOf1x = 10901;       // it gives the keys of older files underscores, not those of its own

std::string WithoutNumberDetail(const std::string& s) { return s.size() > 200 ? s.substr(0, 200) + "..." : s; }

void ReadDict(const JsonValue& node, const char* key, AttrDict* dict) {
  const JsonValue* v = node.Find(key);
  if (!v) return;
  MXNET_CHECK_KIND(v->type == JsonValue::kObject, Value) << "[symbol file] `" << key << "` of a node must be an object of strings";
  for (const auto& m : v->members) (*dict)[m.first] = m.second.String("an attribute's value");
}

class Reader {
 public:
  explicit Reader(int version, int depth, bool np_shape) : version_(version), depth_(depth), np_shape_(np_shape) {}

  Symbol Read(const JsonValue& graph) {
    MXNET_CHECK_KIND(depth_ < 16, Value) << "[symbol file] subgraphs are nested more than 16 deep";
    MXNET_CHECK_KIND(graph.type == JsonValue::kObject, Value) << "[symbol file] the graph must be an object";
    const JsonValue* nodes = graph.Find("nodes");
    MXNET_CHECK_KIND(nodes, Value) << "[symbol file] member `nodes` is missing";
    for (const auto& n : nodes->Array("`nodes`")) ReadNode(n);
    CheckArgNodes(graph.Find("arg_nodes"));
    CheckRowPtr(graph.Find("node_row_ptr"));
    const JsonValue* heads = graph.Find("heads");
    MXNET_CHECK_KIND(heads, Value) << "[symbol file] member `heads` is missing";
    Symbol s;
    for (const auto& h : heads->Array("`heads`")) s.outputs.push_back(ReadEntry(h, "a head", nodes_.size()));
    MXNET_CHECK_KIND(!s.outputs.empty(), Value) << "[symbol file] `heads` is empty";
    return s;
  }

 private:
  NodeEntry ReadEntry(const JsonValue& v, const char* what, size_t limit) {
    const auto& items = v.Array(what);
    MXNET_CHECK_KIND(items.size() == 2 || items.size() == 3, Value)
        << "[symbol file] " << what << " must have 2 or 3 numbers; got " << items.size();
    MXNET_CHECK_KIND(limit > 0, Value) << "[symbol file] " << what << " refers to a node before the first";
    // an input must come earlier in the file, so a cycle cannot be written
    const int64_t id = items[0].Int("a node number (inputs come before their users)", 0, static_cast<int64_t>(limit) - 1);
    const NodePtr& n = nodes_[id];
    const auto graph = graphs_.find(n.get());
    const int64_t results = graph == graphs_.end() ? n->num_outputs() : static_cast<int64_t>(graph->second.outputs.size());
    const int64_t index = items[1].Int("an output number", 0, results - 1);
    const int64_t version = items.size() == 3 ? items[2].Int("an entry's version", 0, std::numeric_limits<int32_t>::max()) : 0;
    if (graph != graphs_.end()) return graph->second.outputs.at(static_cast<size_t>(index));
    return {n, static_cast<uint32_t>(index), static_cast<uint32_t>(version)};
  }

  /* A node that stands for a graph: what it gives are that graph's results. */
  void ReadGraphOf(const Node& n, const Symbol& graph) {
    std::vector<Symbol> inputs;
    for (const auto& e : n.inputs) {
      inputs.emplace_back();
      inputs.back().outputs.push_back(e);
    }
    graphs_.emplace(&n, Inlined(graph, inputs, {}, n.name));
  }

  void ReadNode(const JsonValue& v) {
    MXNET_CHECK_KIND(v.type == JsonValue::kObject, Value) << "[symbol file] node " << nodes_.size() << " must be an object";
    const JsonValue *op = v.Find("op"), *name = v.Find("name"), *inputs = v.Find("inputs");
    MXNET_CHECK_KIND(op && name && inputs, Value) << "[symbol file] node " << nodes_.size() << " must have `op`, `name` and `inputs`";
    auto n = std::make_shared<Node>();
    n->name = name->String("a node's name");
    const std::string op_name = op->String("a node's operator");
    const Op* record = nullptr;
    if (op_name != "null") {
      record = Op::Find(op_name);
      MXNET_CHECK_KIND(record, Value) << "[symbol file] node " << n->name << " uses operator " << WithoutNumberDetail(op_name)
                                      << ", which this library does not have";
    }
    AttrDict dict;
    for (const char* key : {"param", "attr", "attrs"}) ReadDict(v, key, &dict);
    record = Meant(record, &dict);
    for (const auto& e : inputs->Array("`inputs` of a node")) n->inputs.push_back(ReadEntry(e, "an input", nodes_.size()));
    MXNET_CHECK_KIND(record || n->inputs.empty(), Value) << "[symbol file] variable " << n->name << " has inputs";
    if (const JsonValue* deps = v.Find("control_deps")) {
      for (const auto& d : deps->Array("`control_deps`")) {
        MXNET_CHECK_KIND(!nodes_.empty(), Value) << "[symbol file] a control dependency refers to a node before the first";
        n->control_deps.push_back(nodes_[d.Int("a control dependency", 0, static_cast<int64_t>(nodes_.size()) - 1)]);
      }
    }
    std::vector<std::shared_ptr<Symbol>> subgraphs;
    if (const JsonValue* subs = v.Find("subgraphs"))
      for (const auto& g : subs->Array("`subgraphs`"))
        subgraphs.push_back(std::make_shared<Symbol>(Reader(version_, depth_ + 1, np_shape_).Read(g)));
    Upgrade(record, n.get(), &dict);
    const HoldsGraphs* holds = record ? record->trait<HoldsGraphs>() : nullptr;
    MXNET_CHECK_KIND(!holds || subgraphs.size() == holds->names.size(), Value)
        << "[symbol file] node " << n->name << " (" << op_name << ") has " << subgraphs.size() << " subgraphs; it needs "
        << holds->names.size();
    try {
      auto attrs = MakeAttrs(record, dict);
      if (record) CheckPublic(*attrs);
      if (!subgraphs.empty()) {
        auto with = std::make_shared<Attrs>(*attrs);
        with->subgraphs = std::move(subgraphs);
        attrs = with;
      }
      n->attrs = attrs;
    } catch (const Error& e) {
      throw Error(e.kind(), std::string(e.what()) + " (node " + n->name + " of the symbol file)");
    }
    if (record) {
      CheckCounts(*n);
      if (const Symbol* graph = GraphOf(*n->attrs))
        ReadGraphOf(*n, *graph);
      else
        CompleteInputs(n.get());
    }
    nodes_.push_back(std::move(n));
  }

  const Op* Meant(const Op* record, AttrDict* dict) const {
    const ParametersInFiles* known = record && version_ >= kFirstVersionOf2 ? record->trait<ParametersInFiles>() : nullptr;
    const char* other = known && known->instead ? known->instead(np_shape_, dict) : nullptr;
    return other ? Op::Find(other) : record;
  }

  void UpgradeParameters(const ParametersInFiles& known, Node* node, AttrDict* dict) const {
    for (const auto& name : known.names) {
      auto found = dict->extract(name.first);
      if (found.empty() || name.second.empty()) continue;
      found.key() = name.second;
      dict->insert(std::move(found));
    }
    for (const auto& old : known.old_defaults) {
      auto found = dict->find(old.name);
      if (version_ < old.version && found != dict->end() && found->second == old.value) dict->erase(found);
    }
    if (known.change) known.change(node->name, dict, &node->inputs);
  }

  // Hidden keys had no underscores before 0.9, and an operator node could carry those of its inputs
  // (weight_lr_mult). Programs went on writing such files; every version of 1.x reads them.
  void Upgrade(const Op* record, Node* node, AttrDict* dict) {
    if (const ParametersInFiles* known = record ? record->trait<ParametersInFiles>() : nullptr) UpgradeParameters(*known, node, dict);
    if (version_ >= kLastVersionOf1x) return;
    AttrDict fresh;
    for (auto& kv : *dict) {
      bool done = false;
      for (const char* hidden : kOldHiddenKeys) {
        const std::string h(hidden);
        if (kv.first == h) {
          fresh["__" + h + "__"] = kv.second;
          done = true;
        } else if (record && kv.first.size() > h.size() + 1 &&
                   kv.first.compare(kv.first.size() - h.size() - 1, std::string::npos, "_" + h) == 0) {
          deferred_.push_back({kv.first.substr(0, kv.first.size() - h.size() - 1), "__" + h + "__", kv.second});
          done = true;
        }
      }
      if (!done) fresh.insert(kv);
    }
    *dict = std::move(fresh);
  }

  // A number among a node's parameters must not stand for far more than the file holds: lists are
  // made of its inputs and outputs.
  void CheckCounts(const Node& n) {
    constexpr int64_t kMissingInputs = 64, kOutputs = 65536;
    const int64_t inputs = n.op()->NumInputs(*n.attrs), given = static_cast<int64_t>(n.inputs.size());
    MXNET_CHECK_KIND(inputs >= 0 && inputs <= given + kMissingInputs, Value)
        << "[symbol file] node " << n.name << " (" << n.op()->name << ") has " << given << " inputs; its parameters ask for " << inputs;
    const int64_t outputs = n.num_outputs();
    num_outputs_ += outputs;
    MXNET_CHECK_KIND(outputs >= 0 && num_outputs_ <= kOutputs + 64 * static_cast<int64_t>(nodes_.size()), Value)
        << "[symbol file] node " << n.name << " (" << n.op()->name << ") has " << outputs << " outputs; accepted: " << kOutputs
        << " in a file, and 64 for each of its nodes";
  }

  // Files before 0.9 do not list auxiliary states among the inputs.
  void CompleteInputs(Node* n) {
    const std::vector<std::string> names = n->op()->ListInputs(*n->attrs);
    MXNET_CHECK_KIND(n->inputs.size() <= names.size() || !n->op()->key_var_num_args.empty(), Value)
        << "[symbol file] node " << n->name << " (" << n->op()->name << ") has " << n->inputs.size()
        << " inputs; accepted: " << names.size();
    const size_t given = n->inputs.size();
    const bool old = version_ < kFirstWithInitialValues;
    if (old || given < names.size()) {
      const std::vector<int> mutated = n->op()->MutateInputs(*n->attrs);
      for (size_t i = old ? 0 : given; i < names.size(); ++i) {
        const bool aux = std::find(mutated.begin(), mutated.end(), static_cast<int>(i)) != mutated.end();
        if (i >= given) {
          MXNET_CHECK_KIND(aux || version_ < 900, Value)
              << "[symbol file] node " << n->name << " (" << n->op()->name << ") lacks its input " << names[i];
          n->inputs.push_back({MakeVariable(n->name + "_" + names[i]), 0, aux ? 1u : 0u});
        }
        Node* in = n->inputs[i].node.get();
        if (in->is_variable() && (aux || i >= given)) WishInitialValue(*n->attrs, names[i], in);
      }
    }
    for (const auto& d : deferred_) {
      for (size_t i = 0; i < names.size(); ++i) {
        Node* in = n->inputs[i].node.get();
        if (names[i] != d.input || !in->is_variable()) continue;
        AttrDict dict = in->attrs->dict;
        dict[d.key] = d.value;
        in->attrs = MakeAttrs(nullptr, std::move(dict));
      }
    }
    deferred_.clear();
  }

  void CheckArgNodes(const JsonValue* v) const {
    if (!v) return;
    for (const auto& i : v->Array("`arg_nodes`")) {
      MXNET_CHECK_KIND(!nodes_.empty(), Value) << "[symbol file] `arg_nodes` without nodes";
      const int64_t id = i.Int("an element of `arg_nodes`", 0, static_cast<int64_t>(nodes_.size()) - 1);
      MXNET_CHECK_KIND(nodes_[id]->is_variable(), Value) << "[symbol file] `arg_nodes` names node " << id << ", which is no variable";
    }
  }

  // The outputs' places are counted anew: programs that edit a graph leave old ones here.
  void CheckRowPtr(const JsonValue* v) const {
    if (!v) return;
    for (const auto& i : v->Array("`node_row_ptr`")) i.Int("an element of `node_row_ptr`", 0, std::numeric_limits<int32_t>::max());
  }

  struct Deferred {
    std::string input, key, value;
  };
  int version_, depth_;
  bool np_shape_;
  int64_t num_outputs_ = 0;
  std::vector<NodePtr> nodes_;
  std::unordered_map<const Node*, Symbol> graphs_;  // of nodes that stand for one
  std::vector<Deferred> deferred_;
};

int FileVersion(const JsonValue& graph) {
  const JsonValue* attrs = graph.Find("attrs");
  const JsonValue* v = attrs ? attrs->Find("mxnet_version") : nullptr;
  if (!v) return 800;
  const auto& pair = v->Array("`mxnet_version`");
  MXNET_CHECK_KIND(pair.size() == 2 && pair[0].type == JsonValue::kString, Value)
      << "[symbol file] `mxnet_version` must be [\"int\", number]";
  return static_cast<int>(pair[1].Int("`mxnet_version`", 0, 1000000));
}

bool HasNumpyShapes(const JsonValue& graph) {
  const JsonValue* attrs = graph.Find("attrs");
  const JsonValue* v = attrs ? attrs->Find("is_np_shape") : nullptr;
  if (!v) return false;
  const auto& pair = v->Array("`is_np_shape`");
  return pair.size() == 2 && pair[1].Int("`is_np_shape`", 0, 1) != 0;
}

// Of a graph that is a file's own: who wrote it, and whether readers take 0 in shapes for a size.
std::string GraphAttrs(bool np_shape) {
  const std::string in = "\n" + Indent(2);
  std::string text = ", \n" + Indent(1) + "\"attrs\": {";
  if (np_shape) text += in + "\"is_np_shape\": [\"int\", 1], " + in;
  return text + "\"mxnet_version\": [\"int\", " + std::to_string(MXNET_VERSION) + "]" + (np_shape ? "\n" + Indent(1) : "") + "}";
}

}  // namespace

MXNET_DLL std::string SymbolToJSON(const Symbol& s, bool np_shape) {
  MXNET_CHECK_KIND(!s.outputs.empty(), Value) << "[Symbol] an empty symbol cannot be saved";
  std::ostringstream os;
  WriteGraph(os, s, 0, np_shape, GraphAttrs(np_shape));
  return os.str();
}

MXNET_DLL Symbol SymbolFromJSON(const std::string& json) {
  const JsonValue graph = ParseJson(json);
  return Reader(FileVersion(graph), 0, HasNumpyShapes(graph)).Read(graph);
}

}  // namespace mxnet
