#include "onnx/builder.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>

#include "mxnet/graph.h"
#include "mxnet/imperative.h"
#include "mxnet/numpy_shapes.h"
#include "mxnet/op.h"
#include "ndarray/run.h"
#include "ndarray/stored.h"
#include "onnx/rewrite/learning.h"
#include "onnx/run/derived.h"
#include "onnx/run/weights_call.h"

namespace mxnet {
namespace onnx {
namespace {

constexpr size_t kLeastKept = 1024;  // bytes of a result that is worth sharing
// Bytes of results from few numbers that each run had better make for itself: plans keep what is
// computed here. Integers are indices, of which exporters write the whole grid.
constexpr int64_t kMostSpread = 16 << 20, kMostSpreadIndices = 1 << 20;

size_t BytesOf(const NDArray& a) { return static_cast<size_t>(a.shape().Size()) * DTypeSize(a.dtype()); }

template <typename T>
std::vector<T> Converted(const NDArray& given, int dtype) {
  const NDArray array = OnCPU(given);
  const int64_t count = array.shape().Size();
  std::vector<T> values(static_cast<size_t>(count));
  if (count == 0) return values;
  std::vector<char> raw(BytesOf(array));
  array.CopyBytesTo(raw.data(), raw.size());
  ConvertElements(raw.data(), array.dtype(), values.data(), dtype, count);
  return values;
}

/* `text`: everything that the parameters are parsed from. Layers that are alike ask for the same,
 * and so does each new shape. */
AttrsPtr Parsed(const Op* op, const std::string& text, AttrDict dict) {
  static thread_local AttrsCache cache;
  if (const AttrsPtr* found = cache.Find(text)) return *found;
  AttrsPtr attrs = MakeAttrs(op, std::move(dict));
  if (AttrsCache::Takes(text, *op)) cache.Put(text, attrs);
  return attrs;
}

/* Much more than what it is made of? */
bool Spreads(const Attrs& attrs, const std::vector<Value>& operands) {
  TensorTypes in, out(static_cast<size_t>(attrs.op->NumOutputs(attrs)));
  int64_t given = 0, made = 0;
  for (const Value& v : operands) in.push_back(v.type), given += v.size() * DTypeSize(v.dtype());
  if (operands.empty() || attrs.op->RunsBy(attrs) == RunBy::kArrays || !InferCall(attrs, InferSwitches::OfThread(true), &in, &out))
    return false;
  bool indices = true;
  for (const TensorType& t : out) made += t.shape.Size() * DTypeSize(t.dtype), indices = indices && t.dtype == kInt64;
  return made > (indices ? kMostSpreadIndices : kMostSpread) && made > 4 * given;
}

constexpr size_t kLongName = 512;  // names of what long chains make of weights grow so far

/* The same numbers, where small ones take little memory. */
NDArray Compact(const NDArray& array) {
  if (array.is_none() || array.is_sparse() || array.ctx() != Context::CPU() || array.type().Bytes() > kSmallConstant) return array;
  array.WaitToRead();
  return ConstantArray(array.shape(), array.dtype(), array.data().dptr<void>());
}

}  // namespace

std::string PartOf(const NDArray& a) {
  std::string text = std::to_string(a.byte_offset()) + ' ' + std::to_string(a.dtype());
  for (int64_t size : a.shape()) text += ' ' + std::to_string(size);
  return text;
}

std::vector<int64_t> IntsIn(const NDArray& array) { return Converted<int64_t>(array, kInt64); }
std::vector<double> FloatsIn(const NDArray& array) { return Converted<double>(array, kFloat64); }

NDArray OnCPU(const NDArray& array) {
  if (array.ctx() == Context::CPU()) {
    array.WaitToRead();
    return array;
  }
  NDArray copy = array.Copy(Context::CPU());
  copy.WaitToRead();
  return copy;
}

// ---- what is shared by all graphs of a model

std::string FoldedWeights::NameOf(const NDArray& array) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = names_.find(Key("", {array}));
  return it == names_.end() ? "" : it->second;
}

void FoldedWeights::AddWeight(const NDArray& weight, const std::string& name, bool learns) {
  std::lock_guard<std::mutex> lock(mutex_);
  names_.emplace(Key("", {weight}), name);
  kept_.push_back(weight);
  chunks_.insert(weight.chunk());
  if (!learns) fixed_.insert(weight.chunk());
}

bool FoldedWeights::IsFixed(const NDArray& array) {
  std::lock_guard<std::mutex> lock(mutex_);
  return fixed_.count(array.chunk()) > 0;
}

std::string FoldedWeights::Key(const std::string& call, const std::vector<NDArray>& operands) {
  std::string key = call;
  for (const NDArray& a : operands) key += '\n' + std::to_string(reinterpret_cast<uintptr_t>(a.chunk())) + ' ' + PartOf(a);
  return key;
}

bool FoldedWeights::AllKept(const std::vector<NDArray>& operands) const {
  for (const NDArray& a : operands)
    if (!chunks_.count(a.chunk())) return false;
  return !operands.empty();
}

std::vector<bool> FoldedWeights::Keeps(const std::vector<NDArray>& arrays) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<bool> kept;
  for (const NDArray& a : arrays) kept.push_back(chunks_.count(a.chunk()) > 0);
  return kept;
}

