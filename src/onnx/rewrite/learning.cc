#include "onnx/rewrite/learning.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>

#include "mxnet/op.h"
#include "onnx/builder.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace onnx {
namespace {

/* The same elements in another order, shape or dtype. */
bool IsRearranging(const Op* op) {
  const Role* const role = op->trait<Role>();
  return role && (*role == Role::kTranspose || *role == Role::kReshape || *role == Role::kCopy || *role == Role::kCast);
}

bool IsKnown(const Value& v) { return v.kind == Value::kTensor && v.known(); }

/* The same array, or result of the graph. */
bool SameValue(const Value& a, const Value& b) {
  if (IsKnown(a) != IsKnown(b)) return false;
  if (IsKnown(a)) return a.array.chunk() == b.array.chunk() && PartOf(a.array) == PartOf(b.array);
  return a.entry.node == b.entry.node && a.entry.index == b.entry.index;
}

}  // namespace

Learning::Key Learning::KeyOf(const NDArray& array) { return {array.chunk(), PartOf(array)}; }

void Learning::Add(const std::vector<NDArray>& results, const AttrsPtr& attrs, const std::vector<Value>& operands) {
  for (const Value& v : operands)
    if (IsKnown(v)) read_.insert(KeyOf(v.array));
  for (size_t i = 0; i < results.size(); ++i) {
    const Key key = KeyOf(results[i]);
    if (sources_.count(key) || themselves_.count(key)) continue;
    // What nothing has read before cannot be what it is made of. So long chains of views are not
    // followed.
    if (read_.count(key) && ComesFrom(operands, key))
      themselves_.insert(key);
    else
      sources_.emplace(key, Source{results[i], attrs, operands, static_cast<uint32_t>(i)});
  }
}

/* Is one of the operands the array of that name, or a view of it, maybe made by way of other
 * views? */
bool Learning::ComesFrom(const std::vector<Value>& operands, const Key& key) const {
  std::vector<const std::vector<Value>*> todo{&operands};
  std::set<Key> seen;
  while (!todo.empty()) {
    const std::vector<Value>& values = *todo.back();
    todo.pop_back();
    for (const Value& v : values) {
      if (!IsKnown(v) || v.array.chunk() != key.first) continue;
      const Key of = KeyOf(v.array);
      if (of == key) return true;
      const auto source = sources_.find(of);
      if (source != sources_.end() && seen.insert(of).second) todo.push_back(&source->second.operands);
    }
  }
  return false;
}

const Learning::Source* Learning::SourceOf(const NDArray& array) const {
  const auto it = sources_.find(KeyOf(array));
  return it == sources_.end() ? nullptr : &it->second;
}

/* Operands before results, without recursion: files have chains of any length. */
const Learning::Origin& Learning::OriginOf(const NDArray& array) {
  std::vector<const NDArray*> todo{&array};
  while (!todo.empty()) {
    const NDArray& now = *todo.back();
    const Key key = KeyOf(now);
    const Source* const source = SourceOf(now);
    const size_t before = todo.size();
    if (!origins_.count(key) && source)
      for (const Value& v : source->operands)
        if (IsKnown(v) && !origins_.count(KeyOf(v.array))) todo.push_back(&v.array);
    if (todo.size() > before) continue;
    todo.pop_back();
    if (origins_.emplace(key, Origin{}).second) {
      origins_[key] = Find(now, source);
      order_.push_back(key);
    }
  }
  return origins_.at(KeyOf(array));
}

/* The origins of the operands are there. */
Learning::Origin Learning::Find(const NDArray& array, const Source* source) const {
  Origin origin;
  if (!source) {
    const int dtype = array.dtype();
    const bool is_stored = dtype == kInt8 || dtype == kUint8;  // of a quantized layer
    origin.learns = (IsFloating(dtype) || is_stored) && folded_->Keeps({array})[0] && !folded_->IsFixed(array);
    origin.by_operators = !is_stored;
    return origin;
  }
  origin.by_operators = source->attrs != nullptr;
  origin.in_order = source->attrs && IsRearranging(source->attrs->op) && source->operands.size() == 1;
  for (const Value& v : source->operands) {
    if (!IsKnown(v)) continue;
    const Origin& of = origins_.at(KeyOf(v.array));
    if (!of.learns) continue;
    origin.learns = true;
    origin.by_operators = origin.by_operators && of.by_operators;
    origin.in_order = origin.in_order && of.in_order;
  }
  if (floats_.count(KeyOf(array))) origin.learns = origin.by_operators = true;
  return origin;
}

/* Marks what is made of a weight that several of these variables are made of. Two readers of each
 * array are as many as matter. */
