#include "onnx/run/stage.h"

#include <algorithm>
#include <chrono>

#include "executor/passes/core/passes.h"
#include "graph/reduce_precision.h"
#include "mxnet/imperative.h"
#include "mxnet/op.h"
#include "onnx/rewrite/float_nodes.h"
#include "onnx/rewrite/integers.h"
#include "onnx/rewrite/masks.h"
#include "onnx/rewrite/repeats.h"
#include "onnx/rewrite/transposed.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace onnx {
namespace {

// Contents of so many elements may choose a plan: sizes, axes, conditions.
constexpr int64_t kMostDemandedInts = 64, kMostDemandedFloats = 4;
constexpr int kMostRebuilt = 8;
constexpr size_t kAnyPlans = 16, kMostNodesOfPlans = 8192;  // so many plans are kept, and more while they have fewer nodes than that

std::string ContentsOf(const Value& v) {
  std::string bytes;
  if (v.kind == Value::kStrings) {
    for (const std::string& s : *v.strings) bytes += std::to_string(s.size()) + ':' + s;
    return bytes;
  }
  const NDArray a = OnCPU(v.array);
  bytes.resize(static_cast<size_t>(a.shape().Size()) * DTypeSize(a.dtype()));
  if (!bytes.empty()) a.CopyBytesTo(&bytes[0], bytes.size());
  return bytes;
}

/* Contents that a stage keeps: the caller may change an array of theirs, but no weight. */
Value Kept(const Value& v, FoldedWeights* folded) {
  if (v.kind != Value::kTensor || !IsSmall(v) || folded->Keeps({v.array})[0]) return v;
  return Value(v.array.Copy(v.array.ctx()));
}

void PutType(const Value& v, std::string* key) {
  const int32_t about[] = {v.kind, v.type.dtype, v.ndim(), v.elements ? static_cast<int32_t>(v.elements->size()) : 0};
  key->append(reinterpret_cast<const char*>(about), sizeof about);
  key->append(reinterpret_cast<const char*>(v.shape().dims()), sizeof(int64_t) * static_cast<size_t>(std::max(v.ndim(), 0)));
  if (v.elements)
    for (const Value& e : *v.elements) PutType(e, key);
}

}  // namespace

bool IsSmall(const Value& v) { return v.size() <= (IsFloating(v.dtype()) ? kMostDemandedFloats : kMostDemandedInts); }

std::string TypesOf(const Pending& p, const Env& env) {
  std::string key;
  key.reserve(64 * p.needed.size());
  for (const std::string& name : p.needed) {
    const auto it = env.find(name);
    if (it == env.end())
      key += '-';  // no type begins so
    else
      PutType(it->second, &key);
  }
  return key;
}

const Value* FindValue(const Session& session, const Env& env, const std::string& name) {
  const auto it = env.find(name);
  return it != env.end() ? &it->second : session.ConstantNamed(name);
}

StageBuilder::StageBuilder(Runner* runner, Pending* pending, const Env& env, bool whole, Learns learns)
    : runner_(runner),
      session_(runner->session_),
      pending_(pending),
      env_(env),
      whole_(whole),
      reduces_(!whole && session_->precision() != kFloat32),
      builder_(session_->options().ctx, session_->folded(), false, !whole && session_->widens()),
      todo_(pending->nodes.begin(), pending->nodes.end()),
      stage_(std::make_shared<Stage>()) {
  if (learns == Learns::kNothing) return;
  learning_ = std::make_unique<Learning>(session_->folded(), learns == Learns::kOperators, RoundsToIntegers(runner->graph()));
  builder_.TellTo(learning_.get());
}

const Value* StageBuilder::Lookup(const std::string& name) {
  const auto before = found_.find(name);
  if (before != found_.end()) return before->second;
  const Value* const v = Find(name);
  if (v) found_.emplace(name, v);
  return v;
}

