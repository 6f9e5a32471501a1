// Parts of a graph that a user's partitioner takes over become one node each.
#include <algorithm>
#include <numeric>
#include <set>

#include "library/graphs.h"
#include "library/library.h"
#include "library/texts.h"
#include "mxnet/op.h"

namespace mxnet {
namespace library {
namespace {

constexpr int kStays = -2, kAnywhere = -1;  // what setSupportedOps says of a node

void PutInt(void* to, int value) { static_cast<std::vector<int>*>(to)->push_back(value); }

/* What one strategy is asked, and by whom. */
struct Question {
  const Library& library;
  size_t partitioner, strategy;
  const char* name;
  const Texts& options;
  const NamedTensors &args, &aux;
  [[noreturn]] void Fail(const char* what) const {
    const std::string why = Why(library);
    MXNET_THROW(Generic) << "[optimize_for] " << what << " of the strategy " << name << " failed" << why;
  }
};

// ---- which nodes

/* The answers of a selector, as numbers of subgraphs. */
class Selection {
 public:
  Selection(const Question& q, const IndexedGraph& g, const std::string& text) : q_(q), g_(g), users_(g.nodes.size()) {
    for (uint32_t id = 0; id < g.nodes.size(); ++id)
      for (const auto& e : g.nodes[id].inputs) users_[e.node].push_back(id);
    if (!t().create_selector(q.partitioner, q.strategy, text.c_str(), q.options.get(), q.args.get(), q.aux.get(), &selector_))
      q.Fail("createSelector");
  }
  ~Selection() { t().delete_selector(selector_); }
  Selection(const Selection&) = delete;
  Selection& operator=(const Selection&) = delete;

  std::vector<int> Run() {
    std::vector<int> ids(g_.nodes.size(), kStays);
    int next = 0;
    for (uint32_t id = 0; id < g_.nodes.size(); ++id) {
      if (!IsOperator(id) || ids[id] != kStays) continue;
      if (!t().reset_selector(selector_)) q_.Fail("Reset");
      if (!Says(0, id, 0)) continue;
      const std::vector<int> found = Grow(id, ids);
      std::vector<int> kept;
      if (!t().filter(selector_, found.data(), found.size(), &kept, PutInt)) q_.Fail("Filter");
      for (int k : kept) {
        MXNET_CHECK(std::count(found.begin(), found.end(), k))
            << "[optimize_for] Filter of the strategy " << q_.name << " gave the node " << k << ", which it was not given";
        ids[k] = next;
      }
      ++next;
    }
    return ids;
  }

 private:
  const MXExtLibrary& t() const { return *q_.library.table; }
  bool IsOperator(uint32_t id) const { return !g_.nodes[id].source->is_variable(); }
  bool Says(int direction, uint32_t node, uint32_t other) {
    int selected = 0;
    if (!t().select(selector_, direction, static_cast<int>(node), static_cast<int>(other), &selected)) q_.Fail("Select");
    return selected != 0;
  }
  std::vector<int> Grow(uint32_t seed, const std::vector<int>& ids) {
    std::vector<int> found = {static_cast<int>(seed)};
    std::set<uint32_t> seen = {seed};
    for (size_t i = 0; i < found.size(); ++i) {
      const uint32_t n = static_cast<uint32_t>(found[i]);
      const auto look = [&](int direction, uint32_t other) {
        if (!IsOperator(other) || ids[other] != kStays || seen.count(other) || !Says(direction, n, other)) return;
        seen.insert(other);
        found.push_back(static_cast<int>(other));
      };
      for (const auto& e : g_.nodes[n].inputs) look(1, e.node);
      for (uint32_t user : users_[n]) look(2, user);
    }
    return found;
  }

