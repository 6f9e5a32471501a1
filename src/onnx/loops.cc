// Loops as one operator of the plan: Scan, and Loop where the number of rounds is known.
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
  const bool twice = std::any_of(others.begin(), others.end(), [&](const NodeEntry& e) { return e.node == entry.node && e.index == entry.index; });
  return entry.node->is_variable() || twice ? MakeOp("_copy", {entry}) : entry;
}

}  // namespace

/* The body's results, and what its graph is made of. */
struct StageBuilder::Body {
  Pending pending;
  Env env;
  std::unique_ptr<StageBuilder> builder;
  std::vector<Value> results;
};

/* Converts a loop's body for types of its inputs. Null: it is no single graph. */
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
  body->builder->builder_.SetWidens(builder_.widens());
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

/*
 * Scan, and Loop with a known number of rounds: one operator, if the body is a single graph and
 * states keep their shapes. Others run round by round on arrays.
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
  Env given;
  try {
    rounds = is_loop ? RoundsOfLoop(call) : RoundsOfScan(call);
  } catch (const Error&) {
    return kNotTaken;
  }
  const auto& names = rounds.body->inputs;
  const auto put = [&](size_t i, const TensorType& type) {
    Value& v = given[names[i].name];
    v.kind = Value::kTensor;
    v.type = type;
  };
  for (size_t j = 0; j < rounds.states.size(); ++j) {
    if (!IsTensor(rounds.states[j])) return kNotTaken;
    put(rounds.first_state + j, rounds.states[j].type);
  }
  for (size_t k = 0; k < rounds.data.size(); ++k) {
    const Shape& shape = rounds.data[k].shape();
    if (shape[0] != rounds.data[0].shape()[0]) return kNotTaken;
    put(rounds.first_data + k, TensorType(Shape(shape.dims() + 1, shape.ndim() - 1), rounds.data[k].dtype()));
  }
  if (is_loop) {
    put(0, TensorType(Shape(0), kInt64));
    given[names[1].name] = call.Scalar(1, kBool);
  }
  const auto body = BuildBody(node, *rounds.body, std::move(given));
  if (!body) return kNotTaken;
  for (size_t j = 0; j < rounds.states.size(); ++j)
    if (!(body->results[rounds.first_result + j].type == rounds.states[j].type)) return kNotTaken;
  if (is_loop) {
    if (!body->results[0].known() || IntsIn(body->results[0].array)[0] == 0 || !call.has(0)) return kNotTaken;
    for (int i = 0; i < 2; ++i) {
      if (!call.has(i) || call.in(i).known()) continue;
      return Demand(node.inputs[static_cast<size_t>(i)]) ? kAgain : kNotTaken;
    }
    if (call.has(1) && call.Int(1) == 0) return kNotTaken;
    std::vector<int64_t> numbers(static_cast<size_t>(std::clamp<int64_t>(call.Int(0), 0, kMostRounds + 1)));
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i);
    rounds.data = {call.IntTensor(numbers)};
  }
  const int64_t length = rounds.data[0].shape()[0];
  if (length == 0 || length > kMostRounds) return kNotTaken;
  return MakeRounds(call, rounds, *body) ? kTaken : kNotTaken;
}

/* Writes the node. False: the record does not take it. */
bool StageBuilder::MakeRounds(const Call& call, const Rounds& rounds, const Body& body) {
  StageBuilder& inner = *body.builder;
  const auto& names = rounds.body->inputs;
  const size_t num_states = rounds.states.size();
  const size_t num_stacks = rounds.out_axes.size();
  std::map<std::string, Value> outer;       // what stays the same: by name
  std::vector<NodeEntry> graph_results, next;
  std::vector<int> changing;                // states
  for (size_t k = 0; k < num_stacks; ++k)
    graph_results.push_back(Own(inner.builder_.EntryOf(body.results[rounds.first_result + num_states + k]), graph_results));
  for (size_t j = 0; j < num_states; ++j) {
    const NodeEntry entry = inner.builder_.EntryOf(body.results[rounds.first_result + j]);
    const std::string& name = names[rounds.first_state + j].name;
    const auto variable = inner.variables_.find(entry.node.get());
    if (variable != inner.variables_.end() && variable->second.name == name) {
      outer[name] = rounds.states[j];
      continue;
    }
    changing.push_back(static_cast<int>(j));
    next.push_back(entry);
  }
  for (const NodeEntry& e : next) graph_results.push_back(Own(e, graph_results));

  // Inputs of the graph that are slices; there must be one.
  const auto find = [&](const std::vector<NodePtr>& of, const std::string& name) {
    for (size_t i = 0; i < of.size(); ++i) {
      const auto v = inner.variables_.find(of[i].get());
      if (v != inner.variables_.end() && v->second.name == name) return static_cast<int64_t>(i);
    }
    return int64_t{-1};
  };
  Symbol symbol;
  symbol.outputs = graph_results;
  const bool reads = [&] {
    for (size_t k = 0; k < rounds.data.size(); ++k)
      if (find(symbol.ListInputs(Symbol::kAll), names[rounds.first_data + k].name) >= 0) return true;
    return false;
  }();
  if (!reads) {
    const Value* slice = inner.Lookup(names[rounds.first_data].name);
    symbol.outputs.insert(symbol.outputs.begin() + static_cast<ptrdiff_t>(num_stacks), Own(inner.builder_.EntryOf(*slice), {}));
  }
  const std::vector<NodePtr> variables = symbol.ListInputs(Symbol::kAll);
  std::vector<int64_t> data_at, state_at, state_index, remain;
  std::vector<Value> operands;
  std::vector<char> used(variables.size(), 0);
  for (size_t k = 0; k < rounds.data.size(); ++k) {
    const int64_t at = find(variables, names[rounds.first_data + k].name);
    if (at < 0) continue;
    data_at.push_back(at);
    operands.push_back(rounds.data[k]);
  }
  for (size_t c = 0; c < changing.size(); ++c) {
    const size_t j = static_cast<size_t>(changing[c]);
    const int64_t at = find(variables, names[rounds.first_state + j].name);
    if (at < 0) return false;  // a state that is written and never read
    state_at.push_back(at);
    state_index.push_back(static_cast<int64_t>(c));
    operands.push_back(rounds.states[j]);
  }
  for (int64_t at : data_at) used[static_cast<size_t>(at)] = 1;
  for (int64_t at : state_at) used[static_cast<size_t>(at)] = 1;
  for (size_t i = 0; i < variables.size(); ++i) {
    if (used[i]) continue;
    remain.push_back(static_cast<int64_t>(i));
    const auto v = inner.variables_.find(variables[i].get());
    if (v == inner.variables_.end()) {
      operands.emplace_back(inner.builder_.constants().at(variables[i].get()));
      continue;
    }
    const auto same = outer.find(v->second.name);
    operands.push_back(same != outer.end() ? same->second : *Lookup(v->second.name));
  }
  const std::vector<Value> made = builder_.Holding(
      call, "_npx_foreach", operands, std::move(symbol),
      {{"num_outputs", std::to_string(num_stacks + !reads + changing.size())},
       {"num_out_data", std::to_string(num_stacks + !reads)},
       {"in_data_locs", Text(data_at)},
       {"in_state_locs", Text(state_at)},
       {"in_state_index", Text(state_index)},
       {"remain_locs", Text(remain)}});
  if (made.empty()) return false;
  std::vector<Value> results = rounds.states;
  for (size_t c = 0; c < changing.size(); ++c) results[static_cast<size_t>(changing[c])] = made[num_stacks + !reads + c];
  for (size_t k = 0; k < num_stacks; ++k) {
    const Value stack = rounds.out_reversed[k] ? Reversed(call, made[k]) : made[k];
    results.push_back(MoveAxis(call, stack, 0, call.Axis(rounds.out_axes[k], stack.ndim())));
  }
  for (size_t i = 0; i < call.node.outputs.size() && i < results.size(); ++i)
    if (!call.node.outputs[i].empty()) values_[call.node.outputs[i]] = results[i];
  return true;
}

}  // namespace onnx
}  // namespace mxnet
