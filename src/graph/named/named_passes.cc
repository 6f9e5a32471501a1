// The passes that programs know by name.
#include <algorithm>
#include <sstream>
#include <unordered_map>

#include "graph/gradient.h"
#include "graph/infer.h"
#include "graph/json.h"
#include "graph/named/named_graph.h"
#include "mxnet/numpy_shapes.h"
#include "mxnet/op.h"
#include "operator/nodes/graph_operators.h"

namespace mxnet {
namespace {

constexpr const char* kInPlaceOrNot = "storage_inplace_index";

/* What one pass works on. It reads attributes through `Need` and takes those that are only for it.
 * */
class PassArguments {
 public:
  PassArguments(const char* pass, NamedGraph* graph) : pass_(pass), graph_(graph) {}

  const GraphAttr* Find(const std::string& key, GraphAttr::Type type) const {
    const auto found = graph_->attrs.find(key);
    if (found == graph_->attrs.end()) return nullptr;
    MXNET_CHECK_KIND(found->second.type == type, Value)
        << "[graph] the attribute " << key << " is of another type than the pass " << pass_ << " reads";
    return &found->second;
  }
  const GraphAttr& Need(const std::string& key, GraphAttr::Type type, const char* source = nullptr) const {
    const GraphAttr* attr = Find(key, type);
    MXNET_CHECK_KIND(attr != nullptr, Value) << "[graph] the pass " << pass_ << " needs the attribute " << key << ", which the graph lacks"
                                             << (source ? std::string("; accepted: the pass ") + source + " before it" : "");
    return *attr;
  }
  NamedGraph& graph() { return *graph_; }
  void Put(const char* key, GraphAttr value) { graph_->attrs[key] = std::move(value); }
  void Drop(const std::string& key) { graph_->attrs.erase(key); }
  const char* name() const { return pass_; }

