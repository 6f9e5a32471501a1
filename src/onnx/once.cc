#include "onnx/once.h"

#include <unordered_set>

#include "ndarray/stored.h"
#include "onnx/stage.h"

namespace mxnet {
namespace onnx {
namespace {

/* Contents alone: entries belong to the graph of a plan. */
bool IsContents(const Value& v) { return v.kind == Value::kStrings || (v.kind == Value::kTensor && v.known()); }

}  // namespace

NodeByNode::NodeByNode(Session* session, const std::vector<const NodeProto*>& nodes, const std::vector<ValueInfo>& results,
                       const Conversions& converted)
    : session_(session) {
  AddSteps(nodes, converted);
  std::vector<char> read(places_.size(), 0);
  for (const ValueInfo& v : results) {
    const auto place = static_cast<size_t>(PlaceOf(v.name));
    read.resize(places_.size(), 0);
    if (!read[place]) results_.push_back(static_cast<int>(place));
    read[place] = 1;
  }
  for (size_t s = steps_.size(); s-- > 0;) {
    Step& step = steps_[s];
    for (const auto* list : {&step.in, &step.out})
      for (const int place : *list) {
        if (place < 0 || read[static_cast<size_t>(place)]) continue;
        read[static_cast<size_t>(place)] = 1;
        const Value* const constant = places_[static_cast<size_t>(place)].constant;
        if (!constant)
          step.last.push_back(place);
        else if (constant->kind == Value::kTensor)
          weights_.push_back(constant->array);
      }
  }
}

const Value* NodeByNode::Constant(const std::string& name) const {
  const auto known = known_.find(name);
  return known != known_.end() ? &known->second : session_->ConstantNamed(name);
}

int NodeByNode::PlaceOf(const std::string& name) {
  if (name.empty()) return -1;
  const auto at = place_of_.emplace(name, static_cast<int>(places_.size()));
  if (at.second) places_.push_back({&name, Constant(name)});
  return at.first->second;
}

/* Of a node that was converted before: takes what it gives where that depends on weights alone. */
bool NodeByNode::AddKnown(const NodeProto& node, const std::vector<Value>* made) {
  if (!made) return false;
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (!node.outputs[i].empty() && !IsContents((*made)[i])) return false;
  for (const std::string& name : node.inputs)
    if (!name.empty() && !Constant(name)) return false;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    Value& v = known_[node.outputs[i]] = (*made)[i];
    v.entry = NodeEntry();
  }
  return true;
}

void NodeByNode::AddSteps(const std::vector<const NodeProto*>& nodes, const Conversions& converted) {
  steps_.reserve(nodes.size());
  place_of_.reserve(2 * nodes.size());
  places_.reserve(2 * nodes.size());
  for (const NodeProto* n : nodes) {
    if (AddKnown(*n, converted.ResultsOf(*n))) continue;
    steps_.push_back({n, FindRule(n->domain, n->op, n->opset), {}, {}, {}});
    Step& step = steps_.back();
    for (const std::string& name : n->inputs) step.in.push_back(PlaceOf(name));
    for (const std::string& name : n->outputs) step.out.push_back(PlaceOf(name));
  }
}

size_t NodeByNode::given_back() const {
  size_t bytes = 0;
  for (const NDArray& a : weights_)
    if (a.delayed() && !HasForms(a)) bytes += a.type().Bytes();
  return bytes;
}

void NodeByNode::Run(Env* env) const {
  std::unique_ptr<CallStates> states = TakeStates();
  GraphBuilder builder(session_->options().ctx, session_->folded(), true, session_->widens());
  builder.KeepIn(states.get());
  std::vector<Value> made(places_.size());
  std::vector<const Value*> at;
  at.reserve(places_.size());
  for (const Place& place : places_) at.push_back(place.constant);
  for (const auto& kv : *env) {
    const auto place = place_of_.find(kv.first);
    if (place != place_of_.end()) at[static_cast<size_t>(place->second)] = &kv.second;
  }
  for (const Step& step : steps_) {
    states->BeginNode(static_cast<size_t>(&step - steps_.data()));
    std::vector<Value> operands;
    operands.reserve(step.in.size());
    for (size_t i = 0; i < step.in.size(); ++i)
      operands.push_back(step.in[i] < 0 ? Value() : OnCPU(*at[static_cast<size_t>(step.in[i])], step.node->inputs[i], &builder));
    std::vector<Value> results = ResultsOnArrays(*step.node, *step.rule, std::move(operands), &builder);
    for (size_t i = 0; i < step.out.size() && i < results.size(); ++i) {
      if (step.out[i] < 0) continue;
      const auto place = static_cast<size_t>(step.out[i]);
      made[place] = std::move(results[i]);
      at[place] = &made[place];
    }
    for (const int place : step.last) made[static_cast<size_t>(place)] = Value();
  }
  PutResults(at, &made, env);
  read_again_.fetch_add(states->TakeReadBytes(), std::memory_order_relaxed);
  std::lock_guard<std::mutex> lock(mutex_);
  states_.push_back(std::move(states));
}

/* A result must not be a view of what a caller gave, of a weight, or of another result. */
void NodeByNode::PutResults(const std::vector<const Value*>& at, std::vector<Value>* made, Env* env) const {
  std::unordered_set<const Chunk*> taken;
  for (const NDArray& a : weights_) taken.insert(a.chunk());
  for (const auto& given : *env)
    if (given.second.kind == Value::kTensor) taken.insert(given.second.array.chunk());
  for (const int result : results_) {
    const auto place = static_cast<size_t>(result);
    if (!at[place]) continue;  // who reads it says so
    const bool own = at[place] == &(*made)[place];
    Value v = own ? std::move((*made)[place]) : *at[place];
    if (v.kind == Value::kTensor && (!taken.insert(v.array.chunk()).second || !own)) v = Value(v.array.Copy(v.array.ctx()));
    (*env)[*places_[place].name] = std::move(v);
  }
}

std::unique_ptr<CallStates> NodeByNode::TakeStates() const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (states_.empty()) return std::make_unique<CallStates>();
  std::unique_ptr<CallStates> states = std::move(states_.back());
  states_.pop_back();
  return states;
}