const Value* StageBuilder::Find(const std::string& name) {
  const auto made = values_.find(name);
  if (made != values_.end()) return &made->second;
  const auto given = env_.find(name);
  if (given == env_.end()) {
    const Value* const constant = session_->ConstantNamed(name);
    if (!constant || !builder_.Widens(*constant)) return constant;
    return &(values_[name] = builder_.Widened(*constant, name));
  }
  const Value& v = given->second;
  const bool fixed = pending_->fixed.count(name) || demanded_.count(name);
  if (v.kind == Value::kStrings) demanded_.insert(name);
  if (v.kind == Value::kNone || v.kind == Value::kStrings || (v.kind == Value::kTensor && v.known() && fixed))
    return &(values_[name] = builder_.Widened(Kept(v, session_->folded()), name));
  const auto variable = [&](const Value& of, const std::string& label, int element) {
    Value input = builder_.Input(label, of.type);
    held_.push_back(input.entry.node);
    variables_[input.entry.node.get()] = {name, element, NDArray()};
    return builder_.Widened(input, label);
  };
  if (v.kind == Value::kTensor) return &(values_[name] = variable(v, name, -1));
  auto elements = std::make_shared<std::vector<Value>>();
  for (size_t i = 0; i < v.elements->size(); ++i) {
    const Value& e = (*v.elements)[i];
    elements->push_back(e.kind == Value::kTensor ? variable(e, name + "#" + std::to_string(i), static_cast<int>(i)) : e);
  }
  Value sequence = v;
  sequence.elements = elements;
  return &(values_[name] = sequence);
}

bool StageBuilder::Available(const NodeProto& node) {
  for (const auto* list : {&node.inputs, &node.captured})
    for (const std::string& name : *list)
      if (!name.empty() && (later_.count(name) || !Lookup(name))) return false;
  return true;
}

/* Makes the plan depend on the contents of a value that is there when the stage starts. */
bool StageBuilder::Demand(const std::string& name) {
  const auto it = env_.find(name);
  if (it == env_.end() || it->second.kind != Value::kTensor || demanded_.count(name) || pending_->rebuilt > kMostRebuilt) return false;
  const Value& v = it->second;
  if (!v.known() || !IsSmall(v)) return false;
  demanded_.insert(name);
  found_.erase(name);
  values_.erase(name);
  return true;
}

/* Makes the plan depend on whether a number that is there when the stage starts is at most
 * `bound`. */
bool StageBuilder::DemandBound(const std::string& name, int64_t bound) {
  const auto it = env_.find(name);
  if (it == env_.end() || it->second.kind != Value::kTensor || !it->second.known() || it->second.size() != 1) return false;
  stage_->bounds.push_back({name, bound, IntsIn(it->second.array)[0] <= bound});
  builder_.PutBound(name, bound, stage_->bounds.back().holds);
  return true;
}

/* Its results come later: from a plan made for the contents of small values, else from running it
 * on arrays. */
void StageBuilder::PostponeFor(const NodeProto& node, const std::vector<std::string>& names) {
  MXNET_CHECK_KIND(!whole_, Value)
      << "[onnx] node " << node.label() << " (" << node.op
      << ") depends on values that the graph computes, so the model is no single graph; accepted by this "
         "function: models whose shapes follow from the shapes of inputs, and from inputs that are fixed (values=)";
  bool small = !ControlOf(node) && pending_->rebuilt <= kMostRebuilt;
  for (const std::string& name : names) {
    const Value* v = Lookup(name);
    small = small && v && v->kind == Value::kTensor && !env_.count(name) && IsSmall(*v);
  }
  (small ? rest_ : stage_->host).push_back(&node);
  for (const std::string& name : node.outputs) later_.insert(name);
}

/* Puts the nodes of the branch that is taken in the place of an If. False: not known which. */
bool StageBuilder::TakeBranch(const NodeProto& node) {
  Call call(node, node.opset, nullptr, {*Lookup(node.inputs.at(0))}, &builder_);
  const GraphProto* branches[2] = {call.GraphAttr("else_branch"), call.GraphAttr("then_branch")};
  if (!branches[0] || !branches[1]) call.Refuse("a branch is not there");
  if (call.in(0).kind != Value::kTensor || call.in(0).size() != 1)
    call.Refuse("the condition has shape " + call.in(0).shape().str() + "; accepted: one element");
  if (!call.in(0).known()) return false;
  const auto& nodes = session_->Branch(node, *branches[call.Int(0) != 0]);
  todo_.insert(todo_.begin(), nodes.begin(), nodes.end());
  return true;
}

