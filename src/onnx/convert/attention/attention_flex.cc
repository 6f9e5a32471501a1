// Attention whose scores and weights are changed by graphs.
#include <map>

#include "onnx/convert/attention/attention.h"

namespace mxnet {
namespace onnx {

namespace {

constexpr int64_t kMostNodes = 4096;  // of a graph that changes scores

/* What a graph of one operand makes of `x`: its nodes become part of the graph around it. */
Value RunGraph(const Call& c, const GraphProto& graph, const Value& x) {
  if (graph.inputs.size() != 1 || graph.outputs.size() != 1) c.Refuse("a graph has not one input and one output");
  if (static_cast<int64_t>(graph.nodes.size()) > kMostNodes) c.Refuse("a graph has more than " + Text(kMostNodes) + " nodes");
  std::map<std::string, Value> values = {{graph.inputs[0].name, x}};
  const auto find = [&](const std::string& name) {
    const auto it = values.find(name);
    if (it == values.end()) c.Refuse("a graph reads " + name + ", which is not its own; accepted are graphs of their operand alone");
    return it->second;
  };
  for (const Constant& constant : graph.constants) {
    if (constant.array.is_none()) c.Refuse("a graph has constants that are strings");
    values[constant.name] = Value(constant.array);
  }
  for (const NodeProto& node : graph.nodes) {
    const Rule* rule = FindRule(node.domain, node.op, node.opset);
    if (!rule) c.Refuse("a graph has the operator " + node.op + ", which is not known there");
    std::vector<Value> inputs;
    for (const std::string& name : node.inputs) inputs.push_back(name.empty() ? Value() : find(name));
    Call call(node, node.opset, rule->argument, std::move(inputs), c.builder());
    try {
      rule->convert(call);
    } catch (const NeedsValue&) {  // its numbers name inputs of the inner node
      c.Refuse("a graph's operator " + node.op + " depends on contents of scores");
    }
    call.CheckAttributes();
    for (size_t i = 0; i < node.outputs.size(); ++i)
      if (!node.outputs[i].empty()) values[node.outputs[i]] = call.outputs()[i];
  }
  const Value y = find(graph.outputs[0].name);
  if (y.kind != Value::kTensor || y.shape() != x.shape())
    c.Refuse("a graph makes scores of shape " + Text(y.shape()) + " of those of shape " + Text(x.shape()));
  return y;
}

}  // namespace

void ConvertFlexAttention(Call& c) {
  for (int i = 0; i < 3; ++i) CheckRank(c, i, 4, 4);
  AttentionOptions options;
  options.scale = c.Attr("scale", 0.0f);
  const int dtype = c.in(0).dtype();
  options.softmax_dtype = c.DTypeAttr("softmax_precision", IsHalf(dtype) ? kFloat32 : dtype);
  const GraphProto *scores = c.GraphAttr("score_mod"), *weights = c.GraphAttr("prob_mod");
  const auto changed = [&c, &options](const GraphProto& graph, const Value& x) {
    return c.Cast(RunGraph(c, graph, x), options.softmax_dtype);
  };
  if (scores) options.change_scores = [&](const Value& x) { return changed(*scores, x); };
  if (weights) options.change_weights = [&](const Value& x) { return changed(*weights, x); };
  c.Out(Attend(c, c.in(0), c.in(1), c.in(2), Value(), options).y);
}

}  // namespace onnx
}  // namespace mxnet
