#include "graph/quantize.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>

#include "graph/entry_key.h"
#include "operator/nn/common/epilogue.h"
#include "operator/nodes/quantize_nodes.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace {

/* Layers are worth their conversions alone; other nodes only beside them. */
bool IsLayer(const Node& n) {
  const Role role = RoleOf(n);
  return role == Role::kConvolution || role == Role::kDense || role == Role::kRnn;
}

std::string OutputName(const NodeEntry& e) { return e.node->is_variable() ? e.node->name : Symbol{{e}}.ListOutputNames()[0]; }

bool HasWideBias(const Node& n, size_t input) {
  const auto* bias = n.op()->trait<graph_ops::WideBias>();
  return bias && bias->input == static_cast<int>(input);
}

constexpr char kQuantized[] = "quantized_", kRequantized[] = "requantize_";

/* What stands behind `prefix`; nothing where the name does not begin with it. */
std::string Behind(const std::string& name, const std::string& prefix) {
  return name.compare(0, prefix.size(), prefix) == 0 ? name.substr(prefix.size()) : "";
}

/* The result whose range a node takes; nothing: it takes none. */
std::string RangeName(const Node& n) {
  if (n.is_variable() || !n.op()->trait<TakesCalibratedRange>() || n.inputs.empty() || NeedsRequantizing(n)) return "";
  if (graph_ops::QuantizesFloats(n)) return OutputName(n.inputs[0]);
  const bool requantizes = NeedsRequantizing(*n.inputs[0].node);
  const std::string of = Behind(n.name, requantizes ? kRequantized : kQuantized);
  return of.empty() ? of : of + "_output";
}

class Quantizer {
 public:
  Quantizer(const Symbol& symbol, const QuantizeRequest& r) : symbol_(symbol), r_(r) {
    MXNET_CHECK_KIND(r.dtype == "int8" || r.dtype == "uint8" || r.dtype == "auto", Value)
        << "[quantization] quantized dtype '" << r.dtype << "'; accepted: int8, uint8, auto";
    for (const auto& name : r.excluded_ops)
      if (const Op* op = Op::Find(name)) excluded_ops_.insert(op);
  }

  QuantizedSymbol Run() {
    DFSVisit(symbol_.outputs, [this](const NodePtr& n) { order_.push_back(n); });
    CountReaders();
    Choose();
    for (const NodePtr& n : order_) {
      if (n->is_variable())
        nodes_[n.get()] = n;
      else if (chosen_.count(n.get()))
        MakeQuantized(n);
      else
        Keep(n);
    }
    QuantizedSymbol q;
    for (const NodeEntry& e : symbol_.outputs) q.symbol.outputs.push_back(Float(e));
    std::set<std::string> known;
    DFSVisit(q.symbol.outputs, [&](const NodePtr& n) {
      const std::string name = RangeName(*n);
      if (!name.empty() && known.insert(name).second) q.calibrated.push_back(name);
    });
    return q;
  }

 private:
  struct Triple {
    NodeEntry data, min, max;
  };

  void CountReaders() {
    for (const NodePtr& n : order_)
      for (const NodeEntry& e : n->inputs) readers_[e].push_back(n.get());
    for (const NodeEntry& e : symbol_.outputs) readers_[e].push_back(nullptr);
  }

  /* Does it clip the result of a layer that becomes one on integers, and that nobody else reads? */
  bool ClipsLayer(const Node& n) const {
    nn::EpilogueOp post;
    if (!r_.merge || !r_.calibrated || n.inputs.size() != 1 || !nn::EpilogueOf(n, &post) || post.kind != nn::EpilogueKind::kClip)
      return false;
    const NodeEntry& from = n.inputs[0];
    return post.a == 0 && post.b > 0 && IsLayer(*from.node) && chosen_.count(from.node.get()) && readers_.at(from).size() == 1;
  }

  /* A relu of an operator that names no quantized form, as npx.relu. */
  bool IsOtherRelu(const Node& n) const { return r_.merge && n.inputs.size() == 1 && RoleOf(n) == Role::kRelu; }

