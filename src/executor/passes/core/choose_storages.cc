// Sparse forms and casts for nodes of a graph whose arrays are not all dense.
#include <map>

#include "base/logging.h"
#include "executor/passes/core/passes.h"
#include "executor/passes/core/plan_request.h"
#include "mxnet/env.h"
#include "operator/nodes/graph_operators.h"
#include "operator/record/infers_storage.h"

namespace mxnet {
namespace {

class StorageChooser {
 public:
  StorageChooser(PassGraph* g, VariableTypes* variables, const StorageTypes& grads, bool quiet)
      : g_(g), variables_(*variables), grads_(grads), quiet_(quiet) {}

  bool AnySparse() const {
    bool any = false;
    DFSVisit(Heads(), [&](const NodePtr& n) { any = any || (n->is_variable() ? IsSparse(OfVariable(*n)) : n->op()->makes_sparse); });
    for (StorageType s : grads_) any = any || IsSparse(s);
    return any;
  }

  /* What its variable is for the gradient of an output. `always`: also where no operator infers
   * storages. */
  void AddHeads(const std::vector<NodePtr>& heads, bool always) {
    bool infers = always;
    DFSVisit(Heads(), [&](const NodePtr& n) { infers = infers || (!n->is_variable() && n->op()->trait<InfersStorage>()); });
    for (size_t i = 0; infers && i < heads.size(); ++i) heads_.emplace(heads[i].get(), g_->outputs[i]);
  }

  void Run() {
    for (size_t k = 0; k < grads_.size() && k < g_->grads.size(); ++k)
      if (grads_[k] != StorageType::kUndefined) wishes_.emplace(g_->grads[k], grads_[k]);
    const std::vector<NodeEntry> before = g_->grads;
    RewriteEntries(g_, [this](const NodePtr& renewed, const NodePtr& original) { return Renew(renewed, original); });
    for (size_t k = 0; k < g_->grads.size(); ++k)
      if (k < grads_.size() && grads_[k] != StorageType::kUndefined) CastGradient(&g_->grads[k], before[k], grads_[k]);
  }

 private:
  std::vector<NodeEntry> Heads() const {
    std::vector<NodeEntry> heads = g_->outputs;
    heads.insert(heads.end(), g_->grads.begin(), g_->grads.end());
    return heads;
  }
  StorageType OfVariable(const Node& n) const {
    const auto given = variables_.find(&n);
    return given == variables_.end() || given->second.storage == StorageType::kUndefined ? StorageType::kDense : given->second.storage;
  }
  /* `e`: of the graph as it was. */
  StorageType Of(const NodeEntry& e) const {
    if (e.node->is_variable()) return OfVariable(*e.node);
    return made_.at(e);
  }

  std::vector<NodeEntry> Renew(const NodePtr& renewed, const NodePtr& original) {
    // Outputs are visited before what differentiates them.
    const auto head = heads_.find(original.get());
    if (head != heads_.end()) variables_[original.get()].storage = Of(head->second);
    const int count = original->num_outputs();
    std::vector<NodeEntry> entries(static_cast<size_t>(count));
    NodePtr node = original->is_variable() ? renewed : WithStorages(renewed, original, count);
    for (int i = 0; i < count; ++i) entries[static_cast<size_t>(i)] = {node, static_cast<uint32_t>(i), 0};
    return entries;
  }

  NodePtr WithStorages(const NodePtr& renewed, const NodePtr& original, int count) {
    StorageTypes in, out(static_cast<size_t>(count), StorageType::kUndefined);
    for (const NodeEntry& e : original->inputs) in.push_back(Of(e));
    for (int i = 0; i < count; ++i) {
      const auto wish = wishes_.find(EntryKey(original.get(), static_cast<uint32_t>(i)));
      // What makes something else of a wish than inference later says gets none.
      if (wish != wishes_.end() && !original->op()->trait<InfersStorage>()) out[static_cast<size_t>(i)] = wish->second;
    }
    const StorageTypes wishes = out;
    const StorageWay way = InferStorage(*original->attrs, in, &out);
    // What makes sparse results of dense inputs makes them of dense copies as well.
    const bool form_of_copies = way == StorageWay::kFallback && original->op()->makes_sparse && HasFormOfCopies(*original, wishes, &out);
    for (int i = 0; i < count; ++i) made_[EntryKey(original.get(), static_cast<uint32_t>(i))] = out[static_cast<size_t>(i)];
    if (Env::Get().infer_storage_type_verbose_logging && !quiet_) Log(*original, in, out, way);
    bool sparse_inputs = false;
    for (StorageType s : in) sparse_inputs = sparse_inputs || IsSparse(s);
    if (way == StorageWay::kDense || (way == StorageWay::kFallback && !sparse_inputs)) return renewed;
    auto node = std::make_shared<Node>(*renewed);
    if (way == StorageWay::kForm) {
      node->attrs = AttrsOfForm(renewed->attrs, out);
      return node;
    }
    if (!quiet_) NoteFallback(*original->attrs, in, out);
    for (int i : original->op()->MutateInputs(*original->attrs))
      MXNET_CHECK_KIND(!IsSparse(in[static_cast<size_t>(i)]), Value)
          << "[" << original->op()->name << "] node " << original->name << " updates its input " << i << ", which is "
          << StorageTypeName(in[static_cast<size_t>(i)]) << "; accepted for these storage types: default";
    for (size_t i = 0; i < in.size(); ++i)
      if (IsSparse(in[i])) node->inputs[i] = DenseOf(node->inputs[i]);
    if (form_of_copies) node->attrs = AttrsOfForm(renewed->attrs, out);
    return node;
  }

