#include "onnx/run/session.h"

#include <algorithm>
#include <unordered_set>

#include "base/cpu_limit.h"
#include "executor/plan/arena_pool.h"
#include "onnx/rewrite/integers.h"
#include "onnx/run/stage.h"

namespace mxnet {
namespace onnx {

Value ValueOf(const Constant& c) {
  if (!c.array.is_none()) return Value(c.array);
  return StringsValue(c.shape, c.strings);
}

std::string KindOf(const Value& v) {
  switch (v.kind) {
    case Value::kTensor: return "an array of " + std::string(DTypeName(v.dtype()));
    case Value::kStrings: return "an array of strings";
    case Value::kSequence: return "a sequence of " + std::to_string(v.elements->size()) + " values";
    default: return "nothing";
  }
}

namespace {

std::string Describe(const ValueInfo& info) {
  std::string text = info.dtype == kStringType ? "string" : info.dtype >= 0 ? DTypeName(info.dtype) : "any type";
  if (info.small) text += std::string(" of ") + info.small->name;
  if (!info.has_shape) return text;
  text += " (";
  for (size_t i = 0; i < info.dims.size(); ++i) {
    const Dimension& d = info.dims[i];
    text += (i ? ", " : "") + (d.size >= 0 ? std::to_string(d.size) : d.name.empty() ? "?" : d.name);
  }
  return text + ")";
}

/* Floats become each other, integers too; PyTorch and NumPy make float64 where float32 is meant. */
void CheckTensor(const ValueInfo& info, Value* v) {
  MXNET_CHECK_KIND(info.kind != ValueInfo::kTensor || (info.dtype == kStringType ? v->kind == Value::kStrings : v->kind == Value::kTensor),
                   Value)
      << "[onnx] input " << info.name << " is " << KindOf(*v) << "; accepted: " << Describe(info);
  const bool strings = v->kind == Value::kStrings;  // of which any number will do
  if ((v->kind != Value::kTensor && !strings) || info.kind != ValueInfo::kTensor) return;
  if (info.has_shape) {
    bool fits = v->ndim() == static_cast<int>(info.dims.size());
    for (int i = 0; fits && !strings && i < v->ndim(); ++i)
      fits = info.dims[static_cast<size_t>(i)].size < 0 || info.dims[static_cast<size_t>(i)].size == v->shape()[i];
    MXNET_CHECK_KIND(fits, Value) << "[onnx] input " << info.name << " has shape " << v->shape() << "; accepted: " << Describe(info);
  }
  if (strings || info.dtype < 0 || v->dtype() == info.dtype) return;
  const bool same_kind = IsFloating(v->dtype()) == IsFloating(info.dtype) && v->dtype() != kBool && info.dtype != kBool;
  MXNET_CHECK_KIND(same_kind, Type) << "[onnx] input " << info.name << " is " << DTypeName(v->dtype()) << "; accepted: " << Describe(info);
  if (v->array.is_none()) return;
  NDArray converted(v->shape(), v->array.ctx(), info.dtype);
  CopyFromTo(v->array, converted);
  *v = Value(converted);
}

/* Has the exporter made the name? */
bool IsMadeUp(const std::string& name) {
  for (const char* prefix : {"val_", "_val_", "int64_", "onnx::", "/", "Constant", "const"})
    if (name.rfind(prefix, 0) == 0) return true;
  return false;
}

/* Inputs, and what nodes compute when the model runs. */
std::unordered_set<std::string> ComputedNames(const GraphProto& graph) {
  std::unordered_set<std::string> names;
  for (const ValueInfo& v : graph.inputs) names.insert(v.name);
  for (const NodeProto& n : graph.nodes) names.insert(n.outputs.begin(), n.outputs.end());
  return names;
}

/* A parameter may be one number, and so may be the number that the model multiplies with. PyTorch's
 * files tell them apart: by what they say, or by names. `says`: what of other constants;
 * `computed`: names of what runs compute. */
bool IsNoWeight(const Constant& c, const std::string& producer, bool says, const std::unordered_set<std::string>& computed) {
  const auto has_no_weight = [&](const std::string& name) { return IsMadeUp(name) || computed.count(name); };
  // what PyTorch's optimizer computed of sizes
  if (says && !c.folded_from.empty() && std::all_of(c.folded_from.begin(), c.folded_from.end(), has_no_weight)) return true;
  if (c.is_buffer || c.is_parameter || c.shape.Size() != 1) return c.is_buffer;
  return says || IsMadeUp(c.name) || (c.shape.ndim() == 0 && producer != "pytorch");
}

bool HoldsWeights(const GraphProto& graph) {
  return std::any_of(graph.constants.begin(), graph.constants.end(),
                     [](const Constant& c) { return !c.array.is_none() && c.array.shape().Size() > 1 && IsFloating(c.array.dtype()); });
}

// Of operators that onnxruntime makes for the processor it runs on.
constexpr char kOneMachinesDomain[] = "com.microsoft.nchwc";

}  // namespace

Session::Session(std::shared_ptr<const Model> model, const SessionOptions& options)
    : model_(std::move(model)), options_(options), folded_(std::make_unique<FoldedWeights>()), arenas_(std::make_shared<ArenaPool>()) {
  std::vector<std::string> unknown;
  CheckOps(model_->graph, &unknown);
  if (!unknown.empty()) {
    std::string text;
    for (size_t i = 0; i < unknown.size() && i < 10; ++i) text += (i ? "; " : "") + unknown[i];
    if (unknown.size() > 10) text += "; and " + std::to_string(unknown.size() - 10) + " more";
    if (text.find(kOneMachinesDomain) != std::string::npos)
      text +=
          ". Those of com.microsoft.nchwc hold weights in the order of one processor: onnxruntime writes them at ORT_ENABLE_ALL; "
          "accepted are its files of ORT_ENABLE_EXTENDED and below";
    MXNET_THROW(Value) << "[onnx] " << (model_->path.empty() ? "the model" : model_->path) << " has operators that are not known: " << text
                       << "; accepted: those of mx.onnx.operators(), in the domains ai.onnx, ai.onnx.ml and com.microsoft";
  }
  has_weights_ = HoldsWeights(model_->graph);
  AddConstants(model_->graph);
  for (const ValueInfo& v : model_->graph.inputs) (constants_.count(v.name) ? with_defaults_ : inputs_).push_back(v);
  if (options_.learns) OfferWeights();
}

Session::~Session() = default;

int Session::SetPrecision(int dtype) {
  MXNET_CHECK_KIND(dtype == kFloat32 || dtype == kFloat16 || dtype == kBfloat16, Value)
      << "[onnx] precision " << DTypeName(dtype) << "; accepted: float32, bfloat16, float16";
  std::lock_guard<std::mutex> lock(mutex_);
  MXNET_CHECK_KIND(runners_.empty(), Value) << "[onnx] the precision is asked for after the first call; accepted: before it";
  const bool has = dtype == kFloat32 || options_.ctx.is_gpu() || (dtype == kBfloat16 && HasBfloat16());
  options_.all_digits = dtype == kFloat32;
  return options_.precision = has ? dtype : kFloat32;
}

/* "; known for opset 23 on", of an operator that is known for other opsets. */
static std::string KnownOpsets(const NodeProto& n) {
  if (!KnowsOp(n.domain, n.op)) return "";
  std::string text;
  for (const Rule* rule : AllRules()) {
    if (rule->domain != n.domain || rule->op != n.op) continue;
    text += (text.empty() ? "; known for opset " : " and ") + std::to_string(rule->from);
    text += rule->to == kNewest ? " on" : rule->to > rule->from ? " to " + std::to_string(rule->to) : "";
  }
  return text;
}

void Session::CheckOps(const GraphProto& graph, std::vector<std::string>* unknown) const {
  for (const NodeProto& n : graph.nodes) {
    if (IsOwnDomain(n.domain) || !FindRule(n.domain, n.op, n.opset))
      unknown->push_back(n.label() + " (" + (n.domain.empty() ? "ai.onnx" : n.domain) + "." + n.op + ", opset " + std::to_string(n.opset) +
                         KnownOpsets(n) + ")");
    for (const Attribute& a : n.attributes)
      if (a.graph) CheckOps(*a.graph, unknown);
  }
}

void Session::AddConstants(const GraphProto& graph) {
  const bool says = std::any_of(graph.constants.begin(), graph.constants.end(), [](const Constant& c) { return c.is_parameter; });
  const std::unordered_set<std::string> computed = says ? ComputedNames(graph) : std::unordered_set<std::string>();
  for (const Constant& c : graph.constants) {
    Value v = ValueOf(c);
    if (v.kind == Value::kTensor) folded_->AddWeight(v.array, c.name, !IsNoWeight(c, model_->producer, says, computed));
    constants_.emplace(c.name, std::move(v));
  }
  for (const NodeProto& n : graph.nodes)
    for (const Attribute& a : n.attributes) {
      if (a.graph) AddConstants(*a.graph);
      // Constant nodes
      if (a.tensor && !a.tensor->array.is_none() && !n.outputs.empty()) folded_->AddWeight(a.tensor->array, n.outputs[0], !has_weights_);
    }
}

const Value* Session::ConstantNamed(const std::string& name) const {
  const auto it = constants_.find(name);
  return it == constants_.end() ? nullptr : &it->second;
}

bool Session::Replaces(const Env& env) const {
  return std::any_of(with_defaults_.begin(), with_defaults_.end(), [&](const ValueInfo& v) { return env.count(v.name) > 0; });
}

Runner* Session::RunnerOf(const GraphProto* graph, bool grows) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto& runner = runners_[graph];
  if (!runner) runner = std::make_unique<Runner>(this, graph, grows || graph == &model_->graph);
  return runner.get();
}

const std::vector<const NodeProto*>& Session::Branch(const NodeProto& node, const GraphProto& branch) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = branches_.find(&branch);
  if (it != branches_.end()) return it->second;
  std::vector<const NodeProto*> nodes;
  for (const NodeProto& n : branch.nodes) nodes.push_back(&n);
  MXNET_CHECK_KIND(branch.outputs.size() >= node.outputs.size(), Value)
      << "[onnx] node " << node.label() << " (If): a branch has " << branch.outputs.size() << " outputs; accepted: " << node.outputs.size();
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    made_.push_back(std::make_unique<NodeProto>());
    NodeProto& same = *made_.back();
    same.op = "Identity";
    same.opset = 16;
    same.inputs = {branch.outputs[i].name};
    same.outputs = {node.outputs[i]};
    nodes.push_back(&same);
  }
  return branches_[&branch] = nodes;
}