  bool MayQuantize(const NodePtr& n) const {
    if (r_.excluded.count(n->name) || excluded_ops_.count(n->op())) return false;
    if (!QuantizedFormOf(*n)) return IsOtherRelu(*n) || ClipsLayer(*n);
    for (int i = 1; i < n->op()->NumOutputs(*n->attrs); ++i)  // the quantized form has a range there
      if (readers_.count({n.get(), static_cast<uint32_t>(i)})) return QuantizedFormOf(*n)->asymmetric;
    return true;
  }

  void Choose() {
    for (const NodePtr& n : order_)
      if (!n->is_variable() && MayQuantize(n)) chosen_.insert(n.get());
    if (r_.smart) ChooseBetweenLayers();
    if (r_.merge) LeaveMovesOfFloats(), LeaveBetweenFloats();
  }

  /* Floats are moved before they become integers, for then what makes them may take the moves in,
   * as attention does with its heads. */
  void LeaveMovesOfFloats() {
    for (const NodePtr& n : order_) {
      const Role role = RoleOf(*n);
      if ((role != Role::kReshape && role != Role::kTranspose) || !chosen_.count(n.get())) continue;
      const Node& from = *n->inputs[0].node;
      if (from.is_variable() ? !r_.offline.count(from.name) : !chosen_.count(&from)) chosen_.erase(n.get());
    }
  }

  /* Nodes that are no layers, whose inputs are floats and whose readers want floats, stay, whole
   * groups of them as well: integers would be made for them alone. A layer's sums are as good as
   * floats, where no other node wants them in 8 bits. */
  void LeaveBetweenFloats() {
    std::unordered_set<const Node*> staying;
    for (const Node* n : chosen_)
      if (!IsLayer(*n)) staying.insert(n);
    const auto wants_floats = [&](const Node* reader) { return !reader || !chosen_.count(reader) || staying.count(reader); };
    const auto read_as_floats = [&](const Node& n) {
      for (int i = 0; i < n.num_outputs(); ++i) {
        const auto readers = readers_.find({&n, static_cast<uint32_t>(i)});
        if (readers != readers_.end() && !std::all_of(readers->second.begin(), readers->second.end(), wants_floats)) return false;
      }
      return true;
    };
    const auto has_floats = [&](const Node& n) {
      const auto* form = QuantizedFormOf(n);
      for (size_t i = 0; i < n.inputs.size(); ++i) {
        const Node& from = *n.inputs[i].node;
        const bool kept = form && std::count(form->kept.begin(), form->kept.end(), static_cast<int>(i));
        if (kept || staying.count(&from)) continue;
        if (from.is_variable() ? r_.offline.count(from.name) > 0 : chosen_.count(&from) && !(IsLayer(from) && read_as_floats(from)))
          return false;
      }
      return true;
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (const NodePtr& n : order_)
        if (staying.count(n.get()) && !(read_as_floats(*n) && has_floats(*n))) staying.erase(n.get()), changed = true;
    }
    for (const Node* n : staying) chosen_.erase(n);
  }

  void ChooseBetweenLayers() {
    std::unordered_set<const Node*> after, before;  // a layer, by way of chosen nodes
    for (const NodePtr& n : order_)
      for (const NodeEntry& e : n->inputs)
        if (chosen_.count(n.get()) && chosen_.count(e.node.get()) && (IsLayer(*e.node) || after.count(e.node.get()))) after.insert(n.get());
    for (auto n = order_.rbegin(); n != order_.rend(); ++n)
      for (const NodeEntry& e : (*n)->inputs)
        if (chosen_.count(n->get()) && chosen_.count(e.node.get()) && (IsLayer(**n) || before.count(n->get()))) before.insert(e.node.get());
    for (const NodePtr& n : order_)
      if (!IsLayer(*n) && !(after.count(n.get()) && before.count(n.get()))) chosen_.erase(n.get());
  }

