// Partitioners and passes that test_library.py loads, with the operator that runs what was taken
// out.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <set>

#include "mxnet/lib_api.h"

using namespace mxnet::ext;  // NOLINT
using Attrs = std::unordered_map<std::string, std::string>;

// ---- the operator: runs the exp and log of its graph

MXReturnValue run(const Graph& graph, std::vector<MXTensor>* inputs, std::vector<MXTensor>* outputs) {
  std::unordered_map<const Node*, std::vector<float>> values;
  size_t next = 0;
  bool failed = false;
  graph.DFS([&](Node* node) {
    std::vector<float>& value = values[node];
    if (node->op == "null") {
      const MXTensor& in = inputs->at(next++);
      value.assign(in.data<float>(), in.data<float>() + in.size());
      return;
    }
    value = values[node->inputs.at(0).node];
    for (float& v : value) v = node->op == "exp" ? std::exp(v) : std::log(v);
    failed = failed || (node->op != "exp" && node->op != "log");
  });
  for (size_t i = 0; i < outputs->size(); ++i) {
    const std::vector<float>& value = values[graph.outputs.at(i).node];
    std::copy(value.begin(), value.end(), outputs->at(i).data<float>());
  }
  if (failed) MX_ERROR_MSG << "an operator that is neither exp nor log";
  return failed ? MX_FAIL : MX_SUCCESS;
}

class SubgraphOp : public CustomStatefulOp {
 public:
  SubgraphOp(const std::string& json, const Attrs& attrs) : graph_(Graph::fromString(json)), attrs_(attrs) {}
  MXReturnValue Forward(std::vector<MXTensor>* inputs, std::vector<MXTensor>* outputs, const OpResource&) override {
    const MXReturnValue code = run(*graph_, inputs, outputs);
    if (attrs_.count("myKey"))  // from reviewSubgraph
      for (int64_t i = 0; i < outputs->at(0).size(); ++i) outputs->at(0).data<float>()[i] += std::stof(attrs_.at("myKey"));
    return code;
  }

 private:
  std::unique_ptr<Graph> graph_;
  const Attrs attrs_;
};

MXReturnValue createOpState(const Attrs& attrs, const MXContext&, const std::vector<std::vector<unsigned int>>&, const std::vector<int>,
                            CustomStatefulOp** op_inst) {
  *op_inst = new SubgraphOp(attrs.at(MX_STR_SUBGRAPH_SYM_JSON), attrs);
  return MX_SUCCESS;
}
REGISTER_OP(_exp_log).setIsSubgraphOp().setCreateOpState(createOpState, "cpu");

// ---- the partitioner

bool takes(const Node& node) { return node.op == "exp" || node.op == "log"; }

MXReturnValue supportedOps(const Graph* graph, std::vector<int>* ids, const Attrs& options) {
  if (options.count("fail")) {
    MX_ERROR_MSG << "told to fail";
    return MX_FAIL;
  }
  for (size_t i = 0; i < graph->size(); ++i) {
    const Node* node = graph->getNode(i);
    int dtype = -1;
    if (node->attrs.count("dtype") && takes(*node)) dtype = std::stoi(node->attrs.at("dtype"));
    const bool wanted = takes(*node) && (!options.count("reqFloat") || dtype == kFloat32);
    if (!wanted) continue;
    ids->at(i) = options.count("apart") ? static_cast<int>(i) : -1;
  }
  return MX_SUCCESS;
}

MXReturnValue reviewSubgraph(const Graph* graph, int subgraph_id, bool* accept, const Attrs& options, Attrs* attrs) {
  *accept = !(options.count("reject") && options.at("reject") == std::to_string(subgraph_id));
  if (options.count("add")) (*attrs)["myKey"] = options.at("add");
  int known = 0, arguments = 0;
  for (const Node* node : graph->inputs) {
    known += node->tensor != nullptr;
    arguments += node->attrs.at("isArg") == "True";
    if (!node->attrs.count(MX_STR_SHAPE)) continue;
    const JsonVal shapes = JsonVal::parse(node->attrs.at(MX_STR_SHAPE));
    (*attrs)["first_shape"] = shapes.list.at(0).dump();
  }
  (*attrs)["known"] = std::to_string(known);
  (*attrs)["arguments"] = std::to_string(arguments);
  return MX_SUCCESS;
}

