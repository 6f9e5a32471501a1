#include "onnx/run/graph_calls.h"

#include <algorithm>
#include <set>

#include "onnx/run/stage.h"

namespace mxnet {
namespace onnx {
namespace {

bool IsList(const NodeProto& n, const char* op) { return n.domain.empty() && n.op == op; }
bool Takes(const NodeProto& n) { return IsList(n, "SequenceAt") || IsList(n, "SequenceLength") || IsList(n, "SequenceEmpty"); }
bool Puts(const NodeProto& n) { return IsList(n, "SequenceInsert") || IsList(n, "SequenceErase"); }

void AddAll(const std::vector<std::string>& names, std::set<std::string>* to) {
  for (const std::string& name : names)
    if (!name.empty()) to->insert(name);
}

/*
 * Which nodes can be done in steps: Takes of what is there before, and Puts that only Puts and the
 * caller read. False: others read sequences, or need what steps make in the middle.
 */
bool Separate(const std::vector<const NodeProto*>& nodes, std::vector<const NodeProto*>* before, std::vector<const NodeProto*>* after,
              std::vector<const NodeProto*>* rest) {
  std::set<std::string> sequences, made, put;
  for (const NodeProto* n : nodes) {
    const bool takes = Takes(*n), puts = Puts(*n);
    if ((takes || puts) && !n->inputs.empty()) sequences.insert(n->inputs[0]);
    if (puts || IsList(*n, "SequenceEmpty")) sequences.insert(n->outputs[0]);
    if (!takes) AddAll(n->outputs, &made);
    if (puts) put.insert(n->outputs[0]);
  }
  for (const NodeProto* n : nodes) {
    const auto reads = [&](const std::set<std::string>& names) {
      return std::any_of(n->inputs.begin(), n->inputs.end(), [&](const std::string& i) { return names.count(i) > 0; }) ||
             std::any_of(n->captured.begin(), n->captured.end(), [&](const std::string& i) { return names.count(i) > 0; });
    };
    if (Takes(*n)) {
      if (reads(made)) return false;
      before->push_back(n);
    } else if (Puts(*n)) {
      after->push_back(n);
    } else {
      if (reads(sequences)) return false;
      rest->push_back(n);
    }
  }
  return true;
}

}  // namespace

int GraphForm::PlaceOf(const std::string& name) {
  if (name.empty()) return -1;
  const auto at = place_.emplace(name, static_cast<int>(names.size()));
  if (at.second) names.push_back(name);
  return at.first->second;
}

GraphForm::Step GraphForm::StepOf(const NodeProto* node) {
  Step step{node, {}, PlaceOf(node->outputs[0]), false};
  for (const std::string& name : node->inputs) step.in.push_back(PlaceOf(name));
  return step;
}

void GraphForm::TakeSteps(std::vector<const NodeProto*>* nodes) {
  std::vector<const NodeProto*> first, last, rest;
  if (!Separate(*nodes, &first, &last, &rest)) return;
  for (const NodeProto* n : first) before.push_back(StepOf(n));
  for (const NodeProto* n : last) after.push_back(StepOf(n));
  *nodes = rest;
}

GraphForm::GraphForm(const GraphProto& graph, const Session& session, std::vector<const NodeProto*>* nodes) {
  for (const ValueInfo& v : graph.inputs) PlaceOf(v.name);
  const auto num_inputs = static_cast<int>(names.size());
  TakeSteps(nodes);
  for (const ValueInfo& v : graph.outputs) outputs.push_back(PlaceOf(v.name));
  std::set<std::string> read, by_nodes;
  for (const auto* steps : {&before, &after})
    for (const Step& s : *steps) made.push_back(s.out);  // for now
  for (const NodeProto* n : *nodes) {
    AddAll(n->inputs, &read), AddAll(n->captured, &read);
    AddAll(n->outputs, &by_nodes);
  }
  std::set<int> in_steps(made.begin(), made.end()), wanted(outputs.begin(), outputs.end());
  made.clear();
  for (const Step& s : after) wanted.insert(s.in.begin(), s.in.end());
  wanted.erase(-1);
  const auto overridden = [&](const std::string& name) {
    const auto& inputs = session.with_defaults();
    return std::any_of(inputs.begin(), inputs.end(), [&](const ValueInfo& v) { return v.name == name; });
  };
  for (const std::string& name : read)
    if (!by_nodes.count(name) && (!session.ConstantNamed(name) || overridden(name))) given.push_back(PlaceOf(name));
  for (int p = 0; p < static_cast<int>(names.size()); ++p) {
    if (by_nodes.count(names[static_cast<size_t>(p)])) {
      if (wanted.count(p)) made.push_back(p);
    } else if (p >= num_inputs && !in_steps.count(p)) {
      outer.push_back(p);
    }
  }
  for (size_t i = 0; i < after.size(); ++i) {
    const int list = after[i].in[0];
    after[i].last = !std::count(outputs.begin(), outputs.end(), list) && !std::count(outer.begin(), outer.end(), list) &&
                    std::count(after[i].in.begin(), after[i].in.end(), list) == 1;
    for (size_t j = i + 1; j < after.size(); ++j)
      after[i].last = after[i].last && !std::count(after[j].in.begin(), after[j].in.end(), list);
  }
}

std::vector<std::string> GraphForm::MadeNames() const {
  std::vector<std::string> found;
  for (const int place : made) found.push_back(names[static_cast<size_t>(place)]);
  return found;
}

std::shared_ptr<const GraphForm::OnePlan> GraphForm::Find(const std::string& key) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = plans_.find(key);
  return it == plans_.end() ? nullptr : it->second;
}

void GraphForm::Put(const std::string& key, std::shared_ptr<const OnePlan> plan) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (plans_.size() >= most_) plans_.clear();
  plans_[key] = std::move(plan);
}

