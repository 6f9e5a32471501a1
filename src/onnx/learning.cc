#include "onnx/learning.h"

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

}  // namespace

Learning::Key Learning::KeyOf(const NDArray& array) { return {array.chunk(), PartOf(array)}; }

void Learning::Add(const std::vector<NDArray>& results, const AttrsPtr& attrs, const std::vector<Value>& operands) {
  for (size_t i = 0; i < results.size(); ++i) {
    const bool itself = std::any_of(operands.begin(), operands.end(), [&](const Value& v) {
      return v.kind == Value::kTensor && v.known() && ComesFrom(v.array, KeyOf(results[i]));
    });
    if (!itself) sources_.emplace(KeyOf(results[i]), Source{results[i], attrs, operands, static_cast<uint32_t>(i)});
  }
}

/* Is `array` the one of that name, or a view of it, maybe made by way of other views? */
bool Learning::ComesFrom(const NDArray& array, const Key& key) const {
  if (array.chunk() != key.first) return false;
  if (KeyOf(array) == key) return true;
  const Source* const source = SourceOf(array);
  return source && std::any_of(source->operands.begin(), source->operands.end(),
                               [&](const Value& v) { return v.kind == Value::kTensor && v.known() && ComesFrom(v.array, key); });
}

const Learning::Source* Learning::SourceOf(const NDArray& array) const {
  const auto it = sources_.find(KeyOf(array));
  return it == sources_.end() ? nullptr : &it->second;
}

const Learning::Origin& Learning::OriginOf(const NDArray& array) {
  const auto it = origins_.find(KeyOf(array));
  return it != origins_.end() ? it->second : origins_[KeyOf(array)] = Find(array);
}

Learning::Origin Learning::Find(const NDArray& array) {
  Origin origin;
  const Source* const source = SourceOf(array);
  if (!source) {
    const int dtype = array.dtype();
    const bool is_stored = dtype == kInt8 || dtype == kUint8;  // of a quantized layer
    origin.learns = (IsFloating(dtype) || is_stored) && folded_->Keeps({array})[0] && !folded_->IsFixed(array);
    origin.by_operators = !is_stored;
    if (origin.learns) origin.weights = {KeyOf(array)};
    return origin;
  }
  origin.by_operators = source->attrs != nullptr;
  origin.in_order = source->attrs && IsRearranging(source->attrs->op) && source->operands.size() == 1;
  for (const Value& v : source->operands) {
    if (v.kind != Value::kTensor || !v.known()) continue;
    const Origin& of = OriginOf(v.array);
    if (!of.learns) continue;
    origin.learns = true;
    origin.by_operators = origin.by_operators && of.by_operators;
    origin.in_order = origin.in_order && of.in_order;
    for (const Key& k : of.weights)
      if (std::find(origin.weights.begin(), origin.weights.end(), k) == origin.weights.end()) origin.weights.push_back(k);
  }
  return origin;
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

/* A small constant has no name of its own yet (FoldedWeights::Put). */
void Learning::Name(const NodePtr& variable, const NDArray& array, GraphBuilder* builder) {
  if (!folded_->NameOf(array).empty()) return;
  const Source* source = SourceOf(array);
  std::string last, name;
  for (; source; source = SourceOf(source->operands[0].array)) {
    if (last.empty() && source->attrs) last = source->attrs->op->name;
    name = folded_->NameOf(source->operands[0].array);
    if (!name.empty()) break;
  }
  if (name.empty()) return;
  for (const char* prefix : {"_npi_", "_npx_", "_np_"})
    if (last.rfind(prefix, 0) == 0) last = last.substr(std::strlen(prefix));
  variable->name = builder->Unused(last.empty() ? name + "_parameters" : name + "_" + last);
}

void Learning::Finish(const Symbol& graph, GraphBuilder* builder) {
  std::vector<NodePtr> variables;
  std::map<Key, int> readers;  // of weights
  for (const NodePtr& n : graph.ListInputs(Symbol::kAll)) {
    const auto constant = builder->constants().find(n.get());
    if (constant == builder->constants().end()) continue;
    variables.push_back(n);
    for (const Key& k : OriginOf(constant->second).weights) ++readers[k];
  }
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
    const bool shared = std::any_of(origin.weights.begin(), origin.weights.end(), [&](const Key& k) { return readers[k] > 1; });
    if (!operators_ || !origin.by_operators || !IsFloating(array.dtype()) || (origin.in_order && !shared)) {
      Name(variable, array, builder);
      continue;
    }
    for (const NodePtr& n : Express(variable, *source, builder)) variables.push_back(n);
  }
}

}  // namespace onnx
}  // namespace mxnet