  NodeEntry Renewed(const NodeEntry& e) const { return NodeEntry{nodes_.at(e.node.get()), e.index, e.version}; }

  /* The same value in float32. */
  NodeEntry Float(const NodeEntry& e) {
    const auto form = triples_.find(e);
    if (form == triples_.end()) return Renewed(e);
    NodeEntry& made = floats_[e];
    if (!made) {
      const bool wide = OnlyFloatsRead(e);
      const Triple& from = wide ? sums_.at(e) : form->second;
      made = (wide ? graph_ops::DequantizeSums : graph_ops::Dequantize)({from.data, from.min, from.max}, e.node->name + "_dequantize");
    }
    return made;
  }

  /* Of an input: made of a float where nobody has quantized it yet. `wide`: a parameter becomes
   * 32-bit integers. */
  Triple Quantized(const NodeEntry& e, bool wide = false) {
    const auto known = triples_.find(e);
    if (known != triples_.end()) return known->second;
    Triple& t = inputs_[e];
    if (t.data) return t;
    const std::string& name = e.node->name;
    if (e.node->is_variable() && r_.offline.count(name)) {
      auto variable = [&](const char* ending, AttrDict dict = {}) {
        return NodeEntry{MakeVariable(name + "_quantize" + ending, std::move(dict)), 0, 0};
      };
      const AttrDict dict = wide ? AttrDict{{"__dtype__", std::to_string(kInt32)}} : AttrDict();
      return t = {variable("", dict), variable("_min"), variable("_max")};
    }
    const NodePtr made = graph_ops::Quantize(Renewed(e), r_.dtype, OutputName(e) + "_quantize");
    return t = {{made, 0, 0}, {made, 1, 0}, {made, 2, 0}};
  }

  bool OnlyFloatsRead(const NodeEntry& e) const {
    if (!r_.merge || !sums_.count(e)) return false;
    const auto& readers = readers_.at(e);
    return std::none_of(readers.begin(), readers.end(), [&](const Node* n) { return n && chosen_.count(n); });
  }

  NodePtr Copy(const Node& n, std::vector<NodeEntry> inputs) const {
    auto copy = std::make_shared<Node>();
    copy->name = n.name;
    copy->attrs = n.attrs;
    copy->inputs = std::move(inputs);
    for (const auto& d : n.control_deps) copy->control_deps.push_back(nodes_.at(d.get()));
    return copy;
  }

  void Keep(const NodePtr& n) {
    std::vector<NodeEntry> inputs;
    bool changed = false;
    for (const NodeEntry& e : n->inputs) {
      inputs.push_back(Float(e));
      changed = changed || inputs.back().node != e.node || inputs.back().index != e.index;
    }
    nodes_[n.get()] = changed ? Copy(*n, std::move(inputs)) : n;
  }

  void MakeQuantized(const NodePtr& n) {
    const auto* form = QuantizedFormOf(*n);
    if (!form) return MakeRelu(n);
    std::vector<NodeEntry> inputs, ranges;
    for (size_t i = 0; i < n->inputs.size(); ++i) {
      if (std::count(form->kept.begin(), form->kept.end(), static_cast<int>(i))) {
        inputs.push_back(Float(n->inputs[i]));
        continue;
      }
      const Triple t = form->asymmetric ? Asymmetric(n->inputs[i]) : Quantized(n->inputs[i], r_.merge && HasWideBias(*n, i));
      inputs.push_back(t.data);
      ranges.insert(ranges.end(), {t.min, t.max});
    }
    inputs.insert(inputs.end(), ranges.begin(), ranges.end());
    const NodePtr made = MakeNode(form->op, std::move(inputs), n->attrs->dict, kQuantized + n->name);
    for (const auto& d : n->control_deps) made->control_deps.push_back(nodes_.at(d.get()));
    nodes_[n.get()] = made;
    if (form->asymmetric) return;
    const NodeEntry e{n, 0, 0};
    Triple& t = triples_[e];
    t = {{made, 0, 0}, {made, 1, 0}, {made, 2, 0}};
    if (!NeedsRequantizing(*made)) return;
    sums_[e] = t;
    const NodePtr narrow = graph_ops::Requantize({t.data, t.min, t.max}, r_.dtype, kRequantized + RangeOf(n));
    t = {{narrow, 0, 0}, {narrow, 1, 0}, {narrow, 2, 0}};
  }