  const Question& q_;
  const IndexedGraph& g_;
  std::vector<std::vector<uint32_t>> users_;
  void* selector_ = nullptr;
};

std::vector<int> Supported(const Question& q, const IndexedGraph& g, const std::string& text) {
  std::vector<int> ids;
  if (!q.library.table->supported_ops(q.partitioner, q.strategy, text.c_str(), q.options.get(), q.args.get(), q.aux.get(), &ids, PutInt))
    q.Fail("supportedOps");
  MXNET_CHECK(ids.size() == g.nodes.size()) << "[optimize_for] supportedOps of the strategy " << q.name << " gave " << ids.size()
                                            << " numbers; accepted: one for each of the graph's " << g.nodes.size() << " nodes";
  return ids;
}

// ---- groups

/* Nodes that become one: connected, of one number, and so that the graph of groups has no circle.
 * */
class Grouping {
 public:
  Grouping(const IndexedGraph& g, std::vector<int> ids) : g_(g), ids_(std::move(ids)), members_(g.nodes.size()), users_(g.nodes.size()) {
    group_.resize(g.nodes.size());
    std::iota(group_.begin(), group_.end(), 0u);
    for (uint32_t id = 0; id < g.nodes.size(); ++id) {
      members_[id] = {id};
      if (g.nodes[id].source->is_variable()) ids_[id] = kStays;
      for (const auto& e : g.nodes[id].inputs) users_[e.node].push_back(id);
      for (uint32_t c : g.nodes[id].control_deps) users_[c].push_back(id);
    }
    for (uint32_t id = 0; id < g.nodes.size(); ++id)
      for (const auto& e : g.nodes[id].inputs) TryMerge(group_[e.node], group_[id]);
  }
  /* Node ids in order, by group; groups in the order of their first nodes. */
  std::vector<std::vector<uint32_t>> Groups() const {
    std::vector<std::vector<uint32_t>> groups;
    for (uint32_t id = 0; id < g_.nodes.size(); ++id) {
      if (ids_[id] <= kStays || members_[id].empty()) continue;
      groups.push_back(members_[id]);
      std::sort(groups.back().begin(), groups.back().end());
    }
    return groups;
  }

 private:
  void TryMerge(uint32_t a, uint32_t b) {
    if (a == b || ids_[a] <= kStays || ids_[b] <= kStays) return;
    if (ids_[a] != ids_[b] && ids_[a] != kAnywhere && ids_[b] != kAnywhere) return;
    if (LeadsThroughOthers(a, b) || LeadsThroughOthers(b, a)) return;
    const uint32_t into = std::min(a, b), from = std::max(a, b);
    for (uint32_t m : members_[from]) group_[m] = into;
    members_[into].insert(members_[into].end(), members_[from].begin(), members_[from].end());
    members_[from].clear();
    ids_[into] = std::max(ids_[into], ids_[from]);
  }
  /* Is there a way from one group to another by way of a third? */
  bool LeadsThroughOthers(uint32_t from, uint32_t to) const {
    std::vector<char> seen(g_.nodes.size(), 0);
    std::vector<uint32_t> open;
    const auto step = [&](uint32_t group, bool first) {
      for (uint32_t m : members_[group])
        for (uint32_t user : users_[m]) {
          const uint32_t next = group_[user];
          if (next == to && !first) return true;
          if (next == to || next == from || seen[next]) continue;
          seen[next] = 1;
          open.push_back(next);
        }
      return false;
    };
    step(from, true);
    while (!open.empty()) {
      const uint32_t group = open.back();
      open.pop_back();
      if (step(group, false)) return true;
    }
    return false;
  }

  const IndexedGraph& g_;
  std::vector<int> ids_;  // of a group: by its first node
  std::vector<std::vector<uint32_t>> members_;
  std::vector<std::vector<uint32_t>> users_;
  std::vector<uint32_t> group_;
};

// ---- subgraphs

/* A group taken out. */
struct Part {
  Symbol graph;                             // on variables that stand for what comes from outside
  std::vector<IndexedGraph::Entry> inputs;  // in the order of the graph's variables
  std::vector<IndexedGraph::Entry> outputs;
};

class PartMaker {
 public:
  PartMaker(const IndexedGraph& g, const std::vector<uint32_t>& group) : g_(g), inside_(group.begin(), group.end()), group_(group) {}

  Part Run() {
    Part part;
    for (uint32_t id : group_) {
      auto copy = std::make_shared<Node>();
      copy->name = g_.nodes[id].source->name;
      copy->attrs = g_.nodes[id].source->attrs;
      for (const auto& e : g_.nodes[id].inputs)
        copy->inputs.push_back(inside_.count(e.node) ? NodeEntry{copies_.at(e.node), e.index, 0} : Variable(e));
      copies_[id] = copy;
    }
    std::set<uint32_t> read;  // from outside, by entry id
    for (uint32_t id = 0; id < g_.nodes.size(); ++id)
      if (!inside_.count(id))
        for (const auto& e : g_.nodes[id].inputs) read.insert(g_.eid(e));
    for (const auto& e : g_.outputs) read.insert(g_.eid(e));
    for (uint32_t id : group_)
      for (uint32_t i = 0; i < g_.entry_ptr[id + 1] - g_.entry_ptr[id]; ++i)
        if (read.count(g_.eid(id, i))) {
          part.outputs.push_back({id, i, 0});
          part.graph.outputs.push_back({copies_.at(id), i, 0});
        }
    for (const NodePtr& v : part.graph.ListInputs(Symbol::kAll)) part.inputs.push_back(stands_for_.at(v.get()));
    return part;
  }

