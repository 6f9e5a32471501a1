#include "onnx/run/once.h"

#include <algorithm>
#include <unordered_set>

#include "ndarray/stored.h"
#include "onnx/run/stage.h"

namespace mxnet {
namespace onnx {
namespace {

/* Contents alone: entries belong to the graph of a plan. */
bool IsContents(const Value& v) { return v.kind == Value::kStrings || (v.kind == Value::kTensor && v.known()); }

}  // namespace

NodeByNode::NodeByNode(Session* session, const std::vector<const NodeProto*>& nodes, const std::vector<ValueInfo>& results,
                       const Conversions& converted, bool recipes)
    : session_(session), recipes_(recipes) {
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
        if (!places_[static_cast<size_t>(place)].constant) step.last.push_back(place);
      }
  }
  AddWeights();
  for (const Place& place : places_) constants_.push_back(place.constant);
  GiveSlots();
}

/* Few: what lies in the caches is used again. */
void NodeByNode::GiveSlots() {
  std::vector<char> made(places_.size(), 0);
  std::vector<size_t> free;
  const auto give = [&](size_t place) {
    if (made[place]) return;
    made[place] = 1;
    if (free.empty()) free.push_back(num_slots_++);
    places_[place].slot = free.back();
    free.pop_back();
  };
  std::vector<char> written(places_.size(), 0);
  for (const Step& step : steps_)
    for (const int place : step.out)
      if (place >= 0) written[static_cast<size_t>(place)] = 1;
  for (size_t place = 0; place < places_.size(); ++place)
    if (!written[place] && !places_[place].constant) give(place);  // inputs
  for (const Step& step : steps_) {
    for (const int place : step.out)
      if (place >= 0) give(static_cast<size_t>(place));
    for (const int place : step.last)
      if (made[static_cast<size_t>(place)]) free.push_back(places_[static_cast<size_t>(place)].slot);
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
    steps_.push_back({n, FindRule(n->domain, n->op, n->opset), {}, {}, {}, nullptr, -1, Move::kNone});
    Step& step = steps_.back();
    for (const std::string& name : n->inputs) step.in.push_back(PlaceOf(name));
    for (const std::string& name : n->outputs) step.out.push_back(PlaceOf(name));
    if (recipes_) step.recipe = RecipeFor(step, converted.InputsOf(*n));
    if (!step.recipe) continue;
    step.size = SizeFor(step, converted);
    step.move = MoveOf(*n);
  }
}

void NodeByNode::AddWeights() {
  std::unordered_set<const Chunk*> added;
  const auto add = [&](const NDArray& a) {
    if (!added.insert(a.chunk()).second) return;
    weights_.push_back(a);
    weight_bytes_ += a.type().Bytes();
  };
  for (const Step& step : steps_) {
    if (step.recipe) {
      for (const NDArray& a : step.recipe->constants()) add(a);
      continue;
    }
    for (const int place : step.in) {
      const Value* const constant = place < 0 ? nullptr : places_[static_cast<size_t>(place)].constant;
      if (constant && constant->kind == Value::kTensor) add(constant->array);
    }
  }
}

size_t NodeByNode::given_back() const {
  size_t bytes = 0;
  for (const NDArray& a : weights_)
    if (a.delayed() && !HasForms(a) && !IsFilled(a)) bytes += a.type().Bytes();
  return bytes;
}

std::unique_ptr<const Recipe> NodeByNode::RecipeFor(const Step& step, const std::vector<Value>* inputs) const {
  if (!inputs) return nullptr;
  std::vector<char> constant;
  for (const int place : step.in) constant.push_back(place >= 0 && places_[static_cast<size_t>(place)].constant);
  return Recipe::Write(*session_, *step.node, *step.rule, *inputs, constant);
}

int NodeByNode::SizeFor(const Step& step, const Conversions& converted) {
  const std::vector<Value>* const inputs = converted.InputsOf(*step.node);
  const std::vector<Value>* const results = converted.ResultsOf(*step.node);
  if (!inputs || !results || results->size() != 1 || step.out.size() != 1 || (*results)[0].kind != Value::kTensor) return -1;
  std::vector<SizeNodes::Operand> operands;
  for (size_t i = 0; i < step.in.size() && i < inputs->size(); ++i) {
    const int place = step.in[i];
    const Value& v = (*inputs)[i];
    operands.push_back(
        {place, place < 0 ? nullptr : places_[static_cast<size_t>(place)].constant, v.kind == Value::kTensor ? &v.type : nullptr});
  }
  return size_nodes_.Add(*step.node, operands, step.out[0], (*results)[0].type);
}

size_t NodeByNode::num_recipes() const {
  return static_cast<size_t>(std::count_if(steps_.begin(), steps_.end(), [](const Step& s) { return s.recipe != nullptr; }));
}

void NodeByNode::Run(Env* env) const {
  std::unique_ptr<Frame> frame = TakeFrame();
  GraphBuilder builder(session_->options().ctx, session_->folded(), true, session_->widens());
  builder.KeepIn(&frame->scratch.states);
  TakeInputs(*env, &builder, frame.get());
  for (const Step& step : steps_) {
    RunStep(step, &builder, frame.get());
    for (const int place : step.last) *SlotOf(place, frame.get()) = Value();
  }
  PutResults(frame.get(), env);
  read_again_.fetch_add(frame->scratch.states.TakeReadBytes(), std::memory_order_relaxed);
  std::lock_guard<std::mutex> lock(mutex_);
  frames_.push_back(std::move(frame));
}