std::vector<NDArray> FoldedWeights::Find(const std::string& call, const std::vector<NDArray>& operands) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!AllKept(operands)) return {};
  const auto it = results_.find(Key(call, operands));
  return it == results_.end() ? std::vector<NDArray>() : it->second;
}

std::string FoldedWeights::NameOfDerived(const std::string& call, const std::vector<NDArray>& operands) const {
  std::set<std::string> names;
  for (const NDArray& a : operands) {
    const auto it = names_.find(Key("", {a}));
    if (it != names_.end()) names.insert(it->second);
  }
  if (names.size() != 1) return "";
  std::string op = call.substr(0, call.find_first_of(" \n="));
  for (const char* prefix : {"_npi_", "_npx_", "_"})
    if (op.rfind(prefix, 0) == 0) op = op.substr(std::strlen(prefix));
  const std::string& name = *names.begin();
  return name.size() < kLongName ? name + "_" + op : name;
}

std::vector<NDArray> FoldedWeights::Put(const std::string& call, const std::vector<NDArray>& operands, std::vector<NDArray> results) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!AllKept(operands)) return results;
  const auto put = results_.emplace(Key(call, operands), results);
  if (!put.second) return put.first->second;
  const std::string name = NameOfDerived(call, operands);
  for (size_t i = 0; i < results.size() && !name.empty(); ++i)
    names_.emplace(Key("", {results[i]}), i == 0 ? name : name + std::to_string(i));
  for (const NDArray& a : results) chunks_.insert(a.chunk());
  return results;
}

std::shared_ptr<const void> FoldedWeights::OfNode(const NodeProto& node) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = of_nodes_.find(&node);
  return it == of_nodes_.end() ? nullptr : it->second;
}

void FoldedWeights::PutOfNode(const NodeProto& node, std::shared_ptr<const void> made) {
  std::lock_guard<std::mutex> lock(mutex_);
  of_nodes_[&node] = std::move(made);
}

/* Small results of operators are computed again for each plan. */
static std::vector<NDArray> PutLarge(FoldedWeights* folded, const std::string& call, const std::vector<NDArray>& operands,
                                     std::vector<NDArray> results) {
  size_t bytes = 0;
  for (const NDArray& a : results) bytes += BytesOf(a);
  return bytes < kLeastKept ? std::move(results) : folded->Put(call, operands, std::move(results));
}

NDArray FoldedWeights::On(const NDArray& array, Context ctx) {
  if (array.ctx() == ctx) return array;
  const std::string call = "copy to " + ctx.str();
  const std::vector<NDArray> there = Find(call, {array});
  return there.empty() ? PutLarge(this, call, {array}, {array.Copy(ctx)})[0] : there[0];
}

// ---- one graph

std::string GraphBuilder::Unused(const std::string& name) {
  const int count = names_[name]++;
  return count == 0 ? name : Unused(name + "_" + std::to_string(count));
}

std::string GraphBuilder::NameFor(const Call& call) { return Unused(call.node.label()); }

Value GraphBuilder::Input(const std::string& name, const TensorType& type) {
  Value v;
  v.kind = Value::kTensor;
  v.type = type;
  v.entry = NodeEntry{MakeVariable(Unused(name)), 0, 0};
  return v;
}