bool StageBuilder::ConvertOnce(const NodeProto& node) {
  if (ControlOf(node)) {
    const Taken taken = TakeLoop(node);
    if (taken == kNotTaken) PostponeFor(node, {});
    return taken != kAgain;
  }
  if (IsIf(node)) {
    MXNET_CHECK_KIND(node.inputs.size() == 1 && !node.inputs[0].empty(), Value)
        << "[onnx] node " << node.label() << " (If) has " << node.inputs.size() << " inputs; accepted: 1, which must be there";
    if (TakeBranch(node)) return true;
    if (Demand(node.inputs[0])) return false;
    if ((!whole_ && runner_->IsModel()) || !MakeChoice(node)) PostponeFor(node, {node.inputs[0]});
    return true;
  }
  std::vector<Value> results;
  try {
    results = ResultsOf(node);
  } catch (const NeedsValue& needs) {
    bool more = false;
    std::vector<std::string> names;
    for (int i : needs.inputs) {
      const std::string& name = node.inputs[static_cast<size_t>(i)];
      more = (needs.bound ? DemandBound(name, *needs.bound) : Demand(name)) || more;
      names.push_back(name);
    }
    if (more) return false;
    PostponeFor(node, names);
    return true;
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    stage_->finds_nothing = stage_->finds_nothing || (results[i].kind == Value::kTensor && results[i].type.shape.Size() == 0);
    values_[node.outputs[i]] = std::move(results[i]);
  }
  return true;
}

/* What the node is in the graph; throws NeedsValue. */
std::vector<Value> StageBuilder::ResultsOf(const NodeProto& node) {
  static const Value nothing;
  std::vector<const Value*> operands;
  for (const std::string& name : node.inputs) operands.push_back(name.empty() ? &nothing : Lookup(name));
  const bool again = !whole_ && !node.of_stage;
  if (again) {
    std::vector<Value> results = runner_->converted_.Take(node, operands, &builder_);
    if (!results.empty()) return results;
  }
  std::vector<Value> inputs;
  for (const Value* v : operands) inputs.push_back(*v);
  const Rule* rule = FindRule(node.domain, node.op, node.opset);
  Call call(node, node.opset, rule->argument, inputs, &builder_);
  Traces traces;
  builder_.Trace(&traces);
  try {
    Apply(*rule, &call);
  } catch (const NeedsValue&) {
    builder_.Trace(nullptr);
    throw;
  }
  builder_.Trace(nullptr);
  std::vector<Value> results = call.outputs();
  if (again) runner_->converted_.Put(node, std::move(inputs), results, std::move(traces));
  return results;
}

void StageBuilder::Convert(const NodeProto& node) {
  while (!ConvertOnce(node)) {
  }
}

Slot StageBuilder::SlotOf(const Value& value) {
  Slot slot;
  slot.value = value;
  slot.value.entry = NodeEntry();
  if (value.kind == Value::kSequence) {
    for (const Value& e : *value.elements) slot.elements.push_back(SlotOf(e));
    slot.value.elements = nullptr;
  } else if (value.kind == Value::kTensor && !value.known()) {
    const auto at = output_of_.emplace(std::make_pair(static_cast<const Node*>(value.entry.node.get()), value.entry.index),
                                       static_cast<int>(outputs_.size()));
    if (at.second) outputs_.push_back(value.entry);
    slot.output = at.first->second;
  }
  return slot;
}

void StageBuilder::Collect() {
  std::vector<const NodeProto*> after = rest_;
  after.insert(after.end(), stage_->host.begin(), stage_->host.end());
  for (const std::string& name : runner_->Needed(after, pending_->after)) {
    if (env_.count(name) || later_.count(name)) continue;
    const auto it = values_.find(name);
    if (it == values_.end()) continue;
    stage_->results.emplace_back(name, SlotOf(builder_.Narrowed(it->second, runner_->DeclaredType(name), name)));
  }
  if (!rest_.empty()) {
    stage_->rest = std::make_unique<Pending>();
    stage_->rest->nodes = rest_;
    stage_->rest->needed = runner_->Needed(rest_, pending_->after);
    stage_->rest->after = pending_->after;
    stage_->rest->fixed = pending_->fixed;
    stage_->rest->fixed.insert(demanded_.begin(), demanded_.end());
    for (const auto& result : stage_->results)
      if (result.second.value.known()) stage_->rest->fixed.insert(result.first);
  }
  for (const std::string& name : demanded_) stage_->demanded.emplace_back(name, ContentsOf(env_.at(name)));
  stage_->num_outputs = static_cast<int>(outputs_.size());
  if (outputs_.empty()) return;
  stage_->symbol.outputs = outputs_;
  ReducePrecision(&stage_->symbol);
  DFSVisit(stage_->symbol.outputs,
           [&](const NodePtr& n) { stage_->prepares = stage_->prepares || (!n->is_variable() && n->op()->trait<PreparesForShape>()); });
  std::vector<int> data, params;
  for (const NodePtr& n : stage_->symbol.ListInputs(Symbol::kAll)) {
    const auto v = variables_.find(n.get());
    (v != variables_.end() ? data : params).push_back(static_cast<int>(stage_->operands.size()));
    if (v != variables_.end()) {
      stage_->operands.push_back(v->second);
      continue;
    }
    const auto reduced = reduced_.find(n.get());
    stage_->operands.push_back({"", -1, reduced != reduced_.end() ? reduced->second : builder_.constants().at(n.get())});
  }
  const auto list = [](const std::vector<int>& numbers) { return Text(std::vector<int64_t>(numbers.begin(), numbers.end())); };
  if (session_->options().learns) {  // whose memory lives until gradients have been computed
    stage_->op = CachedOp::Create(stage_->symbol, {{"inline_limit", "0"}, {"data_indices", list(data)}, {"param_indices", list(params)}});
    return;
  }
  stage_->op = CachedOp::Create(
      stage_->symbol,
      {{"static_alloc", "1"}, {"static_shape", "1"}, {"thread_safe", "1"}, {"data_indices", list(data)}, {"param_indices", list(params)}},
      session_->arenas());
}