void Session::CheckInputs(Env* inputs) const {
  const auto accepted = [this] {
    std::string text;
    for (const ValueInfo& v : inputs_) text += (text.empty() ? "" : ", ") + v.name + " " + Describe(v);
    return text;
  };
  const auto& all = model_->graph.inputs;
  const auto check_names = [&] {
    for (const auto& kv : *inputs)
      MXNET_CHECK_KIND(std::any_of(all.begin(), all.end(), [&](const ValueInfo& v) { return v.name == kv.first; }) ||
                           (options_.learns && constants_.count(kv.first)),
                       Value)
          << "[onnx] the model has no input " << kv.first << "; accepted: " << accepted();
  };
  size_t known = 0;  // of those that are given
  for (const ValueInfo& v : all) {
    const auto it = inputs->find(v.name);
    if (it != inputs->end())
      CheckTensor(v, &it->second), ++known;
    else if (v.kind == ValueInfo::kOptional)
      (*inputs)[v.name] = Value(), ++known;
    else if (!constants_.count(v.name)) {
      check_names();  // a wrong name tells more than a missing one
      MXNET_THROW(Value) << "[onnx] no value for the input " << v.name << "; accepted: " << accepted();
    }
  }
  if (known != inputs->size()) check_names();
}

std::vector<Value> Session::Run(Env inputs, const std::map<std::string, NDArray>& into) {
  CheckInputs(&inputs);
  for (const auto& kv : into) {
    const auto& outputs = model_->graph.outputs;
    const bool known = std::any_of(outputs.begin(), outputs.end(), [&](const ValueInfo& v) { return v.name == kv.first; });
    std::string names;
    for (const ValueInfo& v : outputs) names += (names.empty() ? "" : ", ") + v.name;
    MXNET_CHECK_KIND(known && !kv.second.is_none(), Value)
        << "[onnx] an array for the output " << kv.first << (known ? ", which is none" : "") << "; accepted: " << names;
  }
  return RunnerOf(&model_->graph)->Run(std::move(inputs), into);
}

ConvertedGraph Session::Convert(const std::map<std::string, TensorType>& types, const Env& given, Learns learns) {
  Env inputs = given;
  for (auto& kv : inputs)
    if (kv.second.kind == Value::kTensor) kv.second = Value(kv.second.array.Copy(Context::CPU()));
  for (const auto& kv : types) {
    MXNET_CHECK_KIND(!given.count(kv.first), Value) << "[onnx] input " << kv.first << " has a shape and contents; accepted: one of them";
    Value& v = inputs[kv.first];
    v.kind = Value::kTensor;
    v.type = kv.second;
  }
  CheckInputs(&inputs);
  if (learns != Learns::kNothing) return Runner(this, &model_->graph, true, true).Convert(inputs, learns);
  return RunnerOf(&model_->graph)->Convert(inputs, learns);
}

std::string Session::Explain() {
  std::string text;
  RunnerOf(&model_->graph)->Explain(&text);
  return text;
}

std::string Session::ExplainPlans(int runs) { return RunnerOf(&model_->graph)->ExplainPlans(runs); }

}  // namespace onnx
}  // namespace mxnet