 private:
  NodeEntry Variable(const IndexedGraph::Entry& e) {
    NodePtr& made = variables_[g_.eid(e)];
    if (!made) {
      const Node& source = *g_.nodes[e.node].source;
      std::string name = source.name;
      if (!source.is_variable()) name += "_" + OutputName(source, e.index);
      while (!names_.insert(name).second) name += "_";
      AttrDict dict;
      if (source.is_variable()) dict = source.attrs->dict;
      Describe(source, e.index, &dict);
      made = MakeVariable(name, std::move(dict));
      stands_for_[made.get()] = e;
    }
    return {made, 0, e.version};
  }
  static std::string OutputName(const Node& node, uint32_t index) {
    const std::vector<std::string> names = node.op()->ListOutputs(*node.attrs);
    return index < names.size() ? names[index] : "output" + std::to_string(index);
  }
  void Describe(const Node& source, uint32_t index, AttrDict* dict) const {
    const bool variable = source.is_variable();
    (*dict)["isArg"] = variable ? "True" : "False";
    if (variable) (*dict)["argName"] = source.name;
    for (const char* key : {kShapeAttr, kDTypeAttr}) {
      const auto found = source.attrs->dict.find(key);
      if (found == source.attrs->dict.end()) continue;
      (*dict)[key] = "[" + Item(found->second, index, key == kShapeAttr) + "]";
    }
  }
  /* Item `index` of a list in brackets, of lists in brackets or of numbers. */
  static std::string Item(const std::string& list, uint32_t index, bool nested) {
    size_t begin = 1;
    for (uint32_t i = 0; i < index; ++i) begin = list.find(nested ? "[" : ",", begin + 1) + (nested ? 0 : 1);
    const size_t end = nested ? list.find(']', begin) + 1 : list.find_first_of(",]", begin);
    return list.substr(begin, end - begin);
  }

  const IndexedGraph& g_;
  const std::set<uint32_t> inside_;
  const std::vector<uint32_t>& group_;
  std::map<uint32_t, NodePtr> copies_, variables_;
  std::map<const Node*, IndexedGraph::Entry> stands_for_;
  std::set<std::string> names_;
};

/* The library's answer: attributes for the node, or false. */
bool Review(const Question& q, const std::string& graph, int number, AttrDict* dict) {
  int accept = 1;
  const auto put = [](void* to, const char* key, const char* value) { (*static_cast<AttrDict*>(to))[key] = value; };
  if (!q.library.table->review(q.partitioner, q.strategy, graph.c_str(), number, q.options.get(), q.args.get(), q.aux.get(), &accept, dict,
                               put))
    q.Fail("reviewSubgraph");
  return accept != 0;
}

/* The graph with accepted parts replaced. */
class Replacing {
 public:
  Replacing(const IndexedGraph& g, const std::string& op) : g_(g), op_(op), part_of_(g.nodes.size(), -1) {}

  void Add(Part part, const std::vector<uint32_t>& group, int number, AttrDict dict) {
    for (uint32_t id : group) part_of_[id] = static_cast<int>(parts_.size());
    dict["subgraph_sym_json"] = SymbolToJSON(part.graph);
    std::vector<uint32_t> waits_for;
    for (uint32_t id : group)
      for (uint32_t c : g_.nodes[id].control_deps)
        if (!std::binary_search(group.begin(), group.end(), c)) waits_for.push_back(c);
    parts_.push_back({std::move(part), op_ + std::to_string(number), std::move(dict), std::move(waits_for), nullptr});
  }
  Symbol Run() {
    Symbol result;
    for (const auto& e : g_.outputs) result.outputs.push_back(Renewed(e));
    return result;
  }