// ---- calls

GraphCalls::GraphCalls(Session* session, const GraphProto* graph, const Env& outer)
    : session_(session), runner_(session->RunnerOf(graph)), form_(runner_->form()), at_(form_->names.size()) {
  for (const int p : form_->outer)
    if (const Value* v = FindValue(*session, outer, form_->names[static_cast<size_t>(p)])) at_[static_cast<size_t>(p)] = *v;
}

/* An element by a number on the host. False: not that simple. */
bool GraphCalls::TakeElement(const GraphForm::Step& step) {
  if (step.node->op != "SequenceAt" || step.in.size() != 2) return false;
  const Value &list = at_[static_cast<size_t>(step.in[0])], &number = at_[static_cast<size_t>(step.in[1])];
  if (list.kind != Value::kSequence || number.kind != Value::kTensor || !number.known() || number.size() != 1 || number.dtype() != kInt64 ||
      number.array.ctx() != Context::CPU())
    return false;
  int64_t at;
  number.array.CopyBytesTo(&at, sizeof at);
  const auto size = static_cast<int64_t>(list.elements->size());
  if (at < 0) at += size;
  if (at < 0 || at >= size) return false;
  const Value& element = (*list.elements)[static_cast<size_t>(at)];
  if (element.kind != Value::kTensor || element.dtype() == kFloat16) return false;
  at_[static_cast<size_t>(step.out)] = element;
  return true;
}

/* Behind the last element. A list that nobody else has grows where it is. */
bool GraphCalls::Insert(const GraphForm::Step& step) {
  if (step.node->op != "SequenceInsert" || step.in.size() != 2) return false;
  Value& list = at_[static_cast<size_t>(step.in[0])];
  const Value& element = at_[static_cast<size_t>(step.in[1])];
  if (list.kind != Value::kSequence || element.kind != Value::kTensor || element.dtype() == kFloat16 ||
      element.array.ctx() != Context::CPU())
    return false;
  Value longer = step.last ? std::move(list) : list;
  auto elements = longer.elements.use_count() == 1 ? std::const_pointer_cast<std::vector<Value>>(longer.elements)
                                                   : std::make_shared<std::vector<Value>>(*longer.elements);
  elements->push_back(element);
  longer.element_dtype = (*elements)[0].dtype();
  longer.elements = std::move(elements);
  at_[static_cast<size_t>(step.out)] = std::move(longer);
  return true;
}

void GraphCalls::RunSteps(const std::vector<GraphForm::Step>& steps) {
  for (const GraphForm::Step& step : steps) {
    if (TakeElement(step) || Insert(step)) continue;
    GraphBuilder builder(session_->options().ctx, session_->folded(), true, session_->widens());
    builder.Record(session_->options().learns);
    std::vector<Value> operands;
    for (size_t i = 0; i < step.in.size(); ++i)
      operands.push_back(step.in[i] < 0 ? Value() : OnCPU(at_[static_cast<size_t>(step.in[i])], step.node->inputs[i], &builder));
    const Rule& rule = *FindRule(step.node->domain, step.node->op, step.node->opset);
    at_[static_cast<size_t>(step.out)] = ResultsOnArrays(*step.node, rule, std::move(operands), &builder)[0];
  }
}