  static bool HasFormOfCopies(const Node& node, const StorageTypes& wishes, StorageTypes* out) {
    StorageTypes made = wishes;
    if (InferStorage(*node.attrs, StorageTypes(node.inputs.size(), StorageType::kDense), &made) != StorageWay::kForm) return false;
    *out = std::move(made);
    return true;
  }

  /* A cast that all who need it share. */
  NodeEntry DenseOf(const NodeEntry& e) {
    NodeEntry& cast = casts_[e];
    if (!cast) cast = Cast(e, StorageType::kDense, e.node->name + "_dense");
    return cast;
  }

  static NodeEntry Cast(const NodeEntry& e, StorageType storage, const std::string& name) {
    auto node = std::make_shared<Node>();
    node->name = name;
    node->attrs = AttrsOfForm(graph_ops::CastStorageAttrs(storage), {storage});
    node->inputs = {e};
    return {node, 0, 0};
  }

  void CastGradient(NodeEntry* e, const NodeEntry& before, StorageType wanted) {
    if (Of(before) == wanted) return;
    const NodeEntry cast = Cast(*e, wanted, e->node->name + "_" + StorageTypeName(wanted));
    const auto s = g_->sequence.find(e->node.get());
    if (s != g_->sequence.end()) g_->sequence[cast.node.get()] = s->second;
    g_->alike.emplace_back(cast, *e);
    *e = cast;
  }

  static void Log(const Node& node, const StorageTypes& in, const StorageTypes& out, StorageWay way) {
    std::string text = "[infer_storage_type] " + node.name + " = " + node.op()->name + "(";
    for (size_t i = 0; i < in.size(); ++i) text += std::string(i ? ", " : "") + StorageTypeName(in[i]);
    text += ") -> (";
    for (size_t i = 0; i < out.size(); ++i) text += std::string(i ? ", " : "") + StorageTypeName(out[i]);
    LogInfo(text + (way == StorageWay::kFallback ? "), on dense copies" : way == StorageWay::kForm ? "), sparse" : ")"));
  }

  PassGraph* const g_;
  VariableTypes& variables_;
  const StorageTypes& grads_;
  const bool quiet_;
  std::map<EntryKey, StorageType> wishes_, made_;  // by entry of the graph as it was
  std::map<EntryKey, NodeEntry> casts_;            // by entry of the graph as it is
  std::map<const Node*, NodeEntry> heads_;         // outputs, of the graph as it was
};

}  // namespace

bool ChooseStorages(PassGraph* g, VariableTypes* variables, const StorageTypes& grads, const std::vector<NodePtr>& heads,
                    HeadStorages head_storages, bool quiet) {
  StorageChooser chooser(g, variables, grads, quiet);
  if (!chooser.AnySparse()) return false;
  if (head_storages != HeadStorages::kDense) chooser.AddHeads(heads, head_storages == HeadStorages::kAsOutputs);
  chooser.Run();
  return true;
}

std::vector<NodeEntry> WithoutForms(const std::vector<NodeEntry>& outputs) {
  PassGraph graph;
  graph.outputs = outputs;
  Rewrite(&graph, [](const NodePtr& renewed, const NodePtr&) {
    const AttrsPtr dense = renewed->is_variable() ? nullptr : AttrsOfDense(*renewed->attrs);
    if (!dense) return renewed;
    auto node = std::make_shared<Node>(*renewed);
    node->attrs = dense;
    return node;
  });
  return graph.outputs;
}

void GiveForms(const std::vector<NodePtr>& nodes, const GraphInfo& info) {
  for (const NodePtr& n : nodes) {
    StorageTypes in, out;
    bool sparse = false;
    for (const NodeEntry& e : n->inputs) in.push_back(info.type(e).storage);
    for (uint32_t i = 0; i < static_cast<uint32_t>(n->num_outputs()); ++i) out.push_back(info.type({n, i, 0}).storage);
    for (StorageType s : in) sparse = sparse || IsSparse(s);
    if (sparse) n->attrs = AttrsOfForm(n->attrs, out);
  }
}

}  // namespace mxnet