/* Computed, on the CPU, and in float32 where the caller has float16. */
void NodeByNode::TakeInputs(const Env& env, GraphBuilder* builder, Frame* frame) const {
  frame->at = constants_;
  for (const auto& kv : env) {
    const auto found = place_of_.find(kv.first);
    if (found == place_of_.end()) continue;
    const auto place = static_cast<size_t>(found->second);
    const Value& v = kv.second;
    frame->at[place] = &v;
    if (v.kind != Value::kTensor) continue;
    if (v.array.ctx() == Context::CPU() && !builder->Widens(v)) {
      v.array.WaitToRead();
    } else {
      Value* const kept = SlotOf(found->second, frame);
      *kept = OnCPU(v, kv.first, builder);
      kept->array.WaitToRead();
      frame->at[place] = kept;
    }
  }
}

/* What the converter makes of what is there. */
std::vector<Value> NodeByNode::Asked(const Step& step, const Frame& frame, GraphBuilder* builder) const {
  std::vector<Value> operands;
  operands.reserve(step.in.size());
  for (size_t i = 0; i < step.in.size(); ++i)
    operands.push_back(step.in[i] < 0 ? Value() : OnCPU(*frame.at[static_cast<size_t>(step.in[i])], step.node->inputs[i], builder));
  std::vector<Value> results = ResultsOnArrays(*step.node, *step.rule, std::move(operands), builder);
  for (const Value& v : results)
    if (v.kind == Value::kTensor) v.array.WaitToRead();
  return results;
}

void NodeByNode::RunStep(const Step& step, GraphBuilder* builder, Frame* frame) const {
  if (step.size >= 0 && size_nodes_.Compute(step.size, frame->at, &frame->sizes)) {
    frame->at[static_cast<size_t>(step.out[0])] = &frame->sizes.made[static_cast<size_t>(step.size)];
    return;
  }
  frame->scratch.states.BeginNode(static_cast<size_t>(&step - steps_.data()));
  frame->written.clear();
  for (const int place : step.out) frame->written.push_back(place < 0 ? nullptr : SlotOf(place, frame));
  if (!FollowRecipe(step, frame)) {
    std::vector<Value> results = Asked(step, *frame, builder);
    for (size_t i = 0; i < frame->written.size() && i < results.size(); ++i)
      if (frame->written[i]) *frame->written[i] = std::move(results[i]);
  }
  for (const int place : step.out)
    if (place >= 0) frame->at[static_cast<size_t>(place)] = SlotOf(place, frame);
}

bool NodeByNode::FollowRecipe(const Step& step, Frame* frame) {
  static const Value nothing;
  if (!step.recipe) return false;
  frame->read.clear();
  for (const int place : step.in) frame->read.push_back(place < 0 ? &nothing : frame->at[static_cast<size_t>(place)]);
  try {
    if (frame->written[0] && DoMove(step.move, *step.node, frame->read, frame->written[0])) return true;
    if (!step.recipe->Fits(frame->read)) return false;
    step.recipe->Follow(frame->read, frame->written, &frame->scratch);
    return true;
  } catch (const Error&) {  // the converter says what is wrong
    return false;
  }
}

/* A result must not be a view of what a caller gave, of a weight, or of another result: of what
 * somebody else holds. */
void NodeByNode::PutResults(Frame* frame, Env* env) const {
  for (const int result : results_) {
    const auto place = static_cast<size_t>(result);
    const Value* const at = frame->at[place];
    if (!at) continue;  // who reads it says so
    Value* const kept = SlotOf(result, frame);
    const bool own = at == kept;
    Value v = own ? std::move(*kept) : *at;
    if (own) *kept = Value();
    if (v.kind == Value::kTensor && v.array.chunk()->refs.load(std::memory_order_acquire) > 1) v = Value(v.array.Copy(v.array.ctx()));
    (*env)[*places_[place].name] = std::move(v);
  }
}

std::unique_ptr<NodeByNode::Frame> NodeByNode::TakeFrame() const {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!frames_.empty()) {
      std::unique_ptr<Frame> frame = std::move(frames_.back());
      frames_.pop_back();
      return frame;
    }
  }
  auto frame = std::make_unique<Frame>();
  frame->made.resize(num_slots_);
  frame->sizes = size_nodes_.Make();
  return frame;
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

Env InputsToReturn(const Env& inputs, const std::vector<ValueInfo>& outputs) {
  Env copies;
  for (const ValueInfo& v : outputs) {
    const auto it = inputs.find(v.name);
    if (it == inputs.end() || it->second.kind != Value::kTensor) continue;
    copies.emplace(v.name, Value(it->second.array.Copy(it->second.array.ctx())));
  }
  return copies;
}

bool IsReadLater(const Stage& stage, const Env& env, const NDArray& array) {
  const auto is_it = [&](const std::string& name) {
    const auto it = env.find(name);
    if (it == env.end() || it->second.kind != Value::kTensor || it->second.array.is_none()) return false;
    return it->second.array.chunk() == array.chunk();
  };
  const auto any = [&](const std::vector<std::string>& names) { return std::any_of(names.begin(), names.end(), is_it); };
  return (stage.rest && any(stage.rest->needed)) ||
         std::any_of(stage.host.begin(), stage.host.end(), [&](const NodeProto* n) { return any(n->inputs) || any(n->captured); });
}

void PutResults(const NodeProto& node, std::vector<Value> results, Env* env) {
  for (size_t i = 0; i < node.outputs.size() && i < results.size(); ++i)
    if (!node.outputs[i].empty()) (*env)[node.outputs[i]] = std::move(results[i]);
}

}  // namespace onnx
}  // namespace mxnet
