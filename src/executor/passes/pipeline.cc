// The plan compiler's passes: their list, their order, and how people look at what they do.
#include <algorithm>
#include <iostream>
#include <set>
#include <sstream>

#include "executor/passes/core/passes.h"
#include "executor/passes/core/plan_request.h"
#include "graph/infer.h"
#include "mxnet/env.h"
#include "mxnet/op.h"

namespace mxnet {
namespace {

std::vector<NodeEntry> Heads(const PassGraph& graph) {
  std::vector<NodeEntry> heads = graph.outputs;
  heads.insert(heads.end(), graph.grads.begin(), graph.grads.end());
  return heads;
}

/* Names in a comma-separated variable. */
std::set<std::string> NamesIn(const char* variable, const std::string& text, bool all_is_a_name) {
  std::set<std::string> names;
  std::istringstream in(text);
  for (std::string name; std::getline(in, name, ',');) {
    name.erase(std::remove(name.begin(), name.end(), ' '), name.end());
    if (name.empty()) continue;
    bool known = all_is_a_name && name == "all";
    std::string accepted = all_is_a_name ? "all" : "";
    for (const Pass& p : PlanPasses()) {
      known = known || name == p.name;
      accepted += (accepted.empty() ? "" : ", ") + std::string(p.name);
    }
    MXNET_CHECK_KIND(known, Value) << "[plan] " << variable << " names the pass '" << name << "'; accepted: " << accepted;
    names.insert(name);
  }
  return names;
}

bool Always(const PassContext&) { return true; }
bool InInference(const PassContext& c) { return c.inference(); }
bool WithBackward(const PassContext& c) { return c.has_backward; }
bool InferenceOnCpu(const PassContext& c) { return c.inference() && c.on_cpu(); }
bool OneDnn() { return Env::Get().onednn_enabled; }
bool OneDnnInference(const PassContext& c) { return InferenceOnCpu(c) && OneDnn(); }
// Fused layers are oneDNN's on the CPU; on a GPU they are always there.
bool FusedLayers(const PassContext& c) { return c.inference() && (!c.on_cpu() || OneDnn()); }
bool CommonExpressionsWanted(const PassContext&) { return Env::Get().eliminate_common_expr; }
bool PointwiseWanted(const PassContext&) { return Env::Get().use_fusion; }
bool LayoutsWanted(const PassContext& c) { return LayoutsMayChange() && (!c.on_cpu() || OneDnn()); }
bool MicroBatchesWanted(const PassContext& c) {
  return InferenceOnCpu(c) && Env::Get().exec_bulk_exec_inference && c.request.forward_bulk < 0;
}

}  // namespace

const std::vector<Pass>& PlanPasses() {
  // here and elsewhere: never deleted, for destructors of static objects compile plans, too
  static const std::vector<Pass>& passes = *new std::vector<Pass>{
      {"settle_shapes", "Sources whose shape only their users tell get it as a parameter (`begin_state` of recurrent cells).", Always,
       SettleShapes, Stage::kEarly, Results::kAll},
      {"remove_mixed_casts", "Training: casts of mixed precision to the dtype that is there go before the gradient is made.", WithBackward,
       RemoveMixedCasts, Stage::kEarly, Results::kWanted},
      {"fuse_batch_norm_relu", "BatchNorm with a relu behind it is one operator, forward and backward.", Always, FuseBatchNormRelu,
       Stage::kEarly, Results::kWanted},
      {"fuse_batch_norm_add_relu",
       "Training: BatchNorm, a sum and a relu are one operator, forward and backward: the end of a residual block.", WithBackward,
       FuseBatchNormAddRelu, Stage::kEarly, Results::kWanted},
      {"fuse_layer_norm", "Layer normalization written out is one operator, forward and backward.", Always, FuseLayerNorm, Stage::kEarly,
       Results::kWanted},
      {"fuse_softmax", "Softmax and its logarithm written out are one operator each, forward and backward.", Always, FuseSoftmax,
       Stage::kEarly, Results::kWanted},
      {"fuse_square_sum",
       "A csr matrix times the sums of squares of a table's rows is one operator, which squares the rows that the matrix names alone.",
       Always, FuseSquareSum, Stage::kEarly, Results::kWanted},
      {"fuse_attention_training",
       "Training: softmax(q k + mask) v is one operator, forward and backward. Its scores are never stored. It may have interleaved "
       "projections, lengths, a mask that wants no gradient, and dropout of the weights.",
       WithBackward, FuseAttention, Stage::kEarly, Results::kWanted},
      {"detach_shapes", "A tensor that is read for its shape and dtype alone is not computed or kept for that, and stops no other pass.",
       Always, DetachShapes, Stage::kLate, Results::kWanted},
      {"remove_identities",
       "Operators that change nothing go: copies, Dropout outside of training, casts, reshapes, broadcasts, sums, transposes.", Always,
       RemoveIdentities, Stage::kLate, Results::kWanted},
      {"fold_constants", "Small arrays that depend on no input are computed once per plan.", Always, FoldConstants, Stage::kLate,
       Results::kWanted},
      {"fold_rnn_parameters", "Inference: the parameters of recurrent layers are put together once per plan.", InInference,
       FoldRnnParameters, Stage::kLate, Results::kWanted},
      {"common_expressions", "Nodes that compute the same from the same become one.", CommonExpressionsWanted, EliminateCommonExpressions,
       Stage::kLate, Results::kWanted},
      {"keep_casts", "Inference: weights and biases that are cast to another dtype are cast once per plan.", InInference, KeepCasts,
       Stage::kLate, Results::kWanted},
      {"fuse_gelu", "Inference: x (1 + erf(x / sqrt(2))) / 2 is one operator.", InInference, FuseGelu, Stage::kLate, Results::kWanted},
      {"fuse_group_norm", "Inference: instance normalization of a view whose channels are groups is one operator.", InInference,
       FuseGroupNorm, Stage::kLate, Results::kWanted},
      {"fuse_shuffle",
       "Inference: channels of groups that are taken in turn by reshapes and a transpose are one operator with the concatenation before "
       "and the slices behind.",
       InferenceOnCpu, FuseShuffle, Stage::kLate, Results::kWanted},
      {"fuse_swish", "Inference: x sigmoid(b x) and x clip(a x + b, 0, 1) are one operator each.", InInference, FuseSwish, Stage::kLate,
       Results::kWanted},
      {"fold_transposes", "Inference: products of matrices read transposed ones as they lie.", InInference, FoldTransposes, Stage::kLate,
       Results::kWanted},
      {"fuse_attention", "Inference: softmax(q k + mask) v is one operator. Its scores stay in the cache, and heads are not split apart.",
       InInference, FuseAttention, Stage::kLate, Results::kWanted},
      {"fold_repeats", "Inference: products of matrices read keys and values that several heads share once.", InInference, FoldRepeats,
       Stage::kLate, Results::kWanted},
      {"fold_padding", "Inference: zeros around the data of a convolution become its own padding.", InInference, FoldPadding, Stage::kLate,
       Results::kWanted},
      {"join_bias", "Inference: a vector that is added to a convolution or dense layer without bias becomes its bias.", InInference,
       JoinBias, Stage::kLate, Results::kWanted},
      {"fold_scale_shift", "Inference: BatchNorm and numbers behind a convolution or dense layer go into its weight and bias.", InInference,
       FoldScaleShift, Stage::kLate, Results::kWanted},
      {"fuse_convolution", "Inference: an addition and an activation behind a convolution become part of it.", FusedLayers, FuseConvolution,
       Stage::kLate, Results::kWanted},
      {"fuse_expansion", "Inference: a 1x1 convolution goes into the 3x3 depthwise convolution that alone reads it.", OneDnnInference,
       FuseExpansion, Stage::kLate, Results::kWanted},
      {"fuse_dense", "Inference: an addition and an activation behind a dense layer become part of it.", FusedLayers, FuseDense,
       Stage::kLate, Results::kWanted},
      {"fuse_quantized",
       "Inference: the step back to 8 bits, where calibration has found the range, or to floats, a sum and a function behind a "
       "layer on 8-bit integers become part of it.",
       InferenceOnCpu, FuseQuantized, Stage::kLate, Results::kWanted},
      {"fuse_pointwise",
       "Chains and small graphs of pointwise operators, with casts, repetitions and sums, become one pass over tiles that fit the cache. "
       "On a GPU they become one kernel.",
       PointwiseWanted, FusePointwise, Stage::kLate, Results::kWanted},
      {"layout", "Images lie channels last from the first convolution on.", LayoutsWanted, ChooseLayouts, Stage::kLate, Results::kAll},
      {"micro_batch",
       "Inference: layers of images go over a large batch some examples at a time. So what one layer writes is still in the cache when the "
       "next one reads it.",
       MicroBatchesWanted, MicroBatch, Stage::kLate, Results::kWanted},
  };
  return passes;
}

bool PassContext::inference() const { return !request.is_train && !has_backward; }
bool PassContext::on_cpu() const { return !request.ctx.is_gpu(); }
bool PassContext::all_inputs_are(int dtype) const {
  return std::all_of(request.inputs.begin(), request.inputs.end(), [dtype](const TensorType& t) { return t.dtype == dtype; });
}

const GraphInfo& PassContext::info(const PassGraph& graph) {
  if (info_) return *info_;
  info_ = InferGraph(graph, *variables_, request.switches, before_.get());
  nodes_ = OrderOf(graph);
  return *info_;
}

void PassContext::Forget() {
  if (!info_) return;
  before_ = std::move(info_);
  nodes_before_ = std::move(nodes_);
}

namespace {

/* Gives entries the types that `before` has for them. Returns which nodes are settled by it: those
 * of that graph, and those that share the attributes of one and read what has the same types. */
class TypesFromBefore {
 public:
  TypesFromBefore(const GraphInfo& before, GraphInfo* info) : before_(before), info_(*info) {
    for (uint32_t id = 0; id < before.g.nodes.size(); ++id)
      if (!before.g.nodes[id].source->is_variable()) by_attrs_.emplace(before.g.nodes[id].source->attrs.get(), id);
  }

