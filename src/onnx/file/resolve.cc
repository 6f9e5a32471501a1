// What follows reading: functions are written out, names made unique, nodes sorted.
#include <algorithm>
#include <functional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "onnx/file/reader.h"

namespace mxnet {
namespace onnx {
namespace {

constexpr int kMostCalls = 64;                  // functions that call functions
constexpr size_t kMostNodes = size_t{1} << 22;  // when all functions are written out

using Names = std::unordered_map<std::string, std::string>;

std::string OpName(const NodeProto& n) { return (n.domain.empty() ? "" : n.domain + ".") + n.op; }

std::string FunctionKey(const std::string& domain, const std::string& name, const std::string& overload) {
  return (domain == "ai.onnx" ? "" : domain) + '\n' + name + '\n' + overload;
}

/* Calls of the model's own functions -> their nodes, with names of their own. */
class Inliner {
 public:
  Inliner(const std::vector<FunctionProto>& functions, const std::map<std::string, int64_t>& opsets) : opsets_(opsets) {
    for (const auto& f : functions) functions_[FunctionKey(f.domain, f.name, f.overload)] = &f;
  }

  void Graph(GraphProto* g, const std::map<std::string, int64_t>& opsets, int depth) {
    MXNET_CHECK_KIND(depth <= kMostCalls, IO) << "[onnx] functions that call functions, more than " << kMostCalls << " deep";
    std::vector<NodeProto> nodes;
    for (NodeProto& n : g->nodes) Node(std::move(n), opsets, depth, &nodes);
    g->nodes = std::move(nodes);
  }

 private:
  void Node(NodeProto n, const std::map<std::string, int64_t>& opsets, int depth, std::vector<NodeProto>* out) {
    const auto f = functions_.find(FunctionKey(n.domain, n.op, n.overload));
    if (f == functions_.end()) {
      const auto version = opsets.find(n.domain);
      if (version != opsets.end()) {
        n.opset = version->second;
      } else {  // exporters forget the domains of what optimizers added
        const auto of_model = opsets_.find(n.domain);
        n.opset = of_model != opsets_.end() ? of_model->second : 1;
      }
      for (Attribute& a : n.attributes)
        if (a.graph) Graph(a.graph.get(), opsets, depth + 1);
      MXNET_CHECK_KIND(++nodes_ <= kMostNodes, IO) << "[onnx] more than " << kMostNodes << " nodes";
      out->push_back(std::move(n));
      return;
    }
    MXNET_CHECK_KIND(depth < kMostCalls, IO) << "[onnx] function " << OpName(n) << " calls itself, or functions are nested more than "
                                             << kMostCalls << " deep";
    Call(n, *f->second, depth, out);
  }

  void Call(const NodeProto& call, const FunctionProto& f, int depth, std::vector<NodeProto>* out) {
    MXNET_CHECK_KIND(call.inputs.size() <= f.inputs.size() && call.outputs.size() <= f.outputs.size(), IO)
        << "[onnx] node " << call.label() << " calls function " << OpName(call) << " with " << call.inputs.size() << " inputs and "
        << call.outputs.size() << " outputs; accepted: up to " << f.inputs.size() << " and " << f.outputs.size();
    const std::string prefix = call.label() + "/" + std::to_string(++calls_) + "/";
    Names names;
    names[""] = "";
    for (size_t i = 0; i < f.inputs.size(); ++i) names[f.inputs[i]] = i < call.inputs.size() ? call.inputs[i] : "";
    for (size_t i = 0; i < call.outputs.size(); ++i)
      if (!call.outputs[i].empty() && !names.count(f.outputs[i])) names[f.outputs[i]] = call.outputs[i];
    std::map<std::string, const Attribute*> given;
    for (const Attribute& a : f.attribute_defaults) given[a.name] = &a;
    for (const Attribute& a : call.attributes) given[a.name] = &a;
    for (const NodeProto& inner : f.nodes) Node(Renamed(inner, prefix, &names, given), f.opsets, depth + 1, out);
    for (size_t i = 0; i < call.outputs.size(); ++i) {  // an input that is handed back
      if (call.outputs[i].empty() || names[f.outputs[i]] == call.outputs[i]) continue;
      NodeProto same;
      same.op = "Identity";
      same.opset = 13;
      same.inputs = {names[f.outputs[i]]};
      same.outputs = {call.outputs[i]};
      out->push_back(std::move(same));
    }
  }