void Learning::FindShared(const std::vector<NodePtr>& variables, const std::unordered_map<const Node*, NDArray>& constants) {
  using Readers = std::pair<const Node*, const Node*>;
  const auto add = [](const Node* n, Readers* to) {
    if (!to->first || to->first == n)
      to->first = n;
    else if (n)
      to->second = n;
  };
  std::map<Key, Readers> readers;
  for (const NodePtr& n : variables) {
    const NDArray& array = constants.at(n.get());
    if (OriginOf(array).learns) add(n.get(), &readers[KeyOf(array)]);
  }
  const auto each_learned = [this](const Key& key, const auto& visit) {
    const auto source = sources_.find(key);
    if (source == sources_.end()) return;
    for (const Value& v : source->second.operands) {
      if (!IsKnown(v)) continue;
      const Key of = KeyOf(v.array);
      if (origins_.at(of).learns) visit(of);
    }
  };
  for (auto key = order_.rbegin(); key != order_.rend(); ++key) {
    const Readers found = readers[*key];
    each_learned(*key, [&](const Key& of) {
      Readers& to = readers[of];
      for (const Node* n : {found.first, found.second})
        if (n) add(n, &to);
    });
  }
  for (const Key& key : order_) {
    bool shared = !sources_.count(key) && readers[key].second;
    each_learned(key, [&](const Key& of) { shared = shared || origins_.at(of).shared; });
    origins_.at(key).shared = shared;
  }
}

/* The variable becomes the operator. Returns the variables that this reads. */
std::vector<NodePtr> Learning::Express(const NodePtr& variable, const Source& source, GraphBuilder* builder) const {
  std::vector<NodeEntry> inputs;
  for (const Value& v : source.operands) inputs.push_back(builder->EntryOf(v));
  std::vector<NodePtr> read;
  for (const NodeEntry& e : inputs)
    if (e.node->is_variable()) read.push_back(e.node);
  if (source.attrs->op->NumOutputs(*source.attrs) == 1) {
    variable->attrs = source.attrs;
    variable->inputs = std::move(inputs);
    return read;
  }
  auto all = std::make_shared<Node>();
  all->name = builder->Unused(variable->name + "_all");
  all->attrs = source.attrs;
  all->inputs = std::move(inputs);
  variable->attrs = MakeAttrs(Op::Get("_copy"), {});
  variable->inputs = {NodeEntry{all, source.output, 0}};
  return read;
}

/* The weight that has a name among the first operands of the first operands, and what was done
 * first on the way back to it. */
const Learning::Lineage& Learning::LineageOf(const NDArray& array) {
  static const Lineage none;
  std::vector<const NDArray*> way;
  for (const NDArray* now = &array;;) {
    if (lineages_.count(KeyOf(*now)) || !folded_->NameOf(*now).empty()) break;
    const Source* const source = SourceOf(*now);
    if (!source || source->operands.empty() || !IsKnown(source->operands[0])) break;  // made of the shape of data
    way.push_back(now);
    now = &source->operands[0].array;
  }
  for (auto it = way.rbegin(); it != way.rend(); ++it) {
    const Source& source = *SourceOf(**it);
    const NDArray& from = source.operands[0].array;
    const auto known = lineages_.find(KeyOf(from));
    Lineage of = known == lineages_.end() ? none : known->second;
    if (of.name.empty()) of.name = folded_->NameOf(from);
    if (source.attrs) of.last = source.attrs->op;
    lineages_.emplace(KeyOf(**it), std::move(of));
  }
  const auto found = lineages_.find(KeyOf(array));
  return found == lineages_.end() ? none : found->second;
}

/* A small constant has no name of its own yet (FoldedWeights::Put). */
void Learning::Name(const NodePtr& variable, const NDArray& array, GraphBuilder* builder) {
  if (!folded_->NameOf(array).empty()) return;
  const Lineage& lineage = LineageOf(array);
  if (lineage.name.empty()) return;
  std::string last = lineage.last ? lineage.last->name : "parameters";
  for (const char* prefix : {"_npi_", "_npx_", "_np_"})
    if (last.rfind(prefix, 0) == 0) last = last.substr(std::strlen(prefix));
  variable->name = builder->Unused(lineage.name + "_" + last);
}

const Learning::Rounded* Learning::RoundedOf(const Value& integers) const {
  for (auto it = rounded_.rbegin(); it != rounded_.rend(); ++it)
    if (SameValue(it->integers, integers)) return &*it;
  return nullptr;
}

void Learning::Finish(const Symbol& graph, GraphBuilder* builder) {
  std::vector<NodePtr> variables;
  for (const NodePtr& n : graph.ListInputs(Symbol::kAll))
    if (builder->constants().count(n.get())) variables.push_back(n);
  FindShared(variables, builder->constants());
  std::set<const Node*> done;
  while (!variables.empty()) {
    const NodePtr variable = variables.back();
    variables.pop_back();
    if (!done.insert(variable.get()).second) continue;
    const NDArray array = builder->constants().at(variable.get());
    const Origin& origin = OriginOf(array);
    if (!origin.learns) {
      variable->attrs = MakeVariable("", {{kConstant, "True"}})->attrs;
      continue;
    }
    const Source* const source = SourceOf(array);
    if (!source) continue;
    if (!operators_ || floats_.count(KeyOf(array)) || !origin.by_operators || !IsFloating(array.dtype()) ||
        (origin.in_order && !origin.shared)) {
      Name(variable, array, builder);
      continue;
    }
    for (const NodePtr& n : Express(variable, *source, builder)) variables.push_back(n);
  }
}

}  // namespace onnx
}  // namespace mxnet