NodeEntry GraphBuilder::EntryOf(const Value& value) {
  MXNET_CHECK_KIND(value.kind == Value::kTensor, Value)
      << "[onnx] " << (value.kind == Value::kStrings ? "strings" : "a sequence, or nothing,") << " where a tensor is accepted";
  if (value.array.is_none()) return value.entry;
  NodeEntry& entry = known_[{value.array.chunk(), PartOf(value.array)}];
  if (!entry) {
    const std::string name = folded_->NameOf(value.array);
    entry = NodeEntry{MakeVariable(Unused(name.empty() ? "constant" : name)), 0, 0};
    constants_[entry.node.get()] = folded_->On(value.array, ctx_);
  }
  if (traces_) traces_->constants.emplace_back(entry, value);
  return entry;
}

void GraphBuilder::TellOf(const NDArray& result, const AttrsPtr& attrs, const std::vector<Value>& operands) {
  if (learning_) learning_->Add({result}, attrs, operands);
}

bool GraphBuilder::Learns(const Value& value) {
  return learning_ && value.kind == Value::kTensor && value.known() && learning_->Learns(value.array);
}

bool GraphBuilder::ForTraining() const { return learning_ && learning_->operators(); }

void GraphBuilder::Remember(const NodePtr& cast, const Value& before) {
  if (widened_.emplace(cast.get(), before).second) casts_.push_back(cast);
  if (traces_) traces_->widened.emplace_back(cast, before);
}

/* False: something that is not in `entries`. */
static bool Move(const EntryMap& entries, Value* v) {
  if (v->kind == Value::kSequence) {
    auto elements = std::make_shared<std::vector<Value>>(*v->elements);
    for (Value& e : *elements)
      if (!Move(entries, &e)) return false;
    v->elements = std::move(elements);
    return true;
  }
  if (v->kind != Value::kTensor || v->known()) return true;
  const auto it = entries.find(v->entry);
  if (it == entries.end()) return false;
  v->entry = it->second;
  return true;
}

bool GraphBuilder::Repeat(const Traces& traces, EntryMap* now, std::vector<Value>* results) {
  if (traces.looked_back) return false;
  for (const NodePtr& n : traces.nodes)
    if (names_.count(n->name)) return false;
  for (const auto& constant : traces.constants) now->emplace(constant.first, EntryOf(constant.second));
  for (const NodePtr& n : traces.nodes) {
    auto node = std::make_shared<Node>();
    node->name = n->name;
    node->attrs = n->attrs;
    for (const NodeEntry& e : n->inputs) {
      const auto it = now->find(e);
      if (it == now->end()) return false;
      node->inputs.push_back(it->second);
    }
    for (int i = 0; i < n->num_outputs(); ++i)
      now->emplace(NodeEntry{n, static_cast<uint32_t>(i), 0}, NodeEntry{node, static_cast<uint32_t>(i), 0});
  }
  for (Value& v : *results)
    if (!Move(*now, &v)) return false;
  for (const auto& cast : traces.widened) {
    Value before = cast.second;
    if (!Move(*now, &before)) return false;
    Remember(now->at({cast.first.get(), 0}).node, before);
  }
  for (const NodePtr& n : traces.nodes) ++names_[n->name];
  return true;
}

Value GraphBuilder::NarrowedElements(const Value& sequence, const std::string& name) {
  auto elements = std::make_shared<std::vector<Value>>();
  for (const Value& e : *sequence.elements) elements->push_back(Narrowed(e, kFloat16, name + "#" + std::to_string(elements->size())));
  Value narrow = sequence;
  narrow.elements = std::move(elements);
  narrow.element_dtype = kFloat16;
  return narrow;
}

Value GraphBuilder::Converted(const Value& value, int dtype, const std::string& name) {
  const AttrDict dict{{"dtype", DTypeName(dtype)}};
  if (value.known()) return Compute(MakeAttrs(Op::Get("Cast"), dict), std::string("Cast dtype=") + DTypeName(dtype), {value})[0];
  Value v;
  v.kind = Value::kTensor;
  v.type = value.type;
  v.type.dtype = dtype;
  v.entry = NodeEntry{MakeNode("Cast", {EntryOf(value)}, dict, Unused(name + "_" + DTypeName(dtype))), 0, 0};
  if (traces_) traces_->nodes.push_back(v.entry.node);
  if (value.dtype() == kFloat16 && dtype == kFloat32) Remember(v.entry.node, value);
  return v;
}

