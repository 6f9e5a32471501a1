// Loops and branches as operators of the plan, where their graphs are single ones of fixed shapes.
#include <algorithm>

#include "mxnet/op.h"
#include "onnx/control/rounds.h"
#include "onnx/convert/make.h"
#include "onnx/rewrite/bags.h"

namespace mxnet {
namespace onnx {

namespace {

constexpr int64_t kMostRounds = 1 << 20, kMostElements = 1 << 12;  // elements of a sequence
constexpr int64_t kMostPadded = 1 << 22;                           // numbers of results that may be given back

Value Reversed(const Call& call, const Value& x) { return call.Op("_npi_flip", {x}, {{"axis", "(0,)"}}); }

std::vector<int64_t> AxesMoved(int rank, int from, int to) {
  std::vector<int64_t> axes;
  for (int a = 0; a < rank; ++a)
    if (a != from) axes.push_back(a);
  axes.insert(axes.begin() + to, from);
  return axes;
}

/* `x` with one of its axes elsewhere. */
Value MoveAxis(const Call& call, const Value& x, int from, int to) { return call.Transpose(x, AxesMoved(x.ndim(), from, to)); }

Rounds RoundsOfScan(const Call& call) {
  const ScanSpec spec = ReadScan(call);
  Rounds rounds;
  rounds.body = call.GraphAttr("body");
  const auto& inputs = rounds.body->inputs;
  const auto& outputs = rounds.body->outputs;
  for (size_t j = 0; j < spec.num_state; ++j)
    rounds.states.push_back({call.in(static_cast<int>(j)), inputs[j].name, outputs[j].name, static_cast<int>(j)});
  for (size_t k = 0; k < spec.num_scan; ++k) {
    const Value& x = call.in(static_cast<int>(spec.num_state + k));
    const Value moved = MoveAxis(call, x, call.Axis(spec.in_axes[k], x.ndim()), 0);
    rounds.data.push_back({spec.in_directions[k] ? Reversed(call, moved) : moved, inputs[spec.num_state + k].name});
  }
  for (size_t k = 0; k < spec.num_out; ++k)
    rounds.stacks.push_back({RoundsStack::kRows, outputs[spec.num_state + k].name, static_cast<int>(spec.num_state + k),
                             static_cast<int>(spec.out_axes[k]), spec.out_directions[k] != 0, Value()});
  return rounds;
}

/* Without the numbers of the rounds. */
Rounds RoundsOfLoop(const Call& call) {
  Rounds rounds;
  rounds.body = call.GraphAttr("body");
  const size_t carried = static_cast<size_t>(std::max(call.num_inputs() - 2, 0));
  if (!rounds.body || rounds.body->inputs.size() != carried + 2 || rounds.body->outputs.size() < carried + 1) call.Refuse("another body");
  const auto& outputs = rounds.body->outputs;
  for (size_t j = 0; j < carried; ++j)
    rounds.states.push_back({call.inputs()[j + 2], rounds.body->inputs[j + 2].name, outputs[j + 1].name, static_cast<int>(j)});
  for (size_t k = carried + 1; k < outputs.size(); ++k)
    rounds.stacks.push_back({RoundsStack::kRows, outputs[k].name, static_cast<int>(k) - 1, 0, false, Value()});
  return rounds;
}

/* Can rows of that type be appended? */
bool Fits(const RoundsStack& stack, const TensorType& row) {
  if (stack.kind != RoundsStack::kConcat) return true;
  const Shape& s = stack.before.shape();
  bool fits = row.dtype == stack.before.dtype() && row.shape.ndim() == s.ndim();
  for (int a = 0; fits && a < s.ndim(); ++a) fits = a == stack.axis || s[a] == row.shape[a];
  return fits;
}

/* As the graph's results must be: each made by a node of it, and once. */
NodeEntry Own(const NodeEntry& entry, const std::vector<NodeEntry>& others) {
  const bool twice =
      std::any_of(others.begin(), others.end(), [&](const NodeEntry& e) { return e.node == entry.node && e.index == entry.index; });
  return entry.node->is_variable() || twice ? MakeOp("_copy", {entry}) : entry;
}

}  // namespace

/* What the body's graph is made of. */
struct StageBuilder::Body {
  Pending pending;
  Env env;
  std::unique_ptr<StageBuilder> builder;

