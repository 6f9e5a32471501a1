#include "onnx/control/inner.h"

#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mxnet {
namespace onnx {
namespace {

/* A graph that a node holds, and the graphs around it, the outermost first. */
struct Place {
  const NodeProto* node;
  const Attribute* attribute;
  std::vector<const GraphProto*> around;
  std::string text() const { return attribute->name + " of " + node->label() + " (" + node->op + ")"; }
};

void FindAll(const GraphProto& graph, std::vector<const GraphProto*> around, std::vector<Place>* all) {
  around.push_back(&graph);
  for (const NodeProto& n : graph.nodes)
    for (const Attribute& a : n.attributes) {
      if (!a.graph) continue;
      all->push_back({&n, &a, around});
      FindAll(*a.graph, around, all);
    }
}

Place Find(const Model& model, const std::string& attribute, const std::string& node) {
  std::vector<Place> all, found;
  FindAll(model.graph, {}, &all);
  for (const Place& p : all)
    if (p.attribute->name == attribute && (node.empty() || p.node->label() == node)) found.push_back(p);
  std::string there;
  for (const Place& p : found.empty() ? all : found) there += (there.empty() ? "" : ", ") + p.text();
  MXNET_CHECK_KIND(found.size() == 1, Value) << "[onnx] " << (found.empty() ? "no" : "more than one") << " graph called " << attribute
                                             << (node.empty() ? "" : " of a node called " + node)
                                             << "; accepted: " << (there.empty() ? "none in this model" : there);
  return found[0];
}

/* What a graph reads and does not make. */
void AddFree(const GraphProto& graph, std::set<std::string>* names) {
  std::set<std::string> read;
  for (const NodeProto& n : graph.nodes) {
    read.insert(n.inputs.begin(), n.inputs.end());
    for (const Attribute& a : n.attributes)
      if (a.graph) AddFree(*a.graph, &read);
  }
  for (const ValueInfo& v : graph.outputs) read.insert(v.name);
  for (const ValueInfo& v : graph.inputs) read.erase(v.name);
  for (const Constant& c : graph.constants) read.erase(c.name);
  for (const NodeProto& n : graph.nodes)
    for (const std::string& name : n.outputs) read.erase(name);
  read.erase("");
  names->insert(read.begin(), read.end());
}

/* Names of the file for those that the reader has made of them (name@number). */
class Renaming {
 public:
  void Collect(const GraphProto& g) {
    for (const ValueInfo& v : g.inputs) Add(v.name);
    for (const Constant& c : g.constants) Add(c.name);
    for (const NodeProto& n : g.nodes) {
      for (const std::string& name : n.outputs) Add(name);
      for (const Attribute& a : n.attributes)
        if (a.graph) Collect(*a.graph);
    }
  }
  /* After all were collected. */
  void Choose() {
    for (const std::string& name : all_) {
      const size_t at = name.rfind('@');
      const bool is_made =
          at != std::string::npos && at > 0 && at + 1 < name.size() && name.find_first_not_of("0123456789", at + 1) == std::string::npos;
      if (is_made && !all_.count(name.substr(0, at)) && taken_.insert(name.substr(0, at)).second) new_[name] = name.substr(0, at);
    }
  }
  GraphProto Of(const GraphProto& g) const {
    GraphProto made = g;
    for (auto* list : {&made.inputs, &made.outputs})
      for (ValueInfo& v : *list) Rename(&v.name);
    for (Constant& c : made.constants) Rename(&c.name);
    for (NodeProto& n : made.nodes) {
      for (auto* list : {&n.inputs, &n.outputs, &n.captured})
        for (std::string& name : *list) Rename(&name);
      for (Attribute& a : n.attributes)
        if (a.graph) a.graph = std::make_shared<GraphProto>(Of(*a.graph));
    }
    return made;
  }

 private:
  void Add(const std::string& name) {
    if (!name.empty()) all_.insert(name);
  }
  void Rename(std::string* name) const {
    const auto it = new_.find(*name);
    if (it != new_.end()) *name = it->second;
  }
  std::set<std::string> all_, taken_;
  std::unordered_map<std::string, std::string> new_;
};

}  // namespace

std::shared_ptr<const Model> InnerModel(const Model& model, const std::string& attribute, const std::string& node) {
  const Place place = Find(model, attribute, node);
  GraphProto graph = *place.attribute->graph;
  std::set<std::string> free;
  AddFree(graph, &free);
  for (const std::string& name : free) {
    const Constant* constant = nullptr;
    for (const GraphProto* around : place.around)
      for (const Constant& c : around->constants)
        if (c.name == name) constant = &c;
    if (constant) {
      graph.constants.push_back(*constant);
    } else {
      ValueInfo info;
      info.name = name;
      for (const GraphProto* around : place.around)
        for (const ValueInfo& v : around->inputs)
          if (v.name == name) info = v;
      graph.inputs.push_back(std::move(info));
    }
  }
  Renaming renaming;
  renaming.Collect(graph);
  renaming.Choose();
  auto made = std::make_shared<Model>(model);
  made->graph = renaming.Of(graph);
  made->weight_bytes = 0;
  for (const Constant& c : made->graph.constants)
    if (!c.array.is_none()) made->weight_bytes += static_cast<uint64_t>(c.shape.Size()) * DTypeSize(c.array.dtype());
  return made;
}

}  // namespace onnx
}  // namespace mxnet
