// The graph of a plan: gradient, passes, what results are written into, shapes, order.
#include <algorithm>

#include "executor/plan/monitor_names.h"
#include "executor/plan/plan_compiler.h"
#include "graph/gradient.h"
#include "operator/graph_operators.h"

namespace mxnet {

void PlanCompiler::Prepare() {
  MXNET_CHECK_KIND(r_.shapes.size() == inputs_.size() && r_.dtypes.size() == inputs_.size(), Value)
      << "[plan] got " << r_.shapes.size() << " input shapes; the symbol has " << inputs_.size() << " inputs";
  p_.ctx = r_.ctx;
  p_.is_train = r_.is_train;
  p_.num_inputs = static_cast<int>(inputs_.size());
  p_.num_outputs = static_cast<int>(r_.symbol.outputs.size());
  p_.grad_req = r_.grad_req;
  p_.grad_req.resize(inputs_.size(), OpReq::kNull);
  p_.per_call = r_.per_call;
  p_.per_call.resize(inputs_.size(), 0);
  for (int i = 0; i < p_.num_inputs; ++i) variable_slot_[inputs_[i].get()] = i;
  for (int i = 0; i < p_.num_inputs; ++i) types_[inputs_[i].get()] = {r_.shapes[i], r_.dtypes[i]};
  graph_.outputs = r_.symbol.outputs;
  for (OpReq req : p_.grad_req) p_.has_backward = p_.has_backward || req != OpReq::kNull;
  PassContext context(r_, p_.has_backward, &types_);
  context.quiet = trial_;
  if (forward_)
    graph_.outputs = *forward_;
  else
    RunPasses(&graph_, &context, Stage::kEarly, &p_.passes);
  context.Forget();
  AddBackward();
  RunPasses(&graph_, &context, Stage::kLate, &p_.passes);
  for (const auto& pass : p_.passes) p_.stats.num_removed += std::max(0, pass.nodes_before - pass.nodes_after);
  p_.optimized.outputs = graph_.outputs;
  ExternalResults();
  Infer();
  order_ = ExecutionOrder(*g_, graph_.outputs.size(), graph_.sequence, r_.every_result, &num_forward_);
  MakeLoops();
  PlaceEntries();
}

void PlanCompiler::AddBackward() {
  std::vector<NodeEntry> xs;
  for (int i = 0; i < p_.num_inputs; ++i) {
    if (p_.grad_req[i] == OpReq::kNull) continue;
    grad_inputs_.push_back(i);
    xs.push_back({inputs_[i], 0, 0});
  }
  if (p_.has_backward) {
    std::vector<NodeEntry> heads;
    for (int i = 0; i < p_.num_outputs; ++i) {
      heads.push_back({MakeVariable("_head_grad" + std::to_string(i)), 0, 0});
      variable_slot_[heads.back().node.get()] = p_.head_slot(i);
      extra_variables_.push_back(heads.back().node);
    }
    if (!trial_) ChooseWhatToRecompute(xs, heads);
    AddGradient(xs, heads, p_.recompute.nodes);
  }
}

void PlanCompiler::AddGradient(const std::vector<NodeEntry>& xs, const std::vector<NodeEntry>& heads, const NodeSet& again) {
  const IndexedGraph forward(graph_.outputs);
  std::vector<int> dtypes(forward.num_entries(), kDTypeUnknown);
  for (uint32_t id : forward.input_nodes) {
    auto known = types_.find(forward.nodes[id].source);
    if (known != types_.end()) dtypes[forward.eid(id, 0)] = known->second.dtype;
  }
  InferTypes(forward, &dtypes, kDTypeUnknown);
  const auto dtype_of = [&](const NodeEntry& e) {
    auto id = forward.id.find(e.node.get());
    return id == forward.id.end() ? int{kDTypeUnknown} : dtypes[forward.eid(id->second, e.index)];
  };
  // Said here, before inference in both directions guesses: the gradient of an output is bound in
  // the output's dtype.
  for (size_t i = 0; i < heads.size(); ++i) types_[heads[i].node.get()].dtype = dtype_of(graph_.outputs[i]);
  GradientResult made = BuildGradient(
      graph_.outputs, xs, heads, [&](const mxnet::Node& n) { return again.count(&n) > 0; }, dtype_of);
  graph_.alike = std::move(made.alike);
  graph_.sequence = std::move(made.sequence);
  graph_.grads.clear();
  for (size_t k = 0; k < xs.size(); ++k)
    graph_.grads.push_back(made.grads[k] ? made.grads[k] : graph_ops::ZerosLike(xs[k], xs[k].node->name + kNoGrad));
}

void PlanCompiler::ChooseWhatToRecompute(const std::vector<NodeEntry>& xs, const std::vector<NodeEntry>& heads) {
  const bool wanted = RecomputeWanted(graph_.outputs, r_);
  bool nearly_free = false;
  DFSVisit(graph_.outputs, [&](const NodePtr& n) { nearly_free = nearly_free || NearlyFree(*n); });
  if (!wanted && !nearly_free) return;
  AddGradient(xs, heads, {});
  const auto info = InferGraph(graph_, types_);
  auto arena_bytes = [this](const NodeSet& again) {
    Plan plan;
    plan.recompute.nodes = again;
    PlanCompiler compiler(r_, &plan, true);
    compiler.forward_ = &graph_.outputs;
    compiler.Prepare();
    return plan.memory.arena_bytes;
  };
  const RecomputeQuestion question{graph_, *info, r_.memory_budget, r_.least_memory, arena_bytes};
  p_.recompute = wanted ? ChooseRecomputed(question) : RecomputeNearlyFree(question);
}

/* `made` stands for `like` from now on. */
NodeEntry PlanCompiler::InPlaceOf(const NodeEntry& like, NodeEntry made) {
  auto s = graph_.sequence.find(like.node.get());
  if (s != graph_.sequence.end()) graph_.sequence[made.node.get()] = s->second;
  graph_.alike.emplace_back(made, like);
  return made;
}

/* `e` onto what the array of `slot`, which is like `like`, holds. `alone`: nobody else wants it. */
void PlanCompiler::AddOnto(NodeEntry* e, int slot, const std::string& name, bool alone, const NodeEntry& like) {
  if (alone && e->node->op()->supports_add) {
    add_directly_.insert(*e);
    return;
  }
  NodePtr before = MakeVariable(name + "_before");
  variable_slot_[before.get()] = slot;
  extra_variables_.push_back(before);
  graph_.alike.emplace_back(NodeEntry{before, 0, 0}, like);
  *e = InPlaceOf(*e, graph_ops::AddGradient({before, 0, 0}, *e, name));
}

void PlanCompiler::ExternalResults() {
  std::map<EntryKey, int> users;
  std::vector<NodeEntry> heads = graph_.outputs;
  heads.insert(heads.end(), graph_.grads.begin(), graph_.grads.end());
  DFSVisit(heads, [&](const NodePtr& n) {
    for (const auto& e : n->inputs) ++users[e];
  });
  for (const auto& e : graph_.grads) ++users[e];
  std::map<EntryKey, int> wanted;
  for (const auto& e : graph_.outputs) ++wanted[e];
  std::set<EntryKey> taken;
  for (int i = 0; i < p_.num_outputs; ++i) {
    NodeEntry& e = graph_.outputs[i];
    const bool own = !e.node->is_variable() && !taken.count(e);
    if (i < static_cast<int>(output_req_.size()) && output_req_[i] == OpReq::kAdd) {
      AddOnto(&e, p_.output_slot(i), "_output" + std::to_string(i), own && users[e] == 0 && wanted[e] == 1, e);
    } else if (!own) {
      e = InPlaceOf(e, graph_ops::CopyOf(e, "_output" + std::to_string(i)));
    }
    taken.insert(e);
    result_slot_[e] = p_.output_slot(i);
  }
  for (size_t k = 0; k < graph_.grads.size(); ++k) {
    NodeEntry& e = graph_.grads[k];
    const int input = grad_inputs_[k], slot = p_.grad_slot(input);
    const std::string name = inputs_[input]->name + "_grad";
    const bool own = !e.node->is_variable() && !taken.count(e);
    if (p_.grad_req[input] == OpReq::kAdd) {
      AddOnto(&e, slot, name, own && users[e] == 1, {inputs_[input], 0, 0});
    } else if (!own) {
      e = InPlaceOf(e, graph_ops::CopyOf(e, name));
    }
    taken.insert(e);
    result_slot_[e] = slot;
  }
}

void PlanCompiler::Infer() {
  info_ = InferGraph(graph_, types_);
  g_ = &info_->g;
  shapes_ = info_->shapes;
  dtypes_ = info_->dtypes;
  p_.output_shapes.clear();
  p_.output_dtypes.clear();
  for (int i = 0; i < p_.num_outputs; ++i) {
    const uint32_t e = g_->eid(g_->outputs[i]);
    p_.output_shapes.push_back(shapes_[e]);
    p_.output_dtypes.push_back(dtypes_[e]);
  }
  for (size_t k = 0; k < graph_.grads.size(); ++k) {  // written into arrays that lie as the inputs do
    const int input = grad_inputs_[k];
    const NodeEntry& grad = graph_.grads[k];
    const uint32_t e = g_->eid(g_->id.at(grad.node.get()), grad.index);
    MXNET_CHECK_KIND(shapes_[e] == r_.shapes[input] && dtypes_[e] == r_.dtypes[input], Value)
        << "[plan] the gradient of " << inputs_[input]->name << " is " << shapes_[e] << ' ' << DTypeName(dtypes_[e]) << "; the array is "
        << r_.shapes[input] << ' ' << DTypeName(r_.dtypes[input]);
  }
}

std::shared_ptr<const Plan> Plan::Compile(const PlanRequest& request) {
  auto plan = std::make_shared<Plan>();
  PlanCompiler(request, plan.get()).Run();
  return plan;
}

}  // namespace mxnet