std::vector<Value> GraphBuilder::Compute(const AttrsPtr& attrs, const std::string& text, const std::vector<Value>& operands) {
  std::vector<NDArray> arrays;
  for (const Value& v : operands) arrays.push_back(v.array);
  std::vector<NDArray> results(static_cast<size_t>(attrs->op->NumOutputs(*attrs)));
  if (auto kept = folded_->Find(text, arrays); !kept.empty()) {
    results = std::move(kept);
  } else if (auto derived = DerivedFromStored(attrs, arrays, draws_, folded_); !derived.empty()) {
    results = PutLarge(folded_, text, arrays, std::move(derived));
  } else if (!states_ || !CallWithWeights(attrs, arrays, &results, states_)) {
    std::vector<NDArray*> in, out;
    for (NDArray& a : arrays) in.push_back(&a);
    for (NDArray& a : results) out.push_back(&a);
    const bool recording = records_ && Imperative::State().recording;
    const ImperativeScope scope = ImperativeScope::Mode(recording, false);
    const Context cpu = Context::CPU();
    Imperative::Invoke(attrs, in, out, &cpu);
    if (!recording)
      for (NDArray& a : results) a = Compact(a);
    results = PutLarge(folded_, text, arrays, std::move(results));
  }
  if (learning_) learning_->Add(results, attrs, operands);
  std::vector<Value> values;
  for (NDArray& a : results) values.emplace_back(std::move(a));
  return values;
}

std::vector<Value> GraphBuilder::Apply(const Call& call, const char* op, const std::vector<Value>& given, AttrDict dict) {
  std::vector<Value> operands = given;
  while (!operands.empty() && operands.back().kind == Value::kNone) operands.pop_back();
  bool known = true;
  for (const Value& v : operands) {
    if (v.kind != Value::kTensor) call.Refuse(std::string("operator ") + op + " on something that is not a tensor");
    known = known && v.known();
  }
  const Op* record = Op::Get(op);
  if (!record->key_var_num_args.empty() && !dict.count(record->key_var_num_args))
    dict[record->key_var_num_args] = std::to_string(operands.size());
  std::string text = op;
  for (const auto& kv : dict) ((text += '\n') += kv.first) += '=' + kv.second;
  const AttrsPtr attrs = Parsed(record, text, std::move(dict));
  if (known && (draws_ || (!record->uses_random && !Spreads(*attrs, operands)))) return Compute(attrs, text, operands);

  TensorTypes in, out(static_cast<size_t>(record->NumOutputs(*attrs)));
  for (const Value& v : operands) in.push_back(v.type);
  const bool by_value = record->RunsBy(*attrs) == RunBy::kArrays;
  if (by_value || !InferCall(*attrs, InferSwitches::OfThread(true), &in, &out)) throw NeedsValue{};
  auto node = std::make_shared<Node>();
  node->attrs = attrs;
  node->inputs = Entries(operands);
  node->name = NameFor(call);
  if (traces_) traces_->nodes.push_back(node);
  return ResultsOf(node, out);
}

std::vector<NodeEntry> GraphBuilder::Entries(const std::vector<Value>& values) {
  std::vector<NodeEntry> entries;
  for (const Value& v : values) entries.push_back(EntryOf(v));
  return entries;
}

std::vector<Value> GraphBuilder::ResultsOf(const NodePtr& node, const TensorTypes& types) {
  std::vector<Value> results(types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    results[i].kind = Value::kTensor;
    results[i].type = types[i];
    results[i].entry = NodeEntry{node, static_cast<uint32_t>(i), 0};
  }
  return results;
}

std::vector<Value> GraphBuilder::Holding(const Call& call, const char* op, const std::vector<Value>& operands, std::vector<Symbol> graphs,
                                         AttrDict dict) {
  dict["num_args"] = std::to_string(operands.size() + graphs.size());
  auto attrs = std::make_shared<Attrs>(*MakeAttrs(Op::Get(op), std::move(dict)));
  for (Symbol& graph : graphs) attrs->subgraphs.push_back(std::make_shared<Symbol>(std::move(graph)));
  TensorTypes in, out(static_cast<size_t>(attrs->op->NumOutputs(*attrs)));
  for (const Value& v : operands) in.push_back(v.type);
  if (!InferCall(*attrs, InferSwitches::OfThread(true), &in, &out)) return {};
  auto node = std::make_shared<Node>();
  node->name = NameFor(call);
  node->attrs = std::move(attrs);
  node->inputs = Entries(operands);
  return ResultsOf(node, out);
}

}  // namespace onnx
}  // namespace mxnet