  GraphBuilder* graph() const { return &builder->builder_; }
  /* An input of the body, or a result. */
  const Value& ValueOf(const std::string& name) const { return *builder->Lookup(name); }
  NodeEntry EntryOf(const std::string& name) const { return graph()->EntryOf(ValueOf(name)); }
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

/* Converts a graph of a node for types of its inputs, to make `results`. Null: it is no single
 * graph. */
std::unique_ptr<StageBuilder::Body> StageBuilder::BuildBody(const NodeProto& node, const GraphProto& graph, Env given,
                                                            const std::vector<const NodeProto*>& left_out,
                                                            const std::vector<std::string>& results) {
  Runner* runner = session_->RunnerOf(&graph);
  auto body = std::make_unique<Body>();
  for (const NodeProto* n : runner->nodes_)
    if (std::find(left_out.begin(), left_out.end(), n) == left_out.end()) body->pending.nodes.push_back(n);
  body->pending.needed = runner->root_.needed;
  body->env = std::move(given);
  for (const std::string& name : node.captured) {
    Value v = *Lookup(name);
    if (body->env.count(name)) continue;
    if (v.kind == Value::kSequence) return nullptr;
    v.entry = NodeEntry();
    body->env[name] = v;
  }
  for (const auto& kv : body->env)
    if (kv.second.known()) body->pending.fixed.insert(kv.first);
  body->builder.reset(new StageBuilder(runner, &body->pending, body->env, true));
  body->graph()->SetWidens(builder_.widens());
  body->builder->reduces_ = reduces_;
  body->graph()->TellTo(builder_.learning());  // its constants become this graph's
  try {
    body->builder->ConvertAll();
  } catch (const Error&) {  // what is wrong with it is said when it runs on arrays
    return nullptr;
  }
  for (const std::string& name : results) {
    const Value* value = body->builder->Lookup(name);
    if (!value || !IsTensor(*value)) return nullptr;
  }
  return body;
}

/* What an input of the body's graph is outside: `same` has the body's own inputs that stay as they
 * are. */
Value StageBuilder::Outside(const Body& body, const NodePtr& variable, const std::map<std::string, Value>& same) {
  const std::string* name = body.NameOf(variable.get());
  const auto reduced = body.builder->reduced_.find(variable.get());
  if (reduced != body.builder->reduced_.end()) return Value(reduced->second);
  if (!name) return Value(body.graph()->constants().at(variable.get()));
  const auto own = same.find(*name);
  return own != same.end() ? own->second : *Lookup(*name);
}

/* The types of the body's inputs; false: some are not known. */
static bool DescribeInputs(const Call& call, const Rounds& rounds, Env* into) {
  const auto put = [&](const std::string& name, const TensorType& type) {
    Value& v = (*into)[name];
    v.kind = Value::kTensor;
    v.type = type;
  };
  for (const auto& state : rounds.states) {
    if (!IsTensor(state.value)) return false;
    put(state.name, state.value.type);
  }
  for (const auto& data : rounds.data) {
    const Shape& shape = data.value.shape();
    if (shape[0] != rounds.data[0].value.shape()[0]) return false;
    put(data.name, TensorType(Shape(shape.dims() + 1, shape.ndim() - 1), data.value.dtype()));
  }
  for (const auto& read : rounds.reads) {
    put(read.name, (*read.value.elements)[0].type);
    (*into)[read.sequence] = Value();  // nothing else reads it
  }
  if (call.node.op == "Loop") {
    put(rounds.body->inputs[0].name, TensorType(Shape(0), kInt64));
    (*into)[rounds.body->inputs[1].name] = call.Scalar(1, kBool);
  }
  return true;
}

/*
 * Scan and Loop: one operator, if the body is a single graph and states keep their shapes. Others
 * run round by round on arrays.
 */
StageBuilder::Taken StageBuilder::TakeLoop(const NodeProto& node) {
  const bool is_loop = node.op == "Loop";
  if (!(is_loop || (node.op == "Scan" && node.opset >= 9))) return kNotTaken;
  std::vector<Value> inputs;
  bool computed = whole_;
  for (const std::string& name : node.inputs) inputs.push_back(name.empty() ? Value() : *Lookup(name));
  for (const Value& v : inputs) computed = computed || (v.kind == Value::kTensor && !v.known());
  for (const std::string& name : node.captured) computed = computed || !Lookup(name)->known();
  if (!computed) return kNotTaken;
  Call call(node, node.opset, nullptr, std::move(inputs), &builder_);
  if (is_loop && whole_) {  // on arrays, rounds take less memory
    if (const auto bags = BagsOf(call, [&](const std::string& name) { return Lookup(name); })) {
      for (size_t i = 0; i < bags->size(); ++i) PutResult(call, static_cast<int>(i), (*bags)[i]);
      return kTaken;
    }
  }
  Rounds rounds;
  try {
    rounds = is_loop ? RoundsOfLoop(call) : RoundsOfScan(call);
  } catch (const Error&) {
    return kNotTaken;
  }
  if (is_loop) {
    const auto& nodes = session_->RunnerOf(rounds.body)->nodes_;
    TakeAppends(call, nodes, &rounds);
    for (const std::string& name : node.captured)
      if (Lookup(name)->kind == Value::kSequence) TakeReads(name, *Lookup(name), nodes, &rounds);
  }
  Env given;
  if (!DescribeInputs(call, rounds, &given)) return kNotTaken;
  std::vector<std::string> results;
  if (is_loop) results.push_back(rounds.body->outputs[0].name);
  for (const auto& state : rounds.states) results.push_back(state.next);
  for (const auto& stack : rounds.stacks) results.push_back(stack.name);
  const auto body = BuildBody(node, *rounds.body, std::move(given), rounds.left_out, results);
  if (!body) return kNotTaken;
  for (const auto& state : rounds.states)
    if (!(body->ValueOf(state.next).type == state.value.type)) return kNotTaken;
  for (const auto& stack : rounds.stacks)
    if (!Fits(stack, body->ValueOf(stack.name).type)) return kNotTaken;
  return is_loop ? TakeRounds(call, &rounds, *body) : MakeRounds(call, rounds, *body) ? kTaken : kNotTaken;
}

/* The first `count` elements of a sequence, side by side. */
Value StageBuilder::RowsOf(const Call& call, const std::string& name, const Value& sequence, int64_t count) {
  const auto& elements = *sequence.elements;
  const auto size = static_cast<int64_t>(elements.size());
  const auto maker = std::find_if(pending_->nodes.begin(), pending_->nodes.end(), [&](const NodeProto* n) {
    return n->domain.empty() && n->op == "SplitToSequence" && n->outputs[0] == name;
  });
  const Value* whole = maker != pending_->nodes.end() ? Lookup((*maker)->inputs[0]) : nullptr;
  Value rows;
  if (whole) {  // then the elements need not be made
    const int axis = call.Axis(Call(**maker, (*maker)->opset, nullptr, {}, &builder_).Attr("axis", int64_t{0}), whole->ndim());
    if (whole->shape()[axis] == size) rows = MoveAxis(call, *whole, axis, 0);
  }
  std::vector<int64_t> dims(elements[0].shape().begin(), elements[0].shape().end());
  dims.insert(dims.begin(), size);
  rows = rows.kind == Value::kNone ? call.Op("_npi_stack", elements, {{"axis", "0"}, {"num_args", Text(size)}})
                                   : call.Reshape(rows, Shape(dims));
  return count < size ? SliceAxis(call, rows, 0, 0, count) : rows;
}

/* A Loop, when its body has been converted. */
StageBuilder::Taken StageBuilder::TakeRounds(const Call& call, Rounds* rounds, const Body& body) {
  const bool open = call.has(0) && !call.in(0).known();
  const bool reads = !rounds->reads.empty();
  if (open && rounds->stacks.empty() && !reads) return MakeWhile(call, *rounds, body, INT64_MAX) ? kTaken : kNotTaken;
  if (open) return Demand(call.node.inputs[0]) ? kAgain : kNotTaken;
  const int64_t most = call.has(0) ? call.Int(0) : INT64_MAX;
  if (most <= 0 || (call.has(1) && call.in(1).known() && call.Int(1) == 0)) {
    MakeNone(call, *rounds, body);
    return kTaken;
  }
  const Value& goes_on = body.ValueOf(rounds->body->outputs[0].name);
  const bool always = goes_on.known() && IntsIn(goes_on.array)[0] != 0;
  if (always && call.has(1) && !call.in(1).known() && Demand(call.node.inputs[1])) return kAgain;
  const bool starts = !call.has(1) || (call.in(1).known() && call.Int(1) != 0);
  Env last;
  const int64_t count = !starts ? -1 : always ? most : CountRounds(call, *rounds->body, most, &last);
  if (count < 0) return !reads && MakeWhile(call, *rounds, body, most) ? kTaken : kNotTaken;
  if (count > kMostRounds) return kNotTaken;
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i);
  rounds->data = {{call.IntTensor(numbers), rounds->body->inputs[0].name}};
  for (const auto& read : rounds->reads) {
    if (static_cast<int64_t>(read.value.elements->size()) < count) return kNotTaken;  // an error, in its round
    rounds->data.push_back({RowsOf(call, read.sequence, read.value, count), read.name});
  }
  if (!MakeRounds(call, *rounds, body)) return kNotTaken;
  for (const auto& state : rounds->states) {  // shapes may follow from those that count
    const auto known = last.find(state.name);
    if (known != last.end() && known->second.known()) PutResult(call, state.output, known->second);
  }
  return kTaken;
}

/* States that the body changes; others go to `same`, by name, and are results as they are. */
std::vector<const RoundsState*> StageBuilder::Changing(const Call& call, const Rounds& rounds, const Body& body,
                                                       std::map<std::string, Value>* same) {
  std::vector<const RoundsState*> changing;
  for (const auto& state : rounds.states) {
    const std::string* result = body.NameOf(body.EntryOf(state.next).node.get());
    if (result && *result == state.name) {
      (*same)[state.name] = state.value;
      PutResult(call, state.output, state.value);
    } else {
      changing.push_back(&state);
    }
  }
  return changing;
}

/* The next states. Loops give those that nobody reads only when they have read them: where `yes`,
 * which is true in each round. */
void StageBuilder::AddStates(const Body& body, const std::vector<const RoundsState*>& states, const NodeEntry& yes, Symbol* symbol) {
  Symbol all = *symbol;
  for (const auto* state : states) all.outputs.push_back(body.EntryOf(state->next));
  const std::vector<NodePtr> read = all.ListInputs(Symbol::kAll);
  for (const auto* state : states) {
    NodeEntry next = body.EntryOf(state->next);
    if (body.PlaceOf(read, state->name) < 0) next = MakeOp("_npi_where", {yes, next, body.EntryOf(state->name)});
    symbol->outputs.push_back(Own(next, symbol->outputs));
  }
}

void StageBuilder::PutResult(const Call& call, int output, const Value& value) {
  if (call.wants(output)) values_[call.node.outputs[static_cast<size_t>(output)]] = value;
}

/* All rows of a loop whose number of rounds is known. */
static Value Stacked(const Call& call, const RoundsStack& stack, const Value& made) {
  const int64_t count = made.shape()[0];
  if (stack.kind == RoundsStack::kRows) {
    const Value rows = stack.reversed ? Reversed(call, made) : made;
    return MoveAxis(call, rows, 0, call.Axis(stack.axis, rows.ndim()));
  }
  if (stack.kind == RoundsStack::kConcat) {
    Shape all(made.shape().dims() + 1, made.ndim() - 1);
    all[stack.axis] *= count;
    const Value rows = call.Reshape(MoveAxis(call, made, 0, stack.axis), all);
    return Concat(call, {stack.before, rows}, stack.axis);
  }
  Value sequence = stack.before;
  auto elements = std::make_shared<std::vector<Value>>(*sequence.elements);
  const std::vector<Value> rows =
      count == 1 ? std::vector<Value>{call.Reshape(made, Shape(made.shape().dims() + 1, made.ndim() - 1))}
                 : call.Ops("SliceChannel", {made}, {{"axis", "0"}, {"num_outputs", Text(count)}, {"squeeze_axis", "True"}});
  elements->insert(elements->end(), rows.begin(), rows.end());
  sequence.elements = elements;
  sequence.element_dtype = made.dtype();
  return sequence;
}

/* What a loop without rounds gives: its states, and no rows of the types that a round would
 * give. */
void StageBuilder::MakeNone(const Call& call, const Rounds& rounds, const Body& body) {
  for (const auto& state : rounds.states) PutResult(call, state.output, state.value);
  for (const auto& stack : rounds.stacks) {
    if (stack.kind != RoundsStack::kRows) {
      PutResult(call, stack.output, stack.before);
      continue;
    }
    const TensorType& row = body.ValueOf(stack.name).type;
    std::vector<int64_t> dims(row.shape.begin(), row.shape.end());
    dims.insert(dims.begin() + call.Axis(stack.axis, row.shape.ndim() + 1), 0);
    PutResult(call, stack.output, call.Filled(Shape(dims), row.dtype, 0));
  }
}

/* Writes the node of a loop over data. False: it is none. */
bool StageBuilder::MakeRounds(const Call& call, const Rounds& rounds, const Body& body) {
  const int64_t length = rounds.data[0].value.shape()[0];
  if (length == 0) {
    MakeNone(call, rounds, body);
    return true;
  }
  for (const auto& stack : rounds.stacks)
    if (stack.kind == RoundsStack::kSequence && length > kMostElements) return false;
  std::map<std::string, Value> same;
  const auto changing = Changing(call, rounds, body, &same);
  Symbol symbol;
  const auto add = [&](const std::string& name) { symbol.outputs.push_back(Own(body.EntryOf(name), symbol.outputs)); };
  for (const auto& stack : rounds.stacks) add(stack.name);
  const NodeEntry yes{MakeVariable("yes"), 0, 0};
  AddStates(body, changing, yes, &symbol);
  const auto read = symbol.ListInputs(Symbol::kAll);
  const bool counts = std::none_of(rounds.data.begin(), rounds.data.end(), [&](const auto& d) { return body.PlaceOf(read, d.name) >= 0; });
  if (counts) {  // then slices are stacked, so that somebody reads them
    const NodeEntry slice = Own(body.EntryOf(rounds.data[0].name), {});
    symbol.outputs.insert(symbol.outputs.begin() + static_cast<ptrdiff_t>(rounds.stacks.size()), slice);
  }

  body.builder->ReducePrecision(&symbol, {{yes.node.get(), TensorType(Shape(0), kBool)}});
  const std::vector<NodePtr> variables = symbol.ListInputs(Symbol::kAll);
  std::vector<int64_t> data_at, state_at, order, remain;
  std::vector<Value> operands;
  for (const auto& data : rounds.data) {
    const int64_t at = body.PlaceOf(variables, data.name);
    if (at < 0) continue;
    data_at.push_back(at);
    operands.push_back(data.value);
  }
  for (const auto* state : changing) {
    order.push_back(static_cast<int64_t>(state_at.size()));
    state_at.push_back(body.PlaceOf(variables, state->name));
    operands.push_back(state->value);
  }
  for (int64_t i = 0; i < static_cast<int64_t>(variables.size()); ++i) {
    if (std::count(data_at.begin(), data_at.end(), i) + std::count(state_at.begin(), state_at.end(), i) > 0) continue;
    remain.push_back(i);
    const NodePtr& variable = variables[static_cast<size_t>(i)];
    operands.push_back(variable == yes.node ? call.Scalar(1, kBool) : Outside(body, variable, same));
  }
  const size_t num_stacked = rounds.stacks.size() + counts;
  const std::vector<Value> made = builder_.Holding(call, "_npx_foreach", operands, {symbol},
                                                   {{"num_outputs", std::to_string(num_stacked + changing.size())},
                                                    {"num_out_data", std::to_string(num_stacked)},
                                                    {"in_data_locs", Text(data_at)},
                                                    {"in_state_locs", Text(state_at)},
                                                    {"in_state_index", Text(order)},
                                                    {"remain_locs", Text(remain)}});
  if (made.empty()) return false;
  for (size_t c = 0; c < changing.size(); ++c) PutResult(call, changing[c]->output, made[num_stacked + c]);
  for (size_t k = 0; k < rounds.stacks.size(); ++k)
    if (call.wants(rounds.stacks[k].output)) PutResult(call, rounds.stacks[k].output, Stacked(call, rounds.stacks[k], made[k]));
  return true;
}

/* Nodes that make what the loop gives of `made`, the first `count` of whose rows there are. */
void StageBuilder::CutRows(const Call& call, const RoundsStack& stack, const Value& made, const Value& count) {
  if (!call.wants(stack.output)) return;
  const std::string& name = call.node.outputs[static_cast<size_t>(stack.output)];
  const auto known = [&](const char* what, const Value& value) { return values_[name + what] = value, name + what; };
  const std::string zero = known("#zero", call.IntTensor({0}));
  std::vector<const NodeProto*> nodes;
  const auto add = [&](const char* op, std::vector<std::string> inputs, const std::string& output, const char* attribute,
                       std::vector<int64_t> ints) {
    stage_->made.emplace_back();
    NodeProto& node = stage_->made.back();
    node.of_stage = true;
    node.op = op, node.opset = 13, node.inputs = std::move(inputs), node.outputs = {output};
    if (attribute) {
      node.attributes.emplace_back();
      Attribute& a = node.attributes.back();
      a.name = attribute;
      a.kind = std::string(op) == "Transpose" ? AttributeKind::kInts : AttributeKind::kInt;
      a.i = ints[0], a.ints = std::move(ints);
    }
    nodes.push_back(&node);
  };
  const bool alone = stack.kind == RoundsStack::kRows;
  add("Slice", {known("#rows", made), zero, known("#count", call.Reshape(count, Shape{1})), zero}, alone ? name : name + "#cut", nullptr,
      {});
  if (stack.kind == RoundsStack::kSequence) {
    add("SplitToSequence", {name + "#cut"}, name, "keepdims", {0});
  } else if (stack.kind == RoundsStack::kConcat) {
    std::vector<int64_t> all(made.shape().begin() + 1, made.shape().end());
    all[static_cast<size_t>(stack.axis)] = -1;
    add("Transpose", {name + "#cut"}, name + "#moved", "perm", AxesMoved(made.ndim(), 0, stack.axis));
    add("Reshape", {name + "#moved", known("#all", call.IntTensor(all))}, name + "#joined", nullptr, {});
    add("Concat", {known("#before", stack.before), name + "#joined"}, name, "axis", {stack.axis});
  }
  todo_.insert(todo_.begin(), nodes.begin(), nodes.end());
}

/*
 * Writes the node of a loop that its body ends, or the number of rounds, which is not known then:
 * whether it goes on is a state as others are, and so is the number of the round. What is stacked
 * has rows for `most` rounds; those that were made are cut out where their number is known, when
 * the plan has run.
 */
bool StageBuilder::MakeWhile(const Call& call, const Rounds& rounds, const Body& body, int64_t most) {
  // What learns keeps its floats in each round, in memory for all rounds that there may be. A block
  // of parts keeps what was made.
  const bool learns = learning_ || session_->options().learns;
  for (const auto& state : rounds.states)
    if (learns && IsFloating(state.value.dtype()) && state.value.size() > kMostPadded / std::min(most, kMostPadded)) return false;
  for (const auto& stack : rounds.stacks)
    if (body.ValueOf(stack.name).size() > kMostPadded / std::min(most, kMostPadded) ||
        (stack.kind == RoundsStack::kSequence && !stack.before.elements->empty()))
      return false;
  const std::string &step = rounds.body->inputs[0].name, &last = rounds.body->outputs[0].name;
  Value start = call.Reshape(call.has(1) ? call.in(1) : call.Scalar(1, kBool), Shape(0)), most_rounds;
  if (call.has(0) && !call.in(0).known()) {
    most_rounds = call.Reshape(call.Cast(call.in(0), kInt64), Shape(0));
    start = Binary(call, "logical_and", start, BinaryNumber(call, "greater", most_rounds, 0));
  }
  if (start.dtype() != kBool || body.ValueOf(last).dtype() != kBool || body.ValueOf(last).size() != 1) return false;
  std::map<std::string, Value> same;
  const auto changing = Changing(call, rounds, body, &same);
  Symbol symbol;
  const auto add = [&](const NodeEntry& e) { symbol.outputs.push_back(Own(e, symbol.outputs)); };
  for (const auto& stack : rounds.stacks) add(body.EntryOf(stack.name));
  const NodeEntry goes_on{MakeVariable("goes_on"), 0, 0};
  const NodeEntry next = MakeOp("_npi_add_scalar", {body.EntryOf(step)}, {{"scalar", "1"}, {"is_int", "True"}});
  const NodeEntry all_rounds{MakeVariable("rounds"), 0, 0};
  NodeEntry truth = MakeOp("_npi_logical_and", {goes_on, MakeOp("_npi_reshape", {body.EntryOf(last)}, {{"newshape", "()"}})});
  if (most_rounds.kind != Value::kNone) truth = MakeOp("_npi_logical_and", {truth, MakeOp("_npi_less", {next, all_rounds})});
  add(truth);
  add(next);
  AddStates(body, changing, goes_on, &symbol);

  body.builder->ReducePrecision(&symbol, {{goes_on.node.get(), start.type}, {all_rounds.node.get(), TensorType(Shape(0), kInt64)}});
  std::vector<Value> operands = {start, call.Scalar(0, kInt64)};
  for (const auto* state : changing) operands.push_back(state->value);
  const std::vector<NodePtr> variables = symbol.ListInputs(Symbol::kAll);
  std::vector<int64_t> states = {std::find(variables.begin(), variables.end(), goes_on.node) - variables.begin(),
                                 body.PlaceOf(variables, step)};
  for (const auto* state : changing) states.push_back(body.PlaceOf(variables, state->name));
  std::vector<int64_t> reads(variables.size(), -1);
  for (size_t j = 0; j < states.size(); ++j) reads[static_cast<size_t>(states[j])] = static_cast<int64_t>(j);
  for (size_t i = 0; i < variables.size(); ++i) {
    if (reads[i] >= 0) continue;
    reads[i] = static_cast<int64_t>(operands.size());
    operands.push_back(variables[i] == all_rounds.node ? most_rounds : Outside(body, variables[i], same));
  }
  Symbol condition;
  condition.outputs = {MakeOp("_copy", {NodeEntry{MakeVariable("goes_on"), 0, 0}})};
  const size_t stacks = rounds.stacks.size();
  const std::vector<Value> made = builder_.Holding(call, "_while_loop", operands, {condition, symbol},
                                                   {{"num_outputs", std::to_string(symbol.outputs.size())},
                                                    {"num_out_data", std::to_string(stacks)},
                                                    {"max_iterations", std::to_string(std::min<int64_t>(most, INT32_MAX))},
                                                    {"cond_input_locs", "(0,)"},
                                                    {"func_input_locs", Text(reads)},
                                                    {"func_var_locs", Text(states)}});
  if (made.empty()) return false;
  for (size_t c = 0; c < changing.size(); ++c) PutResult(call, changing[c]->output, made[stacks + 2 + c]);
  for (size_t k = 0; k < stacks; ++k) CutRows(call, rounds.stacks[k], made[k], made[stacks + 1]);
  return true;
}

/* An If in a graph that must be a single one, whose branches give the same types. */
bool StageBuilder::MakeChoice(const NodeProto& node) {
  Call call(node, node.opset, nullptr, {*Lookup(node.inputs.at(0))}, &builder_);
  std::vector<Value> operands = {call.in(0)};
  std::vector<std::unique_ptr<Body>> bodies;
  std::vector<Symbol> graphs(1);
  std::vector<std::string> places;
  TensorTypes types;
  for (const char* name : {"then_branch", "else_branch"}) {
    const GraphProto* branch = call.GraphAttr(name);
    std::vector<std::string> results;
    for (size_t i = 0; i < node.outputs.size(); ++i) results.push_back(branch->outputs[i].name);
    bodies.push_back(BuildBody(node, *branch, {}, {}, results));
    if (!bodies.back()) return false;
    const Body& body = *bodies.back();
    graphs.emplace_back();
    for (size_t i = 0; i < results.size(); ++i) {
      const TensorType& type = body.ValueOf(results[i]).type;
      if (bodies.size() == 1) types.push_back(type);
      if (!(type == types[i])) return false;
      graphs.back().outputs.push_back(Own(body.EntryOf(results[i]), graphs.back().outputs));
    }
    bodies.back()->builder->ReducePrecision(&graphs.back());
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
  for (size_t i = 0; i < node.outputs.size(); ++i) PutResult(call, static_cast<int>(i), made[i]);
  return true;
}

}  // namespace onnx
}  // namespace mxnet