/* The types of what is given, to key_. False: some are no tensors. */
bool GraphCalls::Describe() {
  key_.clear();
  for (const int p : form_->given) {
    const Value& v = at_[static_cast<size_t>(p)];
    if (v.kind != Value::kTensor) return false;
    const int8_t about[] = {static_cast<int8_t>(v.dtype()), static_cast<int8_t>(v.ndim())};
    key_.append(reinterpret_cast<const char*>(about), sizeof about);
    key_.append(reinterpret_cast<const char*>(v.shape().dims()), sizeof(int64_t) * static_cast<size_t>(v.ndim()));
  }
  return true;
}

void GraphCalls::RunPlan(const GraphForm::OnePlan& plan) {
  const Stage& stage = *plan.stage;
  out_.assign(static_cast<size_t>(stage.num_outputs), NDArray());
  if (stage.op) {
    const Context ctx = session_->options().ctx;
    in_.clear();
    for (size_t i = 0; i < plan.operands.size(); ++i) {
      const int p = plan.operands[i];
      const NDArray& a = p < 0 ? stage.operands[i].constant : at_[static_cast<size_t>(p)].array;
      in_.push_back(p < 0 || a.ctx() == ctx ? a : a.Copy(ctx));
    }
    std::vector<NDArray*> in, out;
    for (NDArray& a : in_) in.push_back(&a);
    for (NDArray& a : out_) out.push_back(&a);
    stage.op->Invoke(in, out);
    in_.clear();
  }
  for (size_t i = 0; i < plan.results.size(); ++i)
    at_[static_cast<size_t>(form_->made[i])] =
        plan.results[i]->output >= 0 ? Value(out_[static_cast<size_t>(plan.results[i]->output)]) : plan.results[i]->value;
}

/* Null: it is not that simple. */
std::shared_ptr<const GraphForm::OnePlan> GraphCalls::OnePlanOf(std::shared_ptr<Stage> stage) const {
  if (stage->rest || !stage->host.empty() || !stage->demanded.empty() || !stage->bounds.empty()) return nullptr;
  auto plan = std::make_shared<GraphForm::OnePlan>();
  for (const Stage::Operand& o : stage->operands) {
    const auto is = [&](int p) { return form_->names[static_cast<size_t>(p)] == o.name; };
    const auto p = std::find_if(form_->given.begin(), form_->given.end(), is);
    if (o.element >= 0 || (!o.name.empty() && p == form_->given.end())) return nullptr;
    plan->operands.push_back(o.name.empty() ? -1 : *p);
  }
  for (const int place : form_->made) {
    const auto& name = form_->names[static_cast<size_t>(place)];
    const auto result = std::find_if(stage->results.begin(), stage->results.end(), [&](const auto& r) { return r.first == name; });
    if (result == stage->results.end() || result->second.value.kind != Value::kTensor) return nullptr;
    plan->results.push_back(&result->second);
  }
  plan->stage = std::move(stage);
  return plan;
}

/* By way of the runner, which knows plans of all kinds. */
void GraphCalls::RunNodes(bool described) {
  Env env;
  for (const int p : form_->given) env[form_->names[static_cast<size_t>(p)]] = at_[static_cast<size_t>(p)];
  const std::shared_ptr<Stage> stage = runner_->RunNodes(&env);
  if (stage && described)
    if (auto plan = OnePlanOf(stage)) form_->Put(key_, std::move(plan));
  for (const int p : form_->made) {
    const std::string& name = form_->names[static_cast<size_t>(p)];
    const auto it = env.find(name);
    MXNET_CHECK_KIND(it != env.end(), Value) << "[onnx] output " << name << " was not computed";
    at_[static_cast<size_t>(p)] = std::move(it->second);
  }
}

std::vector<Value> GraphCalls::Run(std::vector<Value> inputs) {
  const NumpyShapesScope scope;
  for (size_t i = 0; i < inputs.size(); ++i) at_[i] = std::move(inputs[i]);
  RunSteps(form_->before);
  const bool described = Describe();
  const auto plan = described ? form_->Find(key_) : nullptr;
  if (plan)
    RunPlan(*plan);
  else
    RunNodes(described);
  RunSteps(form_->after);
  std::vector<Value> results;
  results.reserve(form_->outputs.size());
  for (const int p : form_->outputs) results.push_back(at_[static_cast<size_t>(p)]);
  // What nobody reads any more goes: lists then grow where they are.
  for (size_t i = 0; i < inputs.size(); ++i) at_[i] = Value();
  for (const int p : form_->made) at_[static_cast<size_t>(p)] = Value();
  for (const auto* steps : {&form_->before, &form_->after})
    for (const GraphForm::Step& s : *steps) at_[static_cast<size_t>(s.out)] = Value();
  return results;
}

}  // namespace onnx
}  // namespace mxnet
