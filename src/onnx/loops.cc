// Loops and branches as operators of the plan, where their graphs are single ones of fixed shapes.
#include <algorithm>

#include "mxnet/op.h"
#include "onnx/stage.h"

namespace mxnet {
namespace onnx {
/* A loop as _npx_foreach has it. Arrays that are gone over lie along axis 0 and in their order. */
struct Rounds {
  const GraphProto* body = nullptr;
  size_t first_state = 0, first_data = 0;  // among the body's inputs
  size_t first_result = 0;                 // the next states, then what is stacked, among its outputs
  std::vector<Value> states, data;
  std::vector<int> out_axes;
  std::vector<char> out_reversed;
};

namespace {

constexpr int64_t kMostRounds = 1 << 20;
constexpr int64_t kMostPadded = 1 << 22;  // numbers of results that may be given back

Value Reversed(const Call& call, const Value& x) { return call.Op("_npi_flip", {x}, {{"axis", "(0,)"}}); }

/* `x` with one of its axes elsewhere. */
Value MoveAxis(const Call& call, const Value& x, int from, int to) {
  std::vector<int64_t> axes;
  for (int a = 0; a < x.ndim(); ++a)
    if (a != from) axes.push_back(a);
  axes.insert(axes.begin() + to, from);
  return call.Transpose(x, axes);
}

Rounds RoundsOfScan(const Call& call) {
  const ScanSpec spec = ReadScan(call);
  Rounds rounds;
  rounds.body = call.GraphAttr("body");
  rounds.first_data = spec.num_state;
  const auto& inputs = call.inputs();
  rounds.states.assign(inputs.begin(), inputs.begin() + static_cast<ptrdiff_t>(spec.num_state));
  for (size_t k = 0; k < spec.num_scan; ++k) {
    const Value& x = inputs[spec.num_state + k];
    const Value moved = MoveAxis(call, x, call.Axis(spec.in_axes[k], x.ndim()), 0);
    rounds.data.push_back(spec.in_directions[k] ? Reversed(call, moved) : moved);
  }
  rounds.out_axes.assign(spec.out_axes.begin(), spec.out_axes.end());
  rounds.out_reversed.assign(spec.out_directions.begin(), spec.out_directions.end());
  return rounds;
}

/* Without the numbers of the rounds. */
Rounds RoundsOfLoop(const Call& call) {
  Rounds rounds;
  rounds.body = call.GraphAttr("body");
  rounds.first_state = 2;
  rounds.first_result = 1;
  if (call.num_inputs() > 2) rounds.states.assign(call.inputs().begin() + 2, call.inputs().end());
  const size_t carried = rounds.states.size();
  if (!rounds.body || rounds.body->inputs.size() != carried + 2 || rounds.body->outputs.size() < carried + 1) call.Refuse("another body");
  const size_t stacked = rounds.body->outputs.size() - carried - 1;
  rounds.out_axes.assign(stacked, 0);
  rounds.out_reversed.assign(stacked, 0);
  return rounds;
}

bool IsTensor(const Value& v) { return v.kind == Value::kTensor && v.type.shape.known(); }

/* As the graph's results must be: each made by a node of it, and once. */
NodeEntry Own(const NodeEntry& entry, const std::vector<NodeEntry>& others) {
  const bool twice =
      std::any_of(others.begin(), others.end(), [&](const NodeEntry& e) { return e.node == entry.node && e.index == entry.index; });
  return entry.node->is_variable() || twice ? MakeOp("_copy", {entry}) : entry;
}

}  // namespace

/* The body's results, and what its graph is made of. */
struct StageBuilder::Body {
  Pending pending;
  Env env;
  std::unique_ptr<StageBuilder> builder;
  std::vector<Value> results;