 private:
  const char* pass_;
  NamedGraph* graph_;
};

/* Values that a list gives to the first variables of a graph. */
template <typename List>
void CheckCount(const List& given, const IndexedGraph& g, const char* key) {
  MXNET_CHECK_KIND(given.size() <= g.input_nodes.size(), Value)
      << "[graph] the attribute " << key << " has " << given.size() << " entries; accepted: at most one for each of the "
      << g.input_nodes.size() << " variables";
}

/* The attribute of variables that `key` names, or nothing. */
std::string VariableAttr(const PassArguments& a, const char* key, const Node& variable) {
  const GraphAttr* name = a.Find(key, GraphAttr::kText);
  if (!name) return "";
  const auto found = variable.attrs->dict.find(name->text);
  return found == variable.attrs->dict.end() ? "" : found->second;
}

void InferShapePass(PassArguments* a) {
  const IndexedGraph g(a->graph().symbol.outputs);
  ShapeVector shapes(g.num_entries());
  if (const GraphAttr* given = a->Find("shape_inputs", GraphAttr::kShapes)) {
    CheckCount(given->shapes, g, "shape_inputs");
    for (size_t i = 0; i < given->shapes.size(); ++i) {
      const Shape& s = given->shapes[i];
      if (s.ndim() == 0) continue;  // in this notation: not known
      Shape& into = shapes[g.eid(g.input_nodes[i], 0)] = s;
      for (int k = 0; k < into.ndim(); ++k)
        if (into[k] == 0) into[k] = Shape::kUnknownDim;
    }
  }
  for (uint32_t id : g.input_nodes) {
    const std::string text = VariableAttr(*a, "shape_attr_key", *g.nodes[id].source);
    if (!text.empty() && !shapes[g.eid(id, 0)].ndim_known()) shapes[g.eid(id, 0)] = ParseShapeAttr(text, NumpyShapes());
  }
  InferShapes(g, &shapes);
  a->Drop("shape_inputs");
  a->Drop("shape_attr_key");
  a->Put("shape_num_unknown_nodes",
         GraphAttr::Size(std::count_if(shapes.begin(), shapes.end(), [](const Shape& s) { return !s.known(); })));
  a->Put("shape", GraphAttr::Shapes(std::move(shapes)));
}

void InferTypePass(PassArguments* a) {
  const IndexedGraph g(a->graph().symbol.outputs);
  std::vector<int> dtypes(g.num_entries(), kDTypeUnknown);
  const auto set = [&](uint32_t id, int64_t dtype) {
    MXNET_CHECK_KIND(dtype >= kDTypeUnknown && dtype < kNumDTypes, Value)
        << "[graph] the dtype of the variable " << g.nodes[id].source->name << " is " << dtype << "; accepted: -1 to " << kNumDTypes - 1;
    dtypes[g.eid(id, 0)] = static_cast<int>(dtype);
  };
  if (const GraphAttr* given = a->Find("dtype_inputs", GraphAttr::kInts)) {
    CheckCount(given->ints, g, "dtype_inputs");
    for (size_t i = 0; i < given->ints.size(); ++i) set(g.input_nodes[i], given->ints[i]);
  }
  for (uint32_t id : g.input_nodes) {
    const std::string text = VariableAttr(*a, "dtype_attr_key", *g.nodes[id].source);
    if (text.empty() || dtypes[g.eid(id, 0)] != kDTypeUnknown) continue;
    const JsonValue number = ParseJson(text);
    set(id, number.Int("a dtype", kDTypeUnknown, kNumDTypes - 1));
  }
  InferTypes(g, &dtypes, kDTypeUnknown);
  a->Drop("dtype_inputs");
  a->Drop("dtype_attr_key");
  a->Put("dtype_num_unknown_nodes", GraphAttr::Size(std::count(dtypes.begin(), dtypes.end(), int{kDTypeUnknown})));
  a->Put("dtype", GraphAttr::Ints(dtypes));
}

void SaveJsonPass(PassArguments* a) { a->Put("json", GraphAttr::Text(SymbolToJSON(a->graph().symbol))); }

void LoadJsonPass(PassArguments* a) {
  Symbol read = SymbolFromJSON(a->Need("json", GraphAttr::kText, "SaveJSON").text);
  a->graph() = NamedGraph{std::move(read), {}};  // attributes describe the graph that was
}

void GradientPass(PassArguments* a) {
  const std::vector<NodeEntry>& ys = a->Need("grad_ys", GraphAttr::kEntries).entries;
  const std::vector<NodeEntry>& xs = a->Need("grad_xs", GraphAttr::kEntries).entries;
  const std::vector<NodeEntry>& heads = a->Need("grad_ys_out_grad", GraphAttr::kEntries).entries;
  MXNET_CHECK_KIND(ys.size() == heads.size(), Value)
      << "[graph] grad_ys has " << ys.size() << " entries and grad_ys_out_grad " << heads.size() << "; accepted: equally many";
  std::unordered_map<const Node*, bool> reached;
  DFSVisit(ys, [&](const NodePtr& n) { reached[n.get()] = true; });
  for (size_t i = 0; i < xs.size(); ++i)
    MXNET_CHECK_KIND(reached.count(xs[i].node.get()), Value)
        << "[graph] entry " << i << " of grad_xs, " << xs[i].node->name << ", is not among what grad_ys are computed from";
  std::vector<NodeEntry> grads = BuildGradient(ys, xs, heads, nullptr).grads;
  for (size_t i = 0; i < xs.size(); ++i)
    if (!grads[i]) grads[i] = graph_ops::ZerosLike(xs[i], xs[i].node->name + "_zero_grad");
  a->graph() = NamedGraph{Symbol{std::move(grads)}, {}};
}

/* What writes a variable waits for what reads it before: by order of execution in other programs,
 * by control dependencies in the graph that this gives. */
void OrderMutationPass(PassArguments* a) {
  Symbol copy = a->graph().symbol.Copy();
  std::vector<NodePtr> order;
  DFSVisit(copy.outputs, [&](const NodePtr& n) { order.push_back(n); });
  std::unordered_map<const Node*, std::vector<NodePtr>> readers;  // of a variable, since it was last written
  for (const NodePtr& n : order) {
    if (n->is_variable()) continue;
    const std::vector<int> writes = n->op()->MutateInputs(*n->attrs);
    for (size_t i = 0; i < n->inputs.size(); ++i) {
      const Node* variable = n->inputs[i].node.get();
      if (!variable->is_variable()) continue;
      std::vector<NodePtr>& before = readers[variable];
      if (std::find(writes.begin(), writes.end(), static_cast<int>(i)) != writes.end()) {
        for (const NodePtr& reader : before)
          if (reader != n) n->control_deps.push_back(reader);
        before.clear();
      }
      before.push_back(n);
    }
  }
  a->graph().symbol = std::move(copy);
}

void PlanMemoryPass(PassArguments* a) {
  const IndexedGraph g(a->graph().symbol.outputs);
  const std::vector<int64_t>& numbers = a->Need("dtype", GraphAttr::kInts, "InferType").ints;
  const ShapeVector& shapes = a->Need("shape", GraphAttr::kShapes, "InferShape").shapes;
  MXNET_CHECK_KIND(numbers.size() == g.num_entries() && shapes.size() == g.num_entries(), Value)
      << "[graph] the attributes dtype and shape have " << numbers.size() << " and " << shapes.size()
      << " entries; accepted: one for each of the graph's " << g.num_entries();
  std::vector<int> dtypes;
  for (int64_t n : numbers) {
    MXNET_CHECK_KIND(n >= 0 && n < kNumDTypes, Value)
        << "[graph] the pass " << a->name() << " found the dtype " << n << "; accepted: known ones";
    dtypes.push_back(static_cast<int>(n));
  }
  for (const Shape& s : shapes)
    MXNET_CHECK_KIND(s.known(), Value) << "[graph] the pass " << a->name() << " found the shape " << s << "; accepted: known ones";
  const StorageChoice choice = ChooseStorage(g, shapes, dtypes);
  a->Put("storage_id", GraphAttr::Ints(choice.storage));
  a->Put(kInPlaceOrNot, GraphAttr::Ints(choice.in_place));
  a->Put("storage_allocated_bytes", GraphAttr::Size(choice.bytes));
  a->Put("storage_num_not_allocated", GraphAttr::Size(0));
}

/* The value of a list attribute at one place. */
std::string At(const GraphAttr& attr, size_t place) {
  std::ostringstream os;
  if (attr.type == GraphAttr::kInts && place < attr.ints.size()) os << attr.ints[place];
  if (attr.type == GraphAttr::kTexts && place < attr.texts.size()) os << attr.texts[place];
  if (attr.type == GraphAttr::kShapes && place < attr.shapes.size()) os << attr.shapes[place];
  return os.str();
}

/* One line a node. `join_node_attrs` and `join_entry_attrs` name list attributes to show behind a
 * node, by node and by first result. */
void PrintPass(PassArguments* a) {
  const IndexedGraph g(a->graph().symbol.outputs);
  const auto joined = [&](const char* key) {
    const GraphAttr* names = a->Find(key, GraphAttr::kTexts);
    return names ? names->texts : std::vector<std::string>();
  };
  const std::vector<std::string> by_node = joined("join_node_attrs"), by_entry = joined("join_entry_attrs");
  const auto value = [&](uint32_t id) { return "%" + (g.nodes[id].source->is_variable() ? g.nodes[id].source->name : std::to_string(id)); };
  const auto result = [&](const IndexedGraph::Entry& e) {
    return value(e.node) + (g.entry_ptr[e.node + 1] - g.entry_ptr[e.node] > 1 ? "." + std::to_string(e.index) : "");
  };
  const auto behind = [&](uint32_t id) {
    std::string text;
    for (const auto* keys : {&by_node, &by_entry})
      for (const std::string& key : *keys) {
        const auto found = a->graph().attrs.find(key);
        if (found != a->graph().attrs.end()) text += ", " + key + "=" + At(found->second, keys == &by_node ? id : g.entry_ptr[id]);
      }
    return text;
  };
  std::string text = "Graph(";
  for (size_t i = 0; i < g.input_nodes.size(); ++i) text += (i ? ", " : "") + value(g.input_nodes[i]);
  text += ") {\n";
  for (uint32_t id = 0; id < g.nodes.size(); ++id) {
    const Node& n = *g.nodes[id].source;
    const std::string more = behind(id);
    if (n.is_variable()) {
      if (!more.empty()) text += "  " + value(id) + more + "\n";
      continue;
    }
    text += "  " + value(id) + " = " + n.op()->name + "(";
    std::string arguments;
    for (const auto& e : g.nodes[id].inputs) arguments += (arguments.empty() ? "" : ", ") + result(e);
    for (const auto& kv : n.attrs->dict) arguments += (arguments.empty() ? "" : ", ") + kv.first + "='" + kv.second + "'";
    text += arguments + ")" + more + "\n";
  }
  text += "  ret ";
  for (size_t i = 0; i < g.outputs.size(); ++i) text += (i ? ", " : "") + result(g.outputs[i]);
  a->Put("graphir", GraphAttr::Text(text + "\n}"));
}

/* Devices, layouts and subgraphs are chosen when a plan is made: such a pass leaves the graph. */
void NothingLeftToDo(PassArguments*) {}

struct NamedPass {
  const char* name;
  void (*run)(PassArguments*);
};
constexpr NamedPass kPasses[] = {
    {"InferShape", InferShapePass},     {"InferType", InferTypePass},         {"SaveJSON", SaveJsonPass},
    {"LoadJSON", LoadJsonPass},         {"LoadLegacyJSON", LoadJsonPass},     {"Gradient", GradientPass},
    {"MXGradient", GradientPass},       {"OrderMutation", OrderMutationPass}, {"PlanMemory", PlanMemoryPass},
    {"MXPlanMemory", PlanMemoryPass},   {"PrintGraphIR", PrintPass},          {"CorrectLayout", NothingLeftToDo},
    {"BuildSubgraph", NothingLeftToDo}, {"PlaceDevice", NothingLeftToDo}};

const NamedPass& PassNamed(const std::string& name) {
  std::string accepted;
  for (const NamedPass& pass : kPasses) {
    if (name == pass.name) return pass;
    accepted += (accepted.empty() ? "" : ", ") + std::string(pass.name);
  }
  MXNET_THROW(Value) << "[graph] there is no pass '" << name << "'; accepted: " << accepted;
}

}  // namespace

NamedGraph ApplyPasses(const NamedGraph& graph, const std::vector<std::string>& passes) {
  std::vector<const NamedPass*> chosen;  // a wrong name is found before any work is done
  for (const std::string& name : passes) chosen.push_back(&PassNamed(name));
  NamedGraph result = graph;
  for (const NamedPass* pass : chosen) {
    PassArguments arguments(pass->name, &result);
    pass->run(&arguments);
  }
  return result;
}

}  // namespace mxnet
