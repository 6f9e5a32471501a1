// Training of models that are no single graph: weights are inputs of each call, and gradients pass
// from part to part.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "mxnet/imperative.h"
#include "onnx/builder.h"
#include "onnx/control/search.h"
#include "onnx/run/stage.h"

namespace mxnet {
namespace onnx {
namespace {

/* Does a node choose by that input what it computes: bounds, scales of steps, fill values? */
bool IsSetting(const NodeProto& n, size_t input) {
  static const std::unordered_map<std::string, size_t> first = {
      {"Clip", 1},  {"Pad", 2},    {"Resize", 1},  {"Upsample", 1},          {"QuantizeLinear", 1}, {"DequantizeLinear", 1},
      {"Range", 0}, {"OneHot", 1}, {"Dropout", 1}, {"NonMaxSuppression", 2}, {"RoiAlign", 1},       {"MaxRoiPool", 1}};
  const auto found = first.find(n.op);
  return found != first.end() && input >= found->second;
}

/* The graphs of a search, as a program asks for them. */
std::string Subgraphs(const NodeProto& n) {
  std::string text;
  for (const Attribute& a : n.attributes)
    if (a.graph) text += (text.empty() ? "" : " or ") + ("model.subgraph('" + a.name + "').to_block()");
  return text;
}

/* Throws for a node that chooses tokens. */
void CheckNoSearch(const GraphProto& graph) {
  for (const NodeProto& n : graph.nodes) {
    MXNET_CHECK_KIND(!SearchOf(n), Value)
        << "[onnx] node " << n.label() << " (" << n.op
        << ") chooses tokens, which has no gradients, so the model is no single graph and no block; accepted: calls of the model itself, "
           "and blocks of the graphs that it searches by: "
        << Subgraphs(n);
    for (const Attribute& a : n.attributes)
      if (a.graph) CheckNoSearch(*a.graph);
  }
}

/* What nodes read as data; a body's node may read a constant of the graph around it. */
void AddDataNames(const GraphProto& graph, std::unordered_set<std::string>* names) {
  for (const NodeProto& n : graph.nodes) {
    for (size_t i = 0; i < n.inputs.size(); ++i)
      if (!IsSetting(n, i)) names->insert(n.inputs[i]);
    for (const Attribute& a : n.attributes)
      if (a.graph) AddDataNames(*a.graph, names);
  }
}

/* `x` plus the sum of no elements of each array, so that these have gradients of zeros. Where
 * nothing was found, what it was searched in has no other ones, and trainers take those of the call
 * before for a mistake. */
NDArray DependsOn(const NDArray& x, const Env& inputs, GraphBuilder* builder) {
  NodeProto node;
  node.name = "gradients";
  const NumpyShapesScope scope;
  Call c(node, 1, nullptr, {}, builder);
  Value sum(x);
  for (const auto& kv : inputs) {
    if (kv.second.kind != Value::kTensor || !IsFloating(kv.second.dtype()) || !Imperative::HasHistory(kv.second.array)) continue;
    const Value flat = c.Op("_np_reshape", {kv.second}, {{"newshape", "(-1,)"}});
    const Value none = c.Op("take", {flat, c.IntTensor({})}, {{"axis", "0"}, {"mode", "clip"}});
    sum = c.Op("_npi_add", {sum, c.Cast(c.Op("_npi_sum", {none}), x.dtype())});
  }
  return sum.array;
}

}  // namespace

bool& FoundNothing() {
  thread_local bool nothing = false;
  return nothing;
}

void CheckRecorded(const Session& session, const NodeProto& node, const Env& env, const std::vector<Value>& results) {
  const auto has_history = [](const Value* v) {
    return v && v->kind == Value::kTensor && v->known() && IsFloating(v->dtype()) && Imperative::HasHistory(v->array);
  };
  const auto lost = [&](const Value& v) { return v.kind == Value::kTensor && IsFloating(v.dtype()) && v.size() > 0 && !has_history(&v); };
  for (const Value& v : results) FoundNothing() = FoundNothing() || (v.kind == Value::kTensor && v.size() == 0);
  if (std::none_of(results.begin(), results.end(), lost)) return;
  for (const auto* list : {&node.inputs, &node.captured})
    for (const std::string& name : *list)
      MXNET_CHECK_KIND(name.empty() || !has_history(FindValue(session, env, name)), Value)
          << "[onnx] node " << node.label() << " (" << node.op
          << ") has results whose shapes depend on contents, and passes no gradients to " << name
          << "; accepted: calls outside of autograd.record(), and grad_req='null' for the weights that it depends on";
}

std::unique_ptr<Session> Session::ForTraining() const {
  CheckNoSearch(model_->graph);
  SessionOptions options = options_;
  options.learns = true;
  return std::make_unique<Session>(model_, options);
}

/* Weights are given in each call, but for those that choose what is computed. */
void Session::OfferWeights() {
  std::unordered_set<std::string> data;
  AddDataNames(model_->graph, &data);
  for (const Constant& c : model_->graph.constants) {
    const bool is_input = std::any_of(with_defaults_.begin(), with_defaults_.end(), [&](const ValueInfo& v) { return v.name == c.name; });
    if (is_input || c.array.is_none() || !IsFloating(c.array.dtype()) || !data.count(c.name) || folded_->IsFixed(c.array)) continue;
    ValueInfo info;
    info.name = c.name, info.dtype = c.array.dtype(), info.has_shape = true;
    for (const int64_t size : c.array.shape()) info.dims.emplace_back().size = size;
    with_defaults_.push_back(std::move(info));
  }
}

std::vector<NDArray> Session::RunRecorded(Env inputs) {
  std::vector<NDArray> arrays;
  const Env given = Imperative::State().recording ? inputs : Env();
  FoundNothing() = false;
  for (const Value& v : Run(std::move(inputs))) {
    MXNET_CHECK_KIND(v.kind == Value::kTensor, Value)
        << "[onnx] output " << outputs()[arrays.size()].name << " is " << KindOf(v) << "; accepted of a block: arrays of numbers";
    arrays.push_back(v.array);
  }
  const auto first = std::find_if(arrays.begin(), arrays.end(), [](const NDArray& a) { return IsFloating(a.dtype()); });
  if (FoundNothing() && !given.empty() && first != arrays.end()) {
    GraphBuilder builder(options_.ctx, folded_.get(), true);
    builder.Record(true);
    *first = DependsOn(*first, given, &builder);
  }
  return arrays;
}

}  // namespace onnx
}  // namespace mxnet