/* Biases that the file adds by nodes of their own become those of layers, so that they are rounded
 * once, with the layer's result. */
static void JoinBiasesOf(Symbol* symbol, const VariableTypes& types) {
  PassGraph graph;
  graph.outputs = symbol->outputs;
  JoinBiases(&graph, *InferGraph(graph, types, InferSwitches::OfThread(true)));
  symbol->outputs = graph.outputs;
}

/* Mixed precision as mx.amp has it by default; results and what the caller hands in keep their
 * dtypes. Weights that 16-bit products alone read are cast once for all plans of the model.
 * `types`: of variables that are made here. */
void StageBuilder::ReducePrecision(Symbol* symbol, std::unordered_map<const Node*, TensorType> types) {
  if (!reduces_) return;
  ReducePrecisionRequest request = PrecisionOfRecords(session_->precision());
  request.cast_params = request.graphs_as_given = true;
  std::unordered_map<std::string, const NDArray*> weights;
  for (const NodePtr& n : symbol->ListInputs(Symbol::kAll)) {
    const auto constant = builder_.constants().find(n.get());
    const auto variable = variables_.find(n.get());
    if (variable != variables_.end()) types[n.get()] = variable->second.In(env_).type;
    if (constant != builder_.constants().end()) {
      types[n.get()] = constant->second.type();
      request.params.insert(n->name);
      weights[n->name] = &constant->second;
    }
    request.dtypes[n->name] = types.at(n.get()).dtype;
  }
  JoinBiasesOf(symbol, types);
  *symbol = mxnet::ReducePrecision(*symbol, request);
  for (const NodePtr& n : symbol->ListInputs(Symbol::kAll)) {
    if (types.count(n.get())) continue;
    const Value cast = builder_.Cast(Value(*weights.at(n->name)), session_->precision());
    reduced_[n.get()] = session_->folded()->On(cast.array, session_->options().ctx);
    held_.push_back(n);
  }
}

void StageBuilder::ConvertAll() {
  while (!todo_.empty()) {
    const NodeProto* node = todo_.front();
    todo_.pop_front();
    if (Available(*node)) {
      Convert(*node);
    } else {
      rest_.push_back(node);
      for (const std::string& name : node->outputs) later_.insert(name);
    }
  }
}

std::shared_ptr<Stage> StageBuilder::Build() {
  const auto begin = std::chrono::steady_clock::now();
  stage_->types = TypesOf(*pending_, env_);
  stage_->elements = ElementsOf(env_);
  ConvertAll();
  Collect();
  stage_->build_ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  return stage_;
}

ConvertedGraph StageBuilder::BuildWhole() {
  ConvertAll();
  ConvertedGraph graph;
  for (const ValueInfo& v : runner_->graph().outputs) {
    const Value* value = Lookup(v.name);
    MXNET_CHECK_KIND(value, Value) << "[onnx] output " << v.name << " was not computed";
    graph.symbol.outputs.push_back(builder_.EntryOf(*value));
  }
  if (learning_) learning_->Finish(graph.symbol, &builder_);
  for (const NodePtr& n : graph.symbol.ListInputs(Symbol::kAll)) {
    const auto constant = builder_.constants().find(n.get());
    if (constant != builder_.constants().end()) graph.params.emplace_back(n->name, constant->second);
  }
  return graph;
}

