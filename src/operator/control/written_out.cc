#include "operator/control/written_out.h"

#include <string>

#include "operator/nodes/graph_operators.h"
#include "operator/nodes/make_nodes.h"
#include "operator/runtime/subgraph.h"

namespace mxnet {
namespace {

std::vector<NodeEntry> SecondGradient(const NodePtr& node, const std::vector<NodeEntry>& above, size_t heads, size_t inputs,
                                      const WriteOutFn& write) {
  // Copies: inputs may depend on one another, and nothing in front of them is differentiated here.
  std::vector<NodeEntry> all;
  for (size_t i = 0; i < heads + inputs; ++i)
    all.push_back(i < heads + above.size() ? graph_ops::CopyOf(node->inputs[i]) : node->inputs[i]);
  const auto first_input = all.begin() + static_cast<int64_t>(heads);
  const std::vector<NodeEntry> from_above(all.begin(), first_input), forward(first_input, all.end());
  const std::vector<NodeEntry> wanted(first_input, first_input + static_cast<int64_t>(above.size()));
  const std::vector<NodeEntry> first = OfSubgraphs().gradient(write(*node, forward), wanted, from_above);
  std::vector<NodeEntry> ys, ograds;
  for (size_t i = 0; i < first.size(); ++i)
    if (first[i]) ys.push_back(first[i]), ograds.push_back(above[i]);
  std::vector<NodeEntry> variables(all.begin(), first_input + static_cast<int64_t>(above.size()));
  std::vector<NodeEntry> grads = ys.empty() ? std::vector<NodeEntry>() : OfSubgraphs().gradient(ys, variables, ograds);
  grads.resize(node->inputs.size());
  return grads;
}

}  // namespace

GradientFn GradientOfWrittenOut(WriteOutFn write, std::function<int(const Attrs&)> heads, std::function<int(const Attrs&)> inputs) {
  return [=](const NodePtr& node, const std::vector<NodeEntry>& above) {
    return SecondGradient(node, above, static_cast<size_t>(heads(*node->attrs)), static_cast<size_t>(inputs(*node->attrs)), write);
  };
}

namespace written {

NodeEntry Add(const NodeEntry& a, const NodeEntry& b) { return MakeOp("broadcast_add", {a, b}); }
NodeEntry Less(const NodeEntry& a, const NodeEntry& b) { return MakeOp("broadcast_sub", {a, b}); }
NodeEntry Times(const NodeEntry& a, const NodeEntry& b) { return MakeOp("broadcast_mul", {a, b}); }
NodeEntry Op2(const char* op, const NodeEntry& a, const NodeEntry& b) { return MakeOp(op, {a, b}); }
NodeEntry Number(const char* op, const NodeEntry& x, double number) {
  return MakeOp(op, {x}, {{"scalar", ExactText(number)}, {"is_int", "0"}});
}
NodeEntry Slice(const NodeEntry& x, int axis, int64_t begin, int64_t end) {
  return MakeOp(
      "slice_axis", {x},
      {{"axis", std::to_string(axis)}, {"begin", std::to_string(begin)}, {"end", end == 0 ? std::string("None") : std::to_string(end)}});
}
NodeEntry Reshape(const NodeEntry& x, const char* shape) { return MakeOp("Reshape", {x}, {{"shape", shape}}); }
NodeEntry Transpose(const NodeEntry& x, const char* axes) { return MakeOp("transpose", {x}, {{"axes", axes}}); }
NodeEntry Concat(const std::vector<NodeEntry>& parts, int axis) {
  return MakeOp("Concat", parts, {{"num_args", std::to_string(parts.size())}, {"dim", std::to_string(axis)}});
}
NodeEntry Places(const NodeEntry& x, int axis, const char* shape) {
  return Reshape(MakeOp("_contrib_arange_like", {x}, {{"axis", std::to_string(axis)}}), shape);
}
NodeEntry Where(const NodeEntry& condition, const NodeEntry& yes, const NodeEntry& no) { return MakeOp("where", {condition, yes, no}); }

}  // namespace written
}  // namespace mxnet
