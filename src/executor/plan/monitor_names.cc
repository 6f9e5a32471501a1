#include "executor/plan/monitor_names.h"

#include <algorithm>
#include <iterator>

#include "graph/gradient.h"
#include "operator/record/shown_inputs.h"
#include "operator/record/traits_graph.h"

namespace mxnet {
namespace {

using Names = std::vector<std::string>;

constexpr char kGrad[] = "_grad";
// Begin the names of outputs that only a gradient reads (RNN, loops). 1.9.1 does not show these.
constexpr const char* kKept[] = {"reserve", "hidden"};

bool EndsWith(const std::string& s, const std::string& end) {
  return s.size() > end.size() && s.compare(s.size() - end.size(), end.size(), end) == 0;
}

bool IsKept(const std::string& output) {
  return std::any_of(std::begin(kKept), std::end(kKept), [&](const char* start) { return output.rfind(start, 0) == 0; });
}

std::string Numbered(const char* what, int i) { return what + std::to_string(i); }

/* Without digits at its end. */
std::string WithoutNumber(const std::string& s) { return s.substr(0, s.find_last_not_of("0123456789") + 1); }

/* The node whose gradient another one computes, and what of it. */
struct GradientNode {
  const Plan::Node* forward = nullptr;  // null: it is another kind of node
  std::string of;                       // an input of `forward`, or kPartName; empty: of several inputs
};

GradientNode GradientNodeOf(const Plan& p, const Plan::Node& n) {
  GradientNode found;
  size_t longest = 0;
  for (int t = p.forward.begin; t < p.forward.end; ++t) {
    const std::string start = p.nodes[t].name + kBackwardName;
    if (start.size() <= longest || n.name.compare(0, start.size(), start) != 0) continue;
    if (n.name.size() > start.size() && n.name[start.size()] != '_') continue;
    longest = start.size();
    found = {&p.nodes[t], n.name.substr(longest)};
  }
  return found;
}

/* Of the backward pass, but not there in 1.9.1: zeros, casts, copies, parts of gradients. */
bool IsHelper(const Names& variables, const std::string& name, const GradientNode& gradient) {
  if (EndsWith(name, kNoGrad) || EndsWith(name, kCastName) || gradient.of == kPartName) return true;
  const std::string base = WithoutNumber(name);
  if (EndsWith(base, kZeroGradName) || (base != name && EndsWith(base, kGradSumName))) return true;
  return EndsWith(name, kGrad) && std::count(variables.begin(), variables.end(), name.substr(0, name.size() - sizeof(kGrad) + 1)) > 0;
}

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
    if (p.reqs[n.req + o] != OpReq::kNull && (o >= static_cast<int>(out.size()) || !IsKept(out[o])))
      shown->push_back({n.name + "_" + (o < static_cast<int>(out.size()) ? out[o] : Numbered("output", o)), n.out + o, false, false});
}

/* Where a forward node's gradients are shown. */
class GradientNames {
 public:
  explicit GradientNames(const Plan::Node& forward)
      : start_(forward.name + kBackwardName), attrs_(*forward.attrs), how_(ShownGradientsOf(*attrs_.op)) {
    const std::vector<int> states = attrs_.op->MutateInputs(attrs_);
    for (int i = 0; i < forward.num_in; ++i) {
      if (In(states, i)) continue;
      inputs.push_back(i);
      if (Counts(i)) counted_.push_back(i);
    }
  }
  std::string Of(int input) const {
    if (how_.by_name) return start_ + "_" + InputInNames(attrs_, input);
    if (how_.own_node) return start_ + "_" + InputInNames(attrs_, input) + "_output";
    const auto at = std::find(counted_.begin(), counted_.end(), input);
    return counted_.size() < 2 || at == counted_.end() ? start_ + "_output"
                                                       : start_ + Numbered("_output", static_cast<int>(at - counted_.begin()));
  }
  bool Counts(int input) const { return !In(how_.without, input); }
  bool IsZero(int input) const { return In(how_.zero, input); }

  std::vector<int> inputs;  // of the forward node, without its states