  std::vector<char> Run() {
    const IndexedGraph& g = info_.g;
    std::vector<char> settled(g.nodes.size(), 0);
    for (uint32_t id = 0; id < g.nodes.size(); ++id) {
      const Node* const source = g.nodes[id].source;
      const auto same = before_.g.id.find(source);
      if (same != before_.g.id.end()) {
        settled[id] = Take(id, same->second);
      } else if (!source->is_variable()) {
        const auto like = by_attrs_.find(source->attrs.get());
        if (like != by_attrs_.end() && ReadsTheSame(id, like->second)) settled[id] = Take(id, like->second);
      }
    }
    return settled;
  }

 private:
  bool ReadsTheSame(uint32_t id, uint32_t like) const {
    const auto &mine = info_.g.nodes[id].inputs, &its = before_.g.nodes[like].inputs;
    if (mine.size() != its.size()) return false;
    for (size_t i = 0; i < mine.size(); ++i)
      if (info_.types[info_.g.eid(mine[i])] != before_.types[before_.g.eid(its[i])]) return false;
    return true;
  }
  bool Take(uint32_t id, uint32_t from) {
    const uint32_t to = info_.g.entry_ptr[id], count = info_.g.entry_ptr[id + 1] - to, at = before_.g.entry_ptr[from];
    if (count != before_.g.entry_ptr[from + 1] - at) return false;
    std::copy_n(before_.types.begin() + at, count, info_.types.begin() + to);
    return true;
  }

