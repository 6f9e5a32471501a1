// States and sequences of a loop that are no states of the operator it becomes.
#include "onnx/control/rounds.h"

#include <algorithm>

namespace mxnet {
namespace onnx {
namespace {

/* How often nodes and outputs of a body read a name. */
int64_t Uses(const std::vector<const NodeProto*>& nodes, const GraphProto& body, const std::string& name) {
  int64_t uses = 0;
  for (const NodeProto* n : nodes)
    for (const auto* list : {&n->inputs, &n->captured}) uses += std::count(list->begin(), list->end(), name);
  for (const ValueInfo& v : body.outputs) uses += v.name == name;
  return uses;
}

}  // namespace

void TakeAppends(const Call& call, const std::vector<const NodeProto*>& nodes, Rounds* rounds) {
  std::vector<RoundsState> states;
  for (const RoundsState& state : rounds->states) {
    std::vector<const NodeProto*> chain;
    std::string name = state.next;
    const NodeProto* append = nullptr;
    while (!append && name != state.name && Uses(nodes, *rounds->body, name) == 1) {
      const auto maker =
          std::find_if(nodes.begin(), nodes.end(), [&](const NodeProto* n) { return !n->outputs.empty() && n->outputs[0] == name; });
      if (maker == nodes.end() || !(*maker)->domain.empty() || (*maker)->inputs.empty()) break;
      chain.push_back(*maker);
      if ((*maker)->op != "Identity") append = *maker;
      name = (*maker)->inputs[0];
    }
    const bool sequence = append && append->op == "SequenceInsert" && state.value.kind == Value::kSequence;
    const bool concat = append && append->op == "Concat" && IsTensor(state.value) && state.value.ndim() > 0;
    if (!(sequence || concat) || append->inputs.size() != 2 || append->inputs[0] != state.name || append->inputs[1] == state.name ||
        Uses(nodes, *rounds->body, state.name) != 1) {
      states.push_back(state);
      continue;
    }
    const int64_t axis = concat ? Call(*append, append->opset, nullptr, {}, call.builder()).Attr("axis", int64_t{0}) : 0;
    rounds->stacks.push_back({sequence ? RoundsStack::kSequence : RoundsStack::kConcat, append->inputs[1], state.output,
                              concat ? call.Axis(axis, state.value.ndim()) : 0, false, state.value});
    rounds->left_out.insert(rounds->left_out.end(), chain.begin(), chain.end());
  }
  rounds->states = states;
}

void TakeReads(const std::string& name, const Value& sequence, const std::vector<const NodeProto*>& nodes, Rounds* rounds) {
  const auto& elements = *sequence.elements;
  const bool alike = !elements.empty() && std::all_of(elements.begin(), elements.end(),
                                                      [&](const Value& e) { return IsTensor(e) && e.type == elements[0].type; });
  if (!alike) return;
  std::vector<const NodeProto*> readers;
  for (const NodeProto* n : nodes) {
    const auto reads = [&](const std::vector<std::string>& names) { return std::count(names.begin(), names.end(), name) > 0; };
    if (!reads(n->inputs) && !reads(n->captured)) continue;
    if (!n->domain.empty() || n->op != "SequenceAt" || n->inputs.size() != 2 || n->inputs[1] != rounds->body->inputs[0].name) return;
    readers.push_back(n);
  }
  if (static_cast<size_t>(Uses(nodes, *rounds->body, name)) != readers.size()) return;
  for (const NodeProto* n : readers) rounds->reads.push_back({name, n->outputs[0], sequence});
  rounds->left_out.insert(rounds->left_out.end(), readers.begin(), readers.end());
}

}  // namespace onnx
}  // namespace mxnet