  static std::string NameOf(const std::string& name, const std::string& prefix, Names* names) {
    const auto it = names->find(name);
    return it != names->end() ? it->second : (*names)[name] = prefix + name;
  }

  NodeProto Renamed(const NodeProto& n, const std::string& prefix, Names* names, const std::map<std::string, const Attribute*>& given) {
    NodeProto r = n;
    r.name = prefix + n.label();
    for (std::string& name : r.inputs) name = NameOf(name, prefix, names);
    for (std::string& name : r.outputs) name = NameOf(name, prefix, names);
    r.attributes.clear();
    for (const Attribute& a : n.attributes) {
      const Attribute* from = &a;
      if (!a.refers_to.empty()) {
        const auto it = given.find(a.refers_to);
        if (it == given.end()) continue;  // left out by the caller: absent here
        from = it->second;
      }
      r.attributes.push_back(*from);
      r.attributes.back().name = a.name;
      r.attributes.back().refers_to.clear();
      if (from->graph) r.attributes.back().graph = RenamedGraph(*from->graph, prefix, names, given);
    }
    return r;
  }

  std::shared_ptr<GraphProto> RenamedGraph(const GraphProto& g, const std::string& prefix, Names* names,
                                           const std::map<std::string, const Attribute*>& given) {
    auto r = std::make_shared<GraphProto>(g);
    for (auto& v : r->inputs) v.name = NameOf(v.name, prefix, names);
    for (auto& v : r->outputs) v.name = NameOf(v.name, prefix, names);
    for (auto& c : r->constants) c.name = NameOf(c.name, prefix, names);
    for (auto& n : r->nodes) n = Renamed(n, prefix, names, given);
    return r;
  }

  std::unordered_map<std::string, const FunctionProto*> functions_;
  const std::map<std::string, int64_t>& opsets_;
  size_t calls_ = 0, nodes_ = 0;
};

/* Scopes: a subgraph sees the names of the graphs around it. */
class Scopes {
 public:
  void Graph(GraphProto* g, const Names& outer, std::set<std::string>* free) {
    Names here = outer;
    std::unordered_set<std::string> made;
    const auto define = [&](std::string* name, const char* what) {
      if (name->empty()) return;
      MXNET_CHECK_KIND(made.insert(*name).second, IO)
          << "[onnx] " << what << " " << *name << " of graph " << g->name << " has the name of another value";
      here[*name] = Unique(*name);
      *name = here[*name];
    };
    std::unordered_set<std::string> inputs;
    for (auto& v : g->inputs) {
      inputs.insert(v.name);
      define(&v.name, "input");
    }
    for (auto& c : g->constants) {  // an initializer may be the default of an input
      if (inputs.count(c.name))
        c.name = here[c.name];
      else
        define(&c.name, "initializer");
    }
    for (auto& n : g->nodes)
      for (auto& name : n.outputs) define(&name, "a node's output");
    for (auto& n : g->nodes) Node(&n, here, made, *g, free);
    for (auto& v : g->outputs) {
      const auto it = here.find(v.name);
      MXNET_CHECK_KIND(it != here.end(), IO) << "[onnx] nothing makes the output " << v.name << " of graph " << g->name;
      if (!made.count(v.name) && free) free->insert(it->second);
      v.name = it->second;
    }
    Sort(g);
  }