  const GraphInfo& before_;
  GraphInfo& info_;
  std::unordered_map<const Attrs*, uint32_t> by_attrs_;
};

}  // namespace

std::unique_ptr<GraphInfo> InferGraph(const PassGraph& graph, const VariableTypes& variables, const InferSwitches& switches,
                                      const GraphInfo* before) {
  auto info = std::make_unique<GraphInfo>(Heads(graph));
  const IndexedGraph& g = info->g;
  info->types.resize(g.num_entries());
  for (uint32_t id : g.input_nodes) {
    auto known = variables.find(g.nodes[id].source);
    if (known != variables.end()) info->types[g.eid(id, 0)] = known->second;
  }
  const std::vector<char> settled = before ? TypesFromBefore(*before, info.get()).Run() : std::vector<char>();
  GraphInference how;
  how.switches = switches;
  how.alike = &graph.alike;
  if (InferUnsettled(g, &info->types, how, settled)) return info;
  const auto demand = [&](const char* what, auto is_known) {
    for (uint32_t id = 0; id < g.nodes.size(); ++id)
      for (uint32_t e = g.entry_ptr[id]; e < g.entry_ptr[id + 1]; ++e)
        MXNET_CHECK_KIND(is_known(info->types[e]), Value)
            << "[plan] the " << what << " of output " << e - g.entry_ptr[id] << " of node " << g.nodes[id].source->name << " ("
            << (g.nodes[id].source->is_variable() ? "variable" : g.nodes[id].source->op()->name) << ") cannot be inferred; give the "
            << what << "s of all inputs";
  };
  demand("shape", [](const TensorType& t) { return t.shape.known(); });
  demand("dtype", [](const TensorType& t) { return t.dtype != kDTypeUnknown; });
  return info;
}

std::string GraphText(const PassGraph& graph) {
  std::ostringstream os;
  DFSVisit(Heads(graph), [&](const NodePtr& n) {
    if (n->is_variable()) return;
    os << "  " << n->name << " = " << n->op()->name << '(';
    for (size_t i = 0; i < n->inputs.size(); ++i) {
      const NodeEntry& e = n->inputs[i];
      os << (i ? ", " : "") << e.node->name;
      if (e.index) os << '[' << e.index << ']';
    }
    os << ')';
    for (const auto& kv : n->attrs->dict)
      if (kv.first.compare(0, 2, "__") != 0) os << ' ' << kv.first << '=' << kv.second;
    auto layout = graph.layouts.find({n.get(), 0});
    if (layout != graph.layouts.end() && layout->second == Layout::kChannelsLast) os << " -> channels last";
    os << '\n';
  });
  return os.str();
}

void RunPasses(PassGraph* graph, PassContext* context, Stage stage, std::vector<PassRecord>* records) {
  const auto off = NamesIn("MXNET_PLAN_PASSES_OFF", Env::Get().plan_passes_off, false);
  const auto shown = NamesIn("MXNET_PLAN_LOG_PASSES", Env::Get().plan_log_passes, true);
  int nodes = OrderOf(*graph)->operators;
  for (const Pass& pass : PlanPasses()) {
    if (pass.stage != stage || off.count(pass.name)) continue;
    if ((context->request.every_result && pass.keeps != Results::kAll) || !pass.wanted(*context)) continue;
    const bool show = !context->quiet && (shown.count("all") || shown.count(pass.name));
    const std::string before = show ? GraphText(*graph) : "";
    PassRecord record;
    record.name = pass.name;
    record.nodes_before = nodes;
    record.changed = pass.run(graph, context);
    if (record.changed) context->Forget();
    if (record.changed) nodes = OrderOf(*graph)->operators;
    record.nodes_after = nodes;
    if (show) {
      std::ostringstream os;  // one write: plans are compiled on several threads
      os << "[plan] pass " << pass.name << ": " << record.changed << " changes, " << record.nodes_before << " -> " << record.nodes_after
         << " nodes\n";
      if (record.changed) os << "before:\n" << before << "after:\n" << GraphText(*graph);
      std::cerr << os.str();
    }
    records->push_back(std::move(record));
  }
}

}  // namespace mxnet