class ExpSelector : public CustomOpSelector {
 public:
  explicit ExpSelector(const Graph* graph) : graph_(graph) {}
  bool Select(int nodeID) override { return at(nodeID).op == "exp"; }
  bool SelectInput(int, int input_nodeID) override { return takes(at(input_nodeID)); }
  bool SelectOutput(int, int output_nodeID) override { return takes(at(output_nodeID)); }
  void Filter(const std::vector<int>& candidates, std::vector<int>* keep) override {
    if (candidates.size() > 1) keep->assign(candidates.begin(), candidates.end());
  }

 private:
  const Node& at(int i) const { return *graph_->getNode(static_cast<size_t>(i)); }
  const Graph* graph_;
};

MXReturnValue createSelector(const Graph* graph, CustomOpSelector** sel_inst, const Attrs&) {
  *sel_inst = new ExpSelector(graph);
  return MX_SUCCESS;
}

REGISTER_PARTITIONER(expLog)
    .addStrategy("strategy1", "_exp_log")
    .setSupportedOps("strategy1", supportedOps)
    .setReviewSubgraph("strategy1", reviewSubgraph);
REGISTER_PARTITIONER(expSelect).addStrategy("strategy1", "_exp_log").setCreateSelector("strategy1", createSelector);
REGISTER_PARTITIONER(noSuchOp).addStrategy("s", "_not_registered").setSupportedOps("s", supportedOps);

// ---- passes

// exp becomes another operator, and every node is named with a prefix
MXReturnValue rename(Graph* g, const Attrs& options) {
  for (size_t i = 0; i < g->size(); ++i) {
    Node* node = g->getNode(i);
    if (node->op == "exp") node->op = options.count("to") ? options.at("to") : "log";
    if (node->op != "null") node->name = "renamed_" + node->name;
  }
  return MX_SUCCESS;
}
REGISTER_PASS(renames).setBody(rename);

// the result is multiplied by a new parameter
MXReturnValue insert(Graph* g, const Attrs& options) {
  Node* scale = g->addNode("made_scale", "null");
  scale->alloc_arg({1}, MXContext::CPU(0), kFloat32);
  scale->tensor->data<float>()[0] = options.count("scale") ? std::stof(options.at("scale")) : 5;
  for (NodeEntry& out : g->outputs) {
    Node* times = g->addNode(out.node->name + "_scaled", "broadcast_mul");
    times->inputs = {out, {scale, 0}};
    out = {times, 0};
  }
  return MX_SUCCESS;
}
REGISTER_PASS(inserts).setBody(insert);

// through JSON, the older way; and what it was given
MXReturnValue report(Graph* g, const Attrs& options) {
  std::set<std::string> known;
  for (const Node* node : g->nodes)
    if (node->tensor) known.insert(node->name + "=" + std::to_string(node->tensor->size()));
  JsonVal json = JsonVal::parse(g->toString());
  std::string text = std::to_string(json.map[JsonVal("nodes")].list.size()) + " nodes";
  for (const std::string& k : known) text += " " + k;
  for (const auto& kv : options) text += " " + kv.first + ":" + kv.second;
  g->outputs.at(0).node->attrs["__report__"] = text;
  return MX_SUCCESS;
}
REGISTER_PASS(reports).setBody(report);

MXReturnValue fail(Graph* g, const Attrs& options) {
  if (options.count("circle")) g->outputs.at(0).node->inputs.at(0) = g->outputs.at(0);
  if (options.count("nonsense")) g->outputs.at(0).node->op = "no_such_operator";
  if (options.count("memory")) g->addNode("much", "null")->alloc_arg({1ll << 60}, MXContext::CPU(0), kFloat32);
  if (options.count("twice"))
    for (int i = 0; i < 2; ++i) g->addNode("one", "null")->alloc_aux({1}, MXContext::CPU(), kFloat32);
  if (!options.empty()) return MX_SUCCESS;
  MX_ERROR_MSG << "a pass that fails";
  return MX_FAIL;
}
REGISTER_PASS(fails).setBody(fail);

MXReturnValue initialize(int version) { return version > 0 ? MX_SUCCESS : MX_FAIL; }