 private:
  struct Replacement {
    Part part;
    std::string name;
    AttrDict dict;
    std::vector<uint32_t> waits_for;  // nodes outside, by control dependencies
    NodePtr node;
  };
  /* Recursion goes as deep as the graph; so what comes first is renewed first. */
  NodeEntry Renewed(const IndexedGraph::Entry& wanted) {
    std::vector<uint32_t> open = {wanted.node};
    while (!open.empty()) {
      const uint32_t id = open.back();
      bool ready = true;
      for (const auto& e : InputsOf(id))
        if (!Done(e.node)) open.push_back(e.node), ready = false;
      for (uint32_t c : part_of_[id] < 0 ? g_.nodes[id].control_deps : parts_[part_of_[id]].waits_for)
        if (!Done(c)) open.push_back(c), ready = false;
      if (!ready) continue;
      if (!Done(id)) Make(id);
      open.pop_back();
    }
    return Lookup(wanted);
  }
  const std::vector<IndexedGraph::Entry>& InputsOf(uint32_t id) const {
    return part_of_[id] < 0 ? g_.nodes[id].inputs : parts_[part_of_[id]].part.inputs;
  }
  bool Done(uint32_t id) const { return part_of_[id] < 0 ? made_.count(id) > 0 : parts_[part_of_[id]].node != nullptr; }
  NodeEntry Lookup(const IndexedGraph::Entry& e) const {
    if (part_of_[e.node] < 0) return {made_.at(e.node), e.index, e.version};
    const Replacement& r = parts_[part_of_[e.node]];
    for (uint32_t i = 0; i < r.part.outputs.size(); ++i)
      if (r.part.outputs[i].node == e.node && r.part.outputs[i].index == e.index) return {r.node, i, 0};
    return {r.node, 0, 0};  // a control dependency
  }
  void Make(uint32_t id) {
    if (part_of_[id] >= 0) {
      Replacement& r = parts_[part_of_[id]];
      std::vector<NodeEntry> inputs;
      for (const auto& e : r.part.inputs) inputs.push_back(Lookup(e));
      r.node = MakeNode(op_, std::move(inputs), std::move(r.dict), r.name);
      for (uint32_t c : r.waits_for) r.node->control_deps.push_back(Lookup({c, 0, 0}).node);
      const int outputs = r.node->num_outputs(), needed = static_cast<int>(r.part.outputs.size());
      MXNET_CHECK(outputs == needed && r.node->op()->NumInputs(*r.node->attrs) == r.node->num_inputs())
          << "[optimize_for] the operator " << op_ << " has " << r.node->op()->NumInputs(*r.node->attrs) << " inputs and " << outputs
          << " outputs; its part of the graph has " << r.node->num_inputs() << " and " << needed;
      return;
    }
    const IndexedGraph::NodeInfo& info = g_.nodes[id];
    if (info.source->is_variable()) {
      made_[id] = info.weak.lock();
      return;
    }
    auto node = std::make_shared<Node>();
    node->name = info.source->name;
    node->attrs = info.source->attrs;
    for (const auto& e : info.inputs) node->inputs.push_back(Lookup(e));
    for (uint32_t c : info.control_deps) node->control_deps.push_back(Lookup({c, 0, 0}).node);
    made_[id] = std::move(node);
  }

  const IndexedGraph& g_;
  const std::string op_;
  std::vector<int> part_of_;
  std::vector<Replacement> parts_;
  std::map<uint32_t, NodePtr> made_;
};

Symbol ApplyStrategy(const Library& library, size_t partitioner, size_t strategy, const Request& request, const Symbol& described) {
  const Texts options(request.options);
  const NamedTensors args(request.given.args), aux(request.given.aux);
  const char *name, *op;
  int has_selector = 0;
  library.table->strategy(partitioner, strategy, &name, &op, &has_selector);
  const Question q{library, partitioner, strategy, name, options, args, aux};
  Op::Get(op);  // throws where there is none
  const IndexedGraph g(described.outputs);
  const std::string text = TextWithFirstResults(described);
  const std::vector<int> ids = has_selector ? Selection(q, g, text).Run() : Supported(q, g, text);
  Replacing replacing(g, op);
  int number = 0;
  for (const auto& group : Grouping(g, ids).Groups()) {
    Part part = PartMaker(g, group).Run();
    AttrDict dict;
    if (Review(q, SymbolToJSON(part.graph), number, &dict)) replacing.Add(std::move(part), group, number, std::move(dict));
    ++number;
  }
  return replacing.Run();
}

}  // namespace

Rewritten Partition(const Library& library, size_t partitioner, const Request& request) {
  Request next = request;
  for (size_t s = 0; s < library.table->num_strategies(partitioner); ++s)
    next.symbol = Undescribed(ApplyStrategy(library, partitioner, s, next, Described(next)));
  return {next.symbol, {}};
}

}  // namespace library
}  // namespace mxnet