  /* Of a relu, and of a clip that is one. */
  void MakeRelu(const NodePtr& n) {
    const Triple t = Quantized(n->inputs[0]);
    const NodePtr made = graph_ops::ReluOfIntegers({t.data, t.min, t.max}, kQuantized + n->name);
    nodes_[n.get()] = made;
    triples_[NodeEntry{n, 0, 0}] = {{made, 0, 0}, {made, 1, 0}, {made, 2, 0}};
  }

  /* The name of the node whose range the result of `n` is to have: of a relu that alone reads it,
   * for negative values need no numbers then. */
  std::string RangeOf(const NodePtr& n) const {
    if (!r_.merge) return n->name;
    const auto readers = readers_.find({n.get(), 0});
    if (readers == readers_.end() || readers->second.size() != 1) return n->name;
    const Node* reader = readers->second[0];
    return reader && chosen_.count(reader) && (RoleOf(*reader) == Role::kRelu || !QuantizedFormOf(*reader)) ? reader->name : n->name;
  }

  Triple Asymmetric(const NodeEntry& e) {
    Triple& t = asymmetric_[e];
    if (t.data) return t;
    const NodePtr made = graph_ops::QuantizeAsymmetric(Float(e), OutputName(e) + "_quantize");
    return t = {{made, 0, 0}, {made, 1, 0}, {made, 2, 0}};
  }

  const Symbol& symbol_;
  const QuantizeRequest& r_;
  std::set<const Op*> excluded_ops_;
  std::vector<NodePtr> order_;
  std::map<EntryKey, std::vector<const Node*>> readers_;  // null: the graph's output
  std::unordered_set<const Node*> chosen_;
  std::unordered_map<const Node*, NodePtr> nodes_;  // old -> new
  std::map<EntryKey, Triple> triples_;              // results of chosen nodes
  std::map<EntryKey, Triple> sums_;                 // the same before they are requantized
  std::map<EntryKey, Triple> inputs_, asymmetric_;  // of others
  std::map<EntryKey, NodeEntry> floats_;
};

/* The shortest text that gives the same number. */
std::string TextOf(float number) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), number);
  return std::string(text, end.ptr);
}

}  // namespace

QuantizedSymbol Quantize(const Symbol& symbol, const QuantizeRequest& request) { return Quantizer(symbol, request).Run(); }

Symbol SetRanges(const Symbol& quantized, const std::map<std::string, std::pair<float, float>>& ranges) {
  std::unordered_map<const Node*, NodePtr> renewed;
  auto entry = [&](const NodeEntry& e) { return NodeEntry{renewed.at(e.node.get()), e.index, e.version}; };
  DFSVisit(quantized.outputs, [&](const NodePtr& n) {
    auto copy = std::make_shared<Node>();
    copy->name = n->name;
    copy->attrs = n->attrs;
    for (const NodeEntry& e : n->inputs) copy->inputs.push_back(entry(e));
    for (const auto& d : n->control_deps) copy->control_deps.push_back(renewed.at(d.get()));
    const auto range = ranges.find(RangeName(*n));
    if (range != ranges.end()) {
      AttrDict dict = n->attrs->dict;
      dict["min_calib_range"] = TextOf(range->second.first);
      dict["max_calib_range"] = TextOf(range->second.second);
      copy->attrs = MakeAttrs(n->op(), std::move(dict));
    }
    renewed[n.get()] = n->is_variable() ? n : copy;
  });
  Symbol s;
  for (const NodeEntry& e : quantized.outputs) s.outputs.push_back(entry(e));
  return s;
}

}  // namespace mxnet