// ---- running

Runner::Runner(Session* session, const GraphProto* graph, bool grows, bool in_floats) : session_(session), graph_(graph), grows_(grows) {
  nodes_ = in_floats || session->options().learns ? FloatNodes(*graph, *session, &made_) : IntegerNodes(*graph, *session, &made_);
  nodes_ = JoinTransposes(nodes_, *graph, *session, &made_);
  nodes_ = root_.nodes = JoinMasks(JoinRepeats(nodes_, *graph, &made_), *graph, *session, &made_);
  if (!IsModel() && !grows) {
    form_ = std::make_unique<GraphForm>(*graph, *session, &root_.nodes);
    form_->Keep(KeptPlans(root_));
    root_.after = form_->MadeNames();
    for (const std::string& name : root_.after) made_by_nodes_.emplace_back().name = name;
  }
  root_.needed = Needed(root_.nodes);
}

std::vector<std::string> Runner::Needed(const std::vector<const NodeProto*>& nodes, const std::vector<std::string>& more) const {
  std::set<std::string> names(more.begin(), more.end());
  for (const NodeProto* n : nodes)
    for (const auto* list : {&n->inputs, &n->captured}) names.insert(list->begin(), list->end());
  for (const ValueInfo& v : graph_->outputs) names.insert(v.name);
  names.erase("");
  for (const NodeProto* n : nodes)
    for (const std::string& made : n->outputs) names.erase(made);
  return std::vector<std::string>(names.begin(), names.end());
}

/* Of an output of the model; -1: another name, or not known. */
int Runner::DeclaredType(const std::string& name) const {
  if (!IsModel()) return -1;
  for (const ValueInfo& v : graph_->outputs)
    if (v.name == name) return v.dtype;
  return -1;
}

std::shared_ptr<Stage> Runner::Find(Pending* pending, const Env& env, const std::string& types) {
  std::lock_guard<std::mutex> lock(mutex_);
  bool same_types = false;
  for (auto it = pending->stages.begin(); it != pending->stages.end(); ++it) {
    if ((*it)->types != types) continue;
    same_types = true;
    const bool fits = std::all_of((*it)->demanded.begin(), (*it)->demanded.end(),
                                  [&](const auto& d) { return ContentsOf(env.at(d.first)) == d.second; }) &&
                      std::all_of((*it)->bounds.begin(), (*it)->bounds.end(),
                                  [&](const auto& b) { return (IntsIn(env.at(b.name).array)[0] <= b.most) == b.holds; });
    if (!fits) continue;
    pending->stages.splice(pending->stages.begin(), pending->stages, it);
    return pending->stages.front();
  }
  if (same_types) ++pending->rebuilt;
  pending->stages.push_front(StageBuilder(this, pending, env, false).Build());
  if (pending->stages.size() > KeptPlans(*pending)) pending->stages.pop_back();
  return pending->stages.front();
}

size_t Runner::KeptPlans(const Pending& pending) {
  return std::max(kAnyPlans, kMostNodesOfPlans / std::max<size_t>(1, pending.nodes.size()));
}

static Value Filled(const Slot& slot, const std::vector<NDArray>& outputs) {
  if (slot.output >= 0) return Value(outputs[static_cast<size_t>(slot.output)]);
  if (slot.value.kind != Value::kSequence) return slot.value;
  Value v = slot.value;
  auto elements = std::make_shared<std::vector<Value>>();
  for (const Slot& s : slot.elements) elements->push_back(Filled(s, outputs));
  v.elements = elements;
  return v;
}

/* `what` in the array that the caller gave for it. */
static void CheckFits(const std::string& name, const NDArray& given, const TensorType& what) {
  MXNET_CHECK_KIND(given.shape() == what.shape && given.dtype() == what.dtype && !given.is_sparse(), Value)
      << "[onnx] the array for the output " << name << " is " << DTypeName(given.dtype()) << ' ' << given.shape()
      << "; accepted: " << DTypeName(what.dtype) << ' ' << what.shape;
}