  GraphBuilder* graph() const { return &builder->builder_; }
  NodeEntry Result(size_t i) const { return graph()->EntryOf(results[i]); }
  NodeEntry Input(const std::string& name) const { return graph()->EntryOf(*builder->Lookup(name)); }
  /* The name of what an input of the graph stands for; null: a constant. */
  const std::string* NameOf(const Node* variable) const {
    const auto v = builder->variables_.find(variable);
    return v == builder->variables_.end() ? nullptr : &v->second.name;
  }
  int64_t PlaceOf(const std::vector<NodePtr>& variables, const std::string& name) const {
    for (size_t i = 0; i < variables.size(); ++i) {
      const std::string* found = NameOf(variables[i].get());
      if (found && *found == name) return static_cast<int64_t>(i);
    }
    return -1;
  }
};

/* Converts a graph of a node for types of its inputs. Null: it is no single graph. */
std::unique_ptr<StageBuilder::Body> StageBuilder::BuildBody(const NodeProto& node, const GraphProto& graph, Env given) {
  Runner* runner = session_->RunnerOf(&graph);
  auto body = std::make_unique<Body>();
  body->pending.nodes = runner->root_.nodes;
  body->pending.needed = runner->root_.needed;
  body->env = std::move(given);
  for (const std::string& name : node.captured) {
    Value v = *Lookup(name);
    if (v.kind == Value::kSequence) return nullptr;
    v.entry = NodeEntry();
    body->env[name] = v;
  }
  for (const auto& kv : body->env)
    if (kv.second.known()) body->pending.fixed.insert(kv.first);
  body->builder.reset(new StageBuilder(runner, &body->pending, body->env, true));
  body->graph()->SetWidens(builder_.widens());
  try {
    body->builder->ConvertAll();
  } catch (const Error&) {  // what is wrong with it is said when it runs on arrays
    return nullptr;
  }
  for (const ValueInfo& v : graph.outputs) {
    const Value* value = body->builder->Lookup(v.name);
    if (!value || !IsTensor(*value)) return nullptr;
    body->results.push_back(*value);
  }
  return body;
}

/* What an input of the body's graph is outside: `same` has the body's own inputs that stay as they
 * are. */
Value StageBuilder::Outside(const Body& body, const NodePtr& variable, const std::map<std::string, Value>& same) {
  const std::string* name = body.NameOf(variable.get());
  if (!name) return Value(body.graph()->constants().at(variable.get()));
  const auto own = same.find(*name);
  return own != same.end() ? own->second : *Lookup(*name);
}

/* The types of the body's inputs; false: some are not known. */
static bool DescribeInputs(const Rounds& rounds, Env* into) {
  const auto put = [&](size_t i, const TensorType& type) {
    Value& v = (*into)[rounds.body->inputs[i].name];
    v.kind = Value::kTensor;
    v.type = type;
  };
  for (size_t j = 0; j < rounds.states.size(); ++j) {
    if (!IsTensor(rounds.states[j])) return false;
    put(rounds.first_state + j, rounds.states[j].type);
  }
  for (size_t k = 0; k < rounds.data.size(); ++k) {
    const Shape& shape = rounds.data[k].shape();
    if (shape[0] != rounds.data[0].shape()[0]) return false;
    put(rounds.first_data + k, TensorType(Shape(shape.dims() + 1, shape.ndim() - 1), rounds.data[k].dtype()));
  }
  return true;
}

/*
 * Scan and Loop: one operator, if the body is a single graph and states keep their shapes. Others
 * run round by round on arrays.
 */
StageBuilder::Taken StageBuilder::TakeLoop(const NodeProto& node) {
  const bool is_loop = node.op == "Loop";
  if (!(is_loop || (node.op == "Scan" && node.opset >= 9)) || session_->precision() != kFloat32) return kNotTaken;
  std::vector<Value> inputs;
  bool computed = whole_;
  for (const std::string& name : node.inputs) inputs.push_back(name.empty() ? Value() : *Lookup(name));
  for (const Value& v : inputs) computed = computed || (v.kind == Value::kTensor && !v.known());
  for (const std::string& name : node.captured) computed = computed || !Lookup(name)->known();
  if (!computed) return kNotTaken;
  Call call(node, node.opset, nullptr, std::move(inputs), &builder_);
  Rounds rounds;
  try {
    rounds = is_loop ? RoundsOfLoop(call) : RoundsOfScan(call);
  } catch (const Error&) {
    return kNotTaken;
  }
  Env given;
  if (!DescribeInputs(rounds, &given)) return kNotTaken;
  const auto& names = rounds.body->inputs;
  if (is_loop) {
    given[names[0].name] = Value();
    given[names[0].name].kind = Value::kTensor;
    given[names[0].name].type = TensorType(Shape(0), kInt64);
    given[names[1].name] = call.Scalar(1, kBool);
  }
  const auto body = BuildBody(node, *rounds.body, std::move(given));
  if (!body) return kNotTaken;
  for (size_t j = 0; j < rounds.states.size(); ++j)
    if (!(body->results[rounds.first_result + j].type == rounds.states[j].type)) return kNotTaken;
  if (!is_loop) return rounds.data[0].shape()[0] > 0 && MakeRounds(call, rounds, *body) ? kTaken : kNotTaken;

  if (call.has(0) && !call.in(0).known()) return Demand(node.inputs[0]) ? kAgain : kNotTaken;
  const int64_t most = call.has(0) ? call.Int(0) : INT64_MAX;
  if (most <= 0) return kNotTaken;
  const bool always = body->results[0].known() && IntsIn(body->results[0].array)[0] != 0;
  if (always && call.has(1) && !call.in(1).known() && Demand(node.inputs[1])) return kAgain;
  const bool starts = !call.has(1) || (call.in(1).known() && call.Int(1) != 0);
  if (!always || !starts) return MakeWhile(call, rounds, *body, most) ? kTaken : kNotTaken;
  if (most > kMostRounds) return kNotTaken;
  std::vector<int64_t> numbers(static_cast<size_t>(most));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i);
  rounds.data = {call.IntTensor(numbers)};
  return MakeRounds(call, rounds, *body) ? kTaken : kNotTaken;
}

/* States that the body changes; others go to `same`, by name. */
std::vector<size_t> StageBuilder::Changing(const Rounds& rounds, const Body& body, std::map<std::string, Value>* same) {
  std::vector<size_t> changing;
  for (size_t j = 0; j < rounds.states.size(); ++j) {
    const std::string& name = rounds.body->inputs[rounds.first_state + j].name;
    const std::string* result = body.NameOf(body.Result(rounds.first_result + j).node.get());
    if (result && *result == name)
      (*same)[name] = rounds.states[j];
    else
      changing.push_back(j);
  }
  return changing;
}

/* Writes the node of a loop over data. False: it is none. */
bool StageBuilder::MakeRounds(const Call& call, const Rounds& rounds, const Body& body) {
  const auto& names = rounds.body->inputs;
  const size_t num_states = rounds.states.size(), stacks = rounds.out_axes.size();
  std::map<std::string, Value> same;
  const std::vector<size_t> changing = Changing(rounds, body, &same);
  Symbol symbol;
  const auto add = [&](const NodeEntry& e) { symbol.outputs.push_back(Own(e, symbol.outputs)); };
  const auto reads_data = [&] {
    const std::vector<NodePtr> variables = symbol.ListInputs(Symbol::kAll);
    for (size_t k = 0; k < rounds.data.size(); ++k)
      if (body.PlaceOf(variables, names[rounds.first_data + k].name) >= 0) return true;
    return false;
  };
  for (size_t j : changing) add(body.Result(rounds.first_result + j));
  for (size_t k = 0; k < stacks; ++k) add(body.Result(rounds.first_result + num_states + k));
  const bool counts = !reads_data();  // then the slices are stacked, so that somebody reads them
  if (counts) add(body.Input(names[rounds.first_data].name));
  std::rotate(symbol.outputs.begin(), symbol.outputs.begin() + static_cast<ptrdiff_t>(changing.size()), symbol.outputs.end());

  const std::vector<NodePtr> variables = symbol.ListInputs(Symbol::kAll);
  std::vector<int64_t> data_at, state_at, order, remain;
  std::vector<Value> operands;
  for (size_t k = 0; k < rounds.data.size(); ++k) {
    const int64_t at = body.PlaceOf(variables, names[rounds.first_data + k].name);
    if (at < 0) continue;
    data_at.push_back(at);
    operands.push_back(rounds.data[k]);
  }
  for (size_t j : changing) {
    const int64_t at = body.PlaceOf(variables, names[rounds.first_state + j].name);
    if (at < 0) return false;  // written and never read
    order.push_back(static_cast<int64_t>(state_at.size()));
    state_at.push_back(at);
    operands.push_back(rounds.states[j]);
  }
  for (int64_t i = 0; i < static_cast<int64_t>(variables.size()); ++i) {
    if (std::count(data_at.begin(), data_at.end(), i) + std::count(state_at.begin(), state_at.end(), i) > 0) continue;
    remain.push_back(i);
    operands.push_back(Outside(body, variables[static_cast<size_t>(i)], same));
  }
  const size_t num_stacked = stacks + counts;
  const std::vector<Value> made = builder_.Holding(call, "_npx_foreach", operands, {symbol},
                                                   {{"num_outputs", std::to_string(num_stacked + changing.size())},
                                                    {"num_out_data", std::to_string(num_stacked)},
                                                    {"in_data_locs", Text(data_at)},
                                                    {"in_state_locs", Text(state_at)},
                                                    {"in_state_index", Text(order)},
                                                    {"remain_locs", Text(remain)}});
  if (made.empty()) return false;
  std::vector<Value> results = rounds.states;
  for (size_t c = 0; c < changing.size(); ++c) results[changing[c]] = made[num_stacked + c];
  for (size_t k = 0; k < stacks; ++k) {
    const Value stack = rounds.out_reversed[k] ? Reversed(call, made[k]) : made[k];
    results.push_back(MoveAxis(call, stack, 0, call.Axis(rounds.out_axes[k], stack.ndim())));
  }
  PutResults(call.node, results);
  return true;
}

void StageBuilder::PutResults(const NodeProto& node, const std::vector<Value>& results) {
  for (size_t i = 0; i < node.outputs.size() && i < results.size(); ++i)
    if (!node.outputs[i].empty()) values_[node.outputs[i]] = results[i];
}

/*
 * Writes the node of a loop that its body ends: whether it goes on is a state as others are, and so
 * is the number of the round. What is stacked has rows for `most` rounds; those that were made are
 * cut out where their number is known, when the plan has run.
 */
bool StageBuilder::MakeWhile(const Call& call, const Rounds& rounds, const Body& body, int64_t most) {
  const auto& names = rounds.body->inputs;
  const size_t num_states = rounds.states.size(), stacks = rounds.out_axes.size();
  for (size_t k = 0; k < stacks; ++k)
    if (body.results[1 + num_states + k].size() > kMostPadded / std::min(most, kMostPadded)) return false;
  const Value start = call.Reshape(call.has(1) ? call.in(1) : call.Scalar(1, kBool), Shape(0));
  if (start.dtype() != kBool || body.results[0].dtype() != kBool || body.results[0].size() != 1) return false;
  std::map<std::string, Value> same;
  const std::vector<size_t> changing = Changing(rounds, body, &same);
  Symbol symbol;
  const auto add = [&](const NodeEntry& e) { symbol.outputs.push_back(Own(e, symbol.outputs)); };
  for (size_t k = 0; k < stacks; ++k) add(body.Result(1 + num_states + k));
  const NodeEntry goes_on{MakeVariable("goes_on"), 0, 0};
  const NodeEntry truth = MakeOp("_npi_reshape", {body.Result(0)}, {{"newshape", "()"}});
  add(MakeOp("_npi_logical_and", {goes_on, truth}));
  add(MakeOp("_npi_add_scalar", {body.Input(names[0].name)}, {{"scalar", "1"}, {"is_int", "True"}}));
  for (size_t j : changing) add(body.Result(1 + j));

  std::vector<Value> operands = {start, call.Scalar(0, kInt64)};
  for (size_t j : changing) operands.push_back(rounds.states[j]);
  const std::vector<NodePtr> variables = symbol.ListInputs(Symbol::kAll);
  std::vector<int64_t> reads(variables.size(), -1), states;
  const auto state = [&](int64_t at) {
    if (at >= 0) reads[static_cast<size_t>(at)] = static_cast<int64_t>(states.size());
    states.push_back(at);
    return at >= 0;
  };
  state(std::find(variables.begin(), variables.end(), goes_on.node) - variables.begin());
  state(body.PlaceOf(variables, names[0].name));
  for (size_t j : changing)
    if (!state(body.PlaceOf(variables, names[2 + j].name))) return false;  // written and never read
  for (size_t i = 0; i < variables.size(); ++i) {
    if (reads[i] >= 0) continue;
    reads[i] = static_cast<int64_t>(operands.size());
    operands.push_back(Outside(body, variables[i], same));
  }
  Symbol condition;
  condition.outputs = {MakeOp("_copy", {NodeEntry{MakeVariable("goes_on"), 0, 0}})};
  const std::vector<Value> made = builder_.Holding(call, "_while_loop", operands, {condition, symbol},
                                                   {{"num_outputs", std::to_string(symbol.outputs.size())},
                                                    {"num_out_data", std::to_string(stacks)},
                                                    {"max_iterations", std::to_string(std::min<int64_t>(most, INT32_MAX))},
                                                    {"cond_input_locs", "(0,)"},
                                                    {"func_input_locs", Text(reads)},
                                                    {"func_var_locs", Text(states)}});
  if (made.empty()) return false;
  std::vector<Value> results = rounds.states;
  for (size_t c = 0; c < changing.size(); ++c) results[changing[c]] = made[stacks + 2 + c];
  PutResults(call.node, results);
  for (size_t k = 0; k < stacks; ++k) {
    if (!call.wants(static_cast<int>(num_states + k))) continue;
    const std::string& name = call.node.outputs[num_states + k];
    values_[name + "#rows"] = made[k];
    values_[name + "#zero"] = call.IntTensor({0});
    values_[name + "#count"] = call.Reshape(made[stacks + 1], Shape{1});
    stage_->made.emplace_back();
    NodeProto& cut = stage_->made.back();
    cut.op = "Slice";
    cut.opset = 13;
    cut.inputs = {name + "#rows", name + "#zero", name + "#count", name + "#zero"};
    cut.outputs = {name};
    todo_.push_front(&cut);
  }
  return true;
}

/* An If in a graph that must be a single one, whose branches give the same types. */
bool StageBuilder::MakeChoice(const NodeProto& node) {
  Call call(node, node.opset, nullptr, {*Lookup(node.inputs.at(0))}, &builder_);
  std::vector<Value> operands = {call.in(0)};
  std::vector<std::unique_ptr<Body>> bodies;
  std::vector<Symbol> graphs(1);
  std::vector<std::string> places;
  for (const char* name : {"then_branch", "else_branch"}) {
    const GraphProto* branch = call.GraphAttr(name);
    bodies.push_back(BuildBody(node, *branch, {}));
    if (!bodies.back()) return false;
    const Body& body = *bodies.back();
    graphs.emplace_back();
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (!(body.results[i].type == bodies[0]->results[i].type)) return false;
      graphs.back().outputs.push_back(Own(body.Result(i), graphs.back().outputs));
    }
    std::vector<int64_t> reads;
    for (const NodePtr& variable : graphs.back().ListInputs(Symbol::kAll)) {
      reads.push_back(static_cast<int64_t>(operands.size()));
      operands.push_back(Outside(body, variable, {}));
    }
    places.push_back(Text(reads));
  }
  graphs[0].outputs = {MakeOp("_copy", {NodeEntry{MakeVariable("condition"), 0, 0}})};
  const std::vector<Value> made = builder_.Holding(call, "_cond", operands, std::move(graphs),
                                                   {{"num_outputs", std::to_string(node.outputs.size())},
                                                    {"cond_input_locs", "(0,)"},
                                                    {"then_input_locs", places[0]},
                                                    {"else_input_locs", places[1]}});
  if (made.empty()) return false;
  PutResults(node, made);
  return true;
}

}  // namespace onnx
}  // namespace mxnet
