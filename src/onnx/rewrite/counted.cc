// How many rounds a Loop has whose condition counts: TensorFlow's loops compare a state with a
// number, which says as much as a trip count.
#include <algorithm>
#include <set>

#include "onnx/run/stage.h"

namespace mxnet {
namespace onnx {

namespace {

constexpr int64_t kMostCounted = 4096;  // rounds, each of which is made anew

/* A Loop's body, as far as its condition goes: also through states of earlier rounds. */
struct Condition {
  std::vector<const NodeProto*> nodes;
  std::vector<size_t> states;
};

Condition ConditionOf(const GraphProto& body, const std::vector<const NodeProto*>& nodes) {
  std::unordered_map<std::string, const NodeProto*> maker;
  for (const NodeProto* n : nodes)
    for (const std::string& output : n->outputs)
      if (!output.empty()) maker[output] = n;
  std::unordered_map<std::string, size_t> state;
  for (size_t j = 2; j < body.inputs.size(); ++j) state[body.inputs[j].name] = j - 2;
  std::vector<std::string> todo = {body.outputs[0].name};
  std::set<std::string> seen(todo.begin(), todo.end());
  std::set<const NodeProto*> taken;
  Condition found;
  const auto read = [&](const std::string& name) {
    if (!name.empty() && seen.insert(name).second) todo.push_back(name);
  };
  while (!todo.empty()) {
    const std::string name = todo.back();
    todo.pop_back();
    const auto s = state.find(name);
    if (s != state.end()) {
      found.states.push_back(s->second);
      read(body.outputs[s->second + 1].name);
      continue;
    }
    const auto made = maker.find(name);
    if (made == maker.end() || !taken.insert(made->second).second) continue;
    for (const auto* list : {&made->second->inputs, &made->second->captured})
      for (const std::string& input : *list) read(input);
  }
  for (const NodeProto* n : nodes)
    if (taken.count(n)) found.nodes.push_back(n);
  return found;
}

}  // namespace

int64_t StageBuilder::CountRounds(const Call& call, const GraphProto& body, int64_t most, Env* last) {
  Runner* const runner = session_->RunnerOf(&body);
  const Condition condition = ConditionOf(body, runner->nodes_);
  const auto without_entry = [](Value v) {
    v.entry = NodeEntry();
    return v;
  };
  Env given;
  for (const std::string& name : call.node.captured) given[name] = without_entry(*Lookup(name));
  for (size_t j : condition.states) given[body.inputs[j + 2].name] = without_entry(call.inputs()[j + 2]);
  for (const auto& kv : given)
    if (kv.second.kind != Value::kTensor) return -1;
  for (int64_t count = 0; count < std::min(most, kMostCounted);) {
    given[body.inputs[0].name] = call.Scalar(static_cast<double>(count), kInt64);
    given[body.inputs[1].name] = call.Scalar(1, kBool);
    Pending pending;
    pending.nodes = condition.nodes, pending.needed = runner->root_.needed;
    for (const auto& kv : given)
      if (kv.second.known()) pending.fixed.insert(kv.first);
    const Env now = given;  // the builder keeps a reference
    StageBuilder round(runner, &pending, now, true);
    round.builder_.SetWidens(builder_.widens());
    try {
      round.ConvertAll();
    } catch (const Error&) {  // said when the loop runs on arrays
      return -1;
    }
    ++count;
    const Value* const goes_on = round.Lookup(body.outputs[0].name);
    if (!goes_on || !goes_on->known() || goes_on->size() != 1) return -1;
    for (size_t j : condition.states) {
      const Value* const next = round.Lookup(body.outputs[j + 1].name);
      if (!next || next->kind != Value::kTensor) return -1;
      (*last)[body.inputs[j + 2].name] = given[body.inputs[j + 2].name] = without_entry(*next);
    }
    if (IntsIn(goes_on->array)[0] == 0) return count;
    if (count == most) return count;
  }
  return -1;
}

}  // namespace onnx
}  // namespace mxnet