 private:
  void Node(NodeProto* n, const Names& here, const std::unordered_set<std::string>& made, const GraphProto& g,
            std::set<std::string>* free) {
    for (auto& name : n->inputs) {
      if (name.empty()) continue;
      const auto it = here.find(name);
      MXNET_CHECK_KIND(it != here.end(), IO) << "[onnx] node " << n->label() << " (" << OpName(*n) << ") of graph " << g.name << " reads "
                                             << name << ", which nothing makes";
      if (!made.count(name) && free) free->insert(it->second);
      name = it->second;
    }
    std::set<std::string> captured;
    for (Attribute& a : n->attributes) {
      if (!a.graph) continue;
      if (n->domain.empty()) CheckResults(*n, *a.graph);
      Graph(a.graph.get(), here, &captured);
    }
    n->captured.assign(captured.begin(), captured.end());
    if (!free) return;
    std::unordered_set<std::string> mine;
    for (const auto& name : made) mine.insert(here.at(name));
    for (const auto& name : captured)
      if (!mine.count(name)) free->insert(name);
  }

  /* What reads another result would wait for it for ever. */
  static void CheckResults(const NodeProto& n, const GraphProto& body) {
    size_t count = n.outputs.size();
    while (count > 0 && n.outputs[count - 1].empty()) --count;
    const size_t more = n.op == "Loop" ? 1 : 0;  // the condition
    MXNET_CHECK_KIND(body.outputs.size() >= count + more, IO)
        << "[onnx] node " << n.label() << " (" << OpName(n) << ") has " << count << " results, its graph " << body.name << " gives "
        << body.outputs.size() << "; accepted: " << count + more << " or more";
  }

  std::string Unique(const std::string& name) {
    if (used_.insert(name).second) return name;
    std::string other;
    do other = name + "@" + std::to_string(++count_);
    while (!used_.insert(other).second);
    return other;
  }

  /* Files must have nodes in order; some do not. Keeps the order where it is right. */
  static void Sort(GraphProto* g) {
    std::unordered_map<std::string, size_t> maker;
    for (size_t i = 0; i < g->nodes.size(); ++i)
      for (const auto& name : g->nodes[i].outputs)
        if (!name.empty()) maker[name] = i;
    const size_t count = g->nodes.size();
    std::vector<std::vector<size_t>> users(count);
    std::vector<size_t> open(count, 0);
    for (size_t i = 0; i < count; ++i) {
      std::set<size_t> from;
      for (const auto* list : {&g->nodes[i].inputs, &g->nodes[i].captured})
        for (const auto& name : *list) {
          const auto it = maker.find(name);
          if (it != maker.end()) from.insert(it->second);
        }
      for (size_t m : from) users[m].push_back(i);
      open[i] = from.size();
    }
    std::set<size_t> ready;
    for (size_t i = 0; i < count; ++i)
      if (open[i] == 0) ready.insert(i);
    std::vector<NodeProto> sorted;
    sorted.reserve(count);
    while (!ready.empty()) {
      const size_t i = *ready.begin();
      ready.erase(ready.begin());
      for (size_t u : users[i])
        if (--open[u] == 0) ready.insert(u);
      sorted.push_back(std::move(g->nodes[i]));
    }
    for (size_t i = 0; i < count; ++i)
      MXNET_CHECK_KIND(open[i] == 0, IO) << "[onnx] node " << g->nodes[i].label() << " (" << OpName(g->nodes[i]) << ") of graph " << g->name
                                         << " lies on a circle: it reads what is made of its own result";
    g->nodes = std::move(sorted);
  }

  std::unordered_set<std::string> used_;
  size_t count_ = 0;
};

}  // namespace

void Resolve(Model* model, const std::vector<FunctionProto>& functions) {
  Inliner(functions, model->opsets).Graph(&model->graph, model->opsets, 0);
  Scopes().Graph(&model->graph, {}, nullptr);
}

}  // namespace onnx
}  // namespace mxnet
