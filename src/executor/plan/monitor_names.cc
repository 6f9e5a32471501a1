#include "executor/plan/monitor_names.h"

#include <algorithm>

#include "operator/record/shown_inputs.h"
#include "operator/record/traits_graph.h"

namespace mxnet {
namespace {

constexpr char kBackward[] = "_backward", kGrad[] = "_grad";

bool EndsWith(const std::string& s, const std::string& end) {
  return s.size() > end.size() && s.compare(s.size() - end.size(), end.size(), end) == 0;
}

std::string Numbered(const char* what, int i) { return what + std::to_string(i); }

/* The node whose gradient `n` computes; null when it is another kind of node. */
const Plan::Node* ForwardOf(const Plan& p, const Plan::Node& n) {
  if (!EndsWith(n.name, kBackward)) return nullptr;
  const std::string name = n.name.substr(0, n.name.size() - sizeof(kBackward) + 1);
  for (int t = p.forward.begin; t < p.forward.end; ++t)
    if (p.nodes[t].name == name) return &p.nodes[t];
  return nullptr;
}

using Names = std::vector<std::string>;

void ShowInput(const Plan& p, const Names& variables, int blob, const std::string& name, std::vector<ShownValue>* shown) {
  const int slot = p.blobs[blob].slot();
  if (slot >= 0 && slot < p.num_inputs && slot < static_cast<int>(variables.size())) shown->push_back({variables[slot], blob, true, false});
  shown->push_back({name, blob, true, false});
}

void ShowForward(const Plan& p, const Names& variables, const Plan::Node& n, bool numbers_outputs, std::vector<ShownValue>* shown) {
  const std::vector<std::string> in = ShownInputs(*n.attrs), out = ShownOutputs(*n.attrs, numbers_outputs);
  for (int i = 0; i < n.num_in; ++i)
    ShowInput(p, variables, n.in + i, n.name + "_" + (i < static_cast<int>(in.size()) ? in[i] : Numbered("input", i)), shown);
  for (int o = 0; o < n.num_out; ++o)
    if (p.reqs[n.req + o] != OpReq::kNull)
      shown->push_back({n.name + "_" + (o < static_cast<int>(out.size()) ? out[o] : Numbered("output", o)), n.out + o, false, false});
}

/* The outputs of a gradient node stand for the inputs of the forward node: X_grad for X. An input
 * that none of them stands for has gradient 0. */
void ShowGradients(const Plan& p, const Plan::Node& n, const Plan::Node& forward, std::vector<ShownValue>* shown) {
  const std::vector<std::string> in = forward.attrs->op->ListInputs(*forward.attrs), out = n.attrs->op->ListOutputs(*n.attrs);
  const std::vector<int> states = forward.attrs->op->MutateInputs(*forward.attrs);
  std::vector<int> inputs;  // places in the forward node
  for (int i = 0; i < forward.num_in; ++i)
    if (std::find(states.begin(), states.end(), i) == states.end()) inputs.push_back(i);
  std::vector<int> output_of(inputs.size(), -1);
  bool named = false;
  for (int o = 0; o < n.num_out && o < static_cast<int>(out.size()); ++o) {
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (inputs[k] >= static_cast<int>(in.size()) || out[o] != in[inputs[k]] + kGrad) continue;
      output_of[k] = o;
      named = true;
    }
  }
  if (!named) {
    output_of.resize(std::max<size_t>(n.num_out, 1));
    for (int o = 0; o < n.num_out; ++o) output_of[o] = o;
  }
  int nodes = 0;  // that compute gradients of the forward node
  for (int t = p.backward.begin; t < p.backward.end; ++t) nodes += p.nodes[t].name == n.name;
  for (size_t k = 0; k < output_of.size(); ++k) {
    if (output_of[k] < 0 && nodes > 1) continue;  // another node has it
    const std::string name = n.name + (output_of.size() == 1 ? "_output" : Numbered("_output", static_cast<int>(k)));
    const int o = output_of[k];
    if (o < 0)
      shown->push_back({name, forward.in + inputs[k], false, true});
    else if (p.reqs[n.req + o] != OpReq::kNull)
      shown->push_back({name, n.out + o, false, false});
  }
}

}  // namespace

std::vector<std::string> ShownInputs(const Attrs& attrs) {
  std::vector<std::string> names = attrs.op->ListInputs(attrs);
  if (!ShowsInputNames(*attrs.op))
    for (size_t i = 0; i < names.size(); ++i) names[i] = Numbered("input", static_cast<int>(i));
  return names;
}

std::vector<std::string> ShownOutputs(const Attrs& attrs, bool numbered) {
  std::vector<std::string> names = attrs.op->ListOutputs(attrs);
  if (!numbered || ShowsOutputNames(*attrs.op)) return names;
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == "output" || names[i] == Numbered("output", static_cast<int>(i))) names[i] = std::to_string(i);
  return names;
}

std::vector<ShownValue> ShownBy(const Plan& p, const std::vector<std::string>& variables, int t, bool backward, bool numbers_outputs) {
  const Plan::Node& n = p.nodes[t];
  std::vector<ShownValue> shown;
  // users did not write these, and do not look for them
  if (n.attrs->op->trait<HiddenFromMonitors>() || (backward && EndsWith(n.name, kNoGrad))) return shown;
  const Plan::Node* forward = backward ? ForwardOf(p, n) : nullptr;
  if (!forward) {
    ShowForward(p, variables, n, numbers_outputs, &shown);
    return shown;
  }
  for (int i = 0; i < n.num_in; ++i) ShowInput(p, variables, n.in + i, n.name + Numbered("_input", i), &shown);
  ShowGradients(p, n, *forward, &shown);
  return shown;
}

}  // namespace mxnet