 private:
  static bool In(const std::vector<int>& inputs, int i) { return std::find(inputs.begin(), inputs.end(), i) != inputs.end(); }

  const std::string start_;
  const Attrs& attrs_;
  const ShownGradients& how_;
  std::vector<int> counted_;
};

/* A node that computes the gradient of one input. */
void ShowGradientOf(const Plan& p, const Plan::Node& n, const GradientNode& gradient, std::vector<ShownValue>* shown) {
  const Plan::Node& forward = *gradient.forward;
  const GradientNames names(forward);
  for (int i : names.inputs) {
    if (names.IsZero(i))
      shown->push_back({names.Of(i), forward.in + i, false, true});
    else if (names.Counts(i) && gradient.of == "_" + InputInNames(*forward.attrs, i) && p.reqs[n.req] != OpReq::kNull)
      shown->push_back({names.Of(i), n.out, false, false});
  }
}

/* The outputs of a gradient node stand for the inputs of the forward node: X_grad for X. An input
 * that none of them stands for has gradient 0. */
void ShowGradients(const Plan& p, const Plan::Node& n, const Plan::Node& forward, std::vector<ShownValue>* shown) {
  const GradientNames names(forward);
  const std::vector<std::string> in = forward.attrs->op->ListInputs(*forward.attrs), out = n.attrs->op->ListOutputs(*n.attrs);
  std::vector<int> output_of(names.inputs.size(), -1);
  bool named = false;
  for (int o = 0; o < n.num_out && o < static_cast<int>(out.size()); ++o) {
    for (size_t k = 0; k < names.inputs.size(); ++k) {
      if (names.inputs[k] >= static_cast<int>(in.size()) || out[o] != in[names.inputs[k]] + kGrad) continue;
      output_of[k] = o;
      named = true;
    }
  }
  if (!named)
    for (size_t k = 0; k < output_of.size() && k < static_cast<size_t>(n.num_out); ++k) output_of[k] = static_cast<int>(k);
  int nodes = 0;  // that compute gradients of the forward node
  for (int t = p.backward.begin; t < p.backward.end; ++t)
    nodes += p.nodes[t].name.compare(0, forward.name.size(), forward.name) == 0 && GradientNodeOf(p, p.nodes[t]).forward == &forward;
  for (size_t k = 0; k < output_of.size(); ++k) {
    const int o = output_of[k], input = names.inputs[k];
    if (o < 0 && !names.IsZero(input) && (nodes > 1 || !named)) continue;  // another node has it
    if (o < 0)
      shown->push_back({names.Of(input), forward.in + input, false, true});
    else if (p.reqs[n.req + o] != OpReq::kNull)
      shown->push_back({names.Of(input), n.out + o, false, false});
  }
}

/* A sum of gradients, or its last step. */
void ShowSum(const Plan& p, const Names& variables, const Plan::Node& n, const char* name, std::vector<ShownValue>* shown) {
  for (int i = 0; i < n.num_in; ++i) ShowInput(p, variables, n.in + i, name + Numbered("_arg", i), shown);
  shown->push_back({std::string(name) + "_output", n.out, false, false});
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
  if (n.attrs->op->trait<HiddenFromMonitors>()) return shown;
  const GradientNode gradient = backward ? GradientNodeOf(p, n) : GradientNode();
  if (backward && IsHelper(variables, n.name, gradient)) return shown;
  if (backward && EndsWith(n.name, kGradSumName)) {
    ShowSum(p, variables, n, "sum_grad", &shown);
  } else if (backward && EndsWith(n.name, kGradSumFinalName)) {
    ShowSum(p, variables, n, "sum_grad_final", &shown);
  } else if (!gradient.forward) {
    ShowForward(p, variables, n, numbers_outputs, &shown);
  } else {
    const std::string start = gradient.forward->name + kBackwardName;
    for (int i = 0; i < n.num_in; ++i) ShowInput(p, variables, n.in + i, start + Numbered("_input", i), &shown);
    if (gradient.of.empty())
      ShowGradients(p, n, *gradient.forward, &shown);
    else
      ShowGradientOf(p, n, gradient, &shown);
  }
  return shown;
}

}  // namespace mxnet