void Runner::Execute(const Stage& stage, const std::map<std::string, NDArray>& into, Env* env) {
  std::vector<NDArray> outputs(static_cast<size_t>(stage.num_outputs));
  for (const auto& result : stage.results) {
    const auto given = into.find(result.first);
    if (given == into.end() || result.second.output < 0 || IsReadLater(stage, *env, given->second)) continue;
    CheckFits(result.first, given->second, result.second.value.type);
    NDArray& output = outputs[static_cast<size_t>(result.second.output)];
    if (output.is_none()) output = given->second;
  }
  if (stage.op) {
    std::vector<NDArray> arrays;
    arrays.reserve(stage.operands.size());
    for (const Stage::Operand& o : stage.operands) {
      if (o.name.empty()) {
        arrays.push_back(o.constant);
        continue;
      }
      const NDArray& a = o.In(*env).array;
      arrays.push_back(a.ctx() == session_->options().ctx ? a : a.Copy(session_->options().ctx));
    }
    std::vector<NDArray*> in, out;
    in.reserve(arrays.size()), out.reserve(outputs.size());
    for (NDArray& a : arrays) in.push_back(&a);
    for (NDArray& a : outputs) out.push_back(&a);
    InvokeTimed(stage, in, out);
  }
  for (const auto& result : stage.results) env->insert_or_assign(result.first, Filled(result.second, outputs));
  FoundNothing() = FoundNothing() || stage.finds_nothing;
  for (const NodeProto* n : stage.host) RunNode(*n, env);
}

/* On arrays. */
void Runner::RunNode(const NodeProto& node, Env* env) {
  std::vector<Value> results;
  if (const ControlFn control = ControlOf(node)) {
    results = control(session_, node, *env);
  } else if (IsIf(node)) {
    results = RunIf(session_, node, *env);
  } else {
    GraphBuilder builder(session_->options().ctx, session_->folded(), true, session_->widens());
    builder.Record(session_->options().learns);
    results = ResultsOnArrays(node, *FindRule(node.domain, node.op, node.opset), OperandsOnCPU(*session_, node, *env, &builder), &builder);
  }
  if (session_->options().learns && Imperative::State().recording) CheckRecorded(*session_, node, *env, results);
  PutResults(node, std::move(results), env);
}

ConvertedGraph Runner::Convert(const Env& env, Learns learns) {
  const NumpyShapesScope scope;
  Pending pending;
  pending.nodes = root_.nodes;
  pending.needed = root_.needed;
  for (const auto& kv : env)
    if (kv.second.known()) pending.fixed.insert(kv.first);
  return StageBuilder(this, &pending, env, true, learns).BuildWhole();
}

std::vector<Value> Runner::Run(Env env, const std::map<std::string, NDArray>& into) {
  const NumpyShapesScope scope;
  Stages stages;  // each keeps those that follow it, also when another thread's calls push it out
  const Env returned = IsModel() ? InputsToReturn(env, graph_->outputs) : Env();
  const std::string types = TypesOf(root_, env);
  const Way way = WayFor(types, env);
  if (way.rehearsed) Rehearse(*way.rehearsed, env);
  if (way.once)
    RunOnce(*way.once, &env);
  else
    RunPlanned(types, into, &env, &stages);
  GraphBuilder builder(session_->options().ctx, session_->folded(), false, session_->widens());
  builder.Record(session_->options().learns);
  std::vector<Value> results;
  results.reserve(graph_->outputs.size());
  for (const ValueInfo& v : graph_->outputs) {
    const Value* found = FindValue(*session_, returned.count(v.name) ? returned : env, v.name);
    MXNET_CHECK_KIND(found, Value) << "[onnx] output " << v.name << " was not computed";
    results.push_back(builder.Narrowed(*found, IsModel() ? v.dtype : -1, v.name));
    if (found->kind == Value::kTensor && IsModel() && !way.once && IsKept(v.name, stages))
      results.back() = Value(results.back().array.Copy(Context::CPU()));
    found = &results.back();
    const auto given = into.find(v.name);
    if (given == into.end()) continue;
    MXNET_CHECK_KIND(found->kind == Value::kTensor, Value) << "[onnx] an array for the output " << v.name << ", which is no tensor";
    if (found->array.chunk() == given->second.chunk()) continue;
    CheckFits(v.name, given->second, found->type);  // known beforehand, an input, or computed on arrays
    CopyFromTo(found->array, given->second);
    results.back() = Value(given->second);
  }
  return results;
}

}  // namespace onnx
}  // namespace mxnet
