#include "onnx/once.h"

#include <string_view>
#include <unordered_set>

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
  steps_.reserve(nodes.size());
  for (const NodeProto* n : nodes) {
    const std::vector<Value>* const made = converted.ResultsOf(*n);
    bool constant = made != nullptr;
    for (size_t i = 0; constant && i < n->outputs.size(); ++i) constant = n->outputs[i].empty() || IsContents((*made)[i]);
    for (size_t i = 0; constant && i < n->inputs.size(); ++i) constant = n->inputs[i].empty() || Constant(n->inputs[i]);
    if (!constant) {
      steps_.push_back({n, FindRule(n->domain, n->op, n->opset), {}});
      continue;
    }
    for (size_t i = 0; i < n->outputs.size(); ++i) {
      if (n->outputs[i].empty()) continue;
      Value& v = known_[n->outputs[i]] = (*made)[i];
      v.entry = NodeEntry();
    }
  }
  std::unordered_set<std::string_view> read;
  read.reserve(2 * nodes.size());
  for (const ValueInfo& v : results)
    if (read.insert(v.name).second) results_.push_back(v.name);
  for (size_t s = steps_.size(); s-- > 0;) {
    Step& step = steps_[s];
    for (const auto* list : {&step.node->inputs, &step.node->outputs})
      for (const std::string& name : *list) {
        if (name.empty() || !read.insert(name).second) continue;
        const Value* const constant = Constant(name);
        if (!constant)
          step.last.push_back(&name);
        else if (constant->kind == Value::kTensor)
          weights_.push_back(constant->array);
      }
  }
}

const Value* NodeByNode::Constant(const std::string& name) const {
  const auto known = known_.find(name);
  return known != known_.end() ? &known->second : session_->ConstantNamed(name);
}

size_t NodeByNode::given_back() const {
  size_t bytes = 0;
  for (const NDArray& a : weights_)
    if (a.delayed()) bytes += a.type().Bytes();
  return bytes;
}

void NodeByNode::Run(Env* env) const {
  std::unique_ptr<CallStates> states = TakeStates();
  GraphBuilder builder(session_->options().ctx, session_->folded(), true, session_->widens());
  builder.KeepIn(states.get());
  // A result must not be a view of what a caller gave, of a weight, or of another result.
  std::unordered_set<const Chunk*> taken;
  for (const NDArray& a : weights_) taken.insert(a.chunk());
  for (const auto& given : *env)
    if (given.second.kind == Value::kTensor) taken.insert(given.second.array.chunk());
  for (const Step& step : steps_) {
    states->BeginNode(static_cast<size_t>(&step - steps_.data()));
    const auto find = [&](const std::string& name) {
      const auto given = env->find(name);
      return given != env->end() ? &given->second : Constant(name);
    };
    PutResults(*step.node, ResultsOnArrays(*step.node, *step.rule, OperandsOnCPU(*step.node, find, &builder), &builder), env);
    for (const std::string* name : step.last) env->erase(*name);
  }
  for (const std::string& name : results_) {
    const Value* const constant = env->count(name) ? nullptr : Constant(name);
    Value& v = (*env)[name];
    if (constant) v = *constant;
    if (v.kind != Value::kTensor) continue;
    if (!taken.insert(v.array.chunk()).second || constant) v = Value(v.array.Copy(v.array.ctx()));
  }
  std::lock_guard<std::mutex> lock(mutex_);
  states_.push_back(std::move(states));
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

std::vector<Value> OperandsOnCPU(const NodeProto& node, const FindsValue& find, GraphBuilder* builder) {
  std::vector<Value> values;
  values.reserve(node.inputs.size());
  for (const std::string& name : node.inputs) {
    Value v = name.empty() ? Value() : *find(name);
    if (v.kind == Value::kTensor) v = builder->Widened(Value(OnCPU(v.array)), name);
    values.push_back(std::move(v));
  }
  return values;
}

std::vector<Value> OperandsOnCPU(const Session& session, const NodeProto& node, const Env& env, GraphBuilder* builder) {
  return OperandsOnCPU(
      node, [&](const std::string& name) { return FindValue(session, env, name); }, builder);
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