double ElementsOf(const Env& env) {
  double count = 0;
  for (const auto& given : env)
    if (given.second.kind == Value::kTensor) count += static_cast<double>(given.second.size());
  return count;
}

// ---- one node

void Apply(const Rule& rule, Call* call) {
  try {
    rule.convert(*call);
  } catch (const Error& e) {
    if (std::string(e.what()).compare(0, 7, "[onnx] ") == 0) throw;
    throw Error(e.kind(), "[onnx] " + call->Place() + ": " + e.what());
  }
  call->CheckAttributes();
}

Value OnCPU(const Value& value, const std::string& name, GraphBuilder* builder) {
  return value.kind == Value::kTensor ? builder->Widened(Value(OnCPU(value.array)), name) : value;
}

std::vector<Value> OperandsOnCPU(const Session& session, const NodeProto& node, const Env& env, GraphBuilder* builder) {
  std::vector<Value> values;
  values.reserve(node.inputs.size());
  for (const std::string& name : node.inputs)
    values.push_back(name.empty() ? Value() : OnCPU(*FindValue(session, env, name), name, builder));
  return values;
}

std::vector<Value> ResultsOnArrays(const NodeProto& node, const Rule& rule, std::vector<Value> operands, GraphBuilder* builder) {
  Call call(node, node.opset, rule.argument, std::move(operands), builder);
  try {
    Apply(rule, &call);
  } catch (const NeedsValue&) {
    call.Refuse("the contents of an input are not known");
  }
  return std::move(call.outputs());
}

void PutResults(const NodeProto& node, std::vector<Value> results, Env* env) {
  for (size_t i = 0; i < node.outputs.size() && i < results.size(); ++i)
    if (!node.outputs[i].empty()) (*env)[node.outputs[i]] = std::move(results[i]);
}

}  // namespace onnx
}  // namespace mxnet
