// Nodes that give what they get disappear: copies, Dropout that drops nothing, casts to the same
// dtype, reshapes, sums and broadcasts to the same shape, transposes that undo each other. Their
// records say when they do (GivesInput).
#include <map>
#include <set>

#include "executor/passes/core/passes.h"
#include "executor/passes/core/plan_request.h"
#include "operator/nodes/graph_operators.h"
#include "operator/record/traits.h"
#include "operator/record/traits_graph.h"

namespace mxnet {
namespace {

using Entries = std::vector<NodeEntry>;

class IdentityRemover {
 public:
  /* With `casts_only`, only those that mixed precision has put in go. */
  IdentityRemover(PassGraph* g, const GraphInfo& info, bool training, bool casts_only)
      : g_(g), info_(info), training_(training), casts_only_(casts_only) {
    for (const auto& node : info.g.nodes) {
      const Node& n = *node.source;
      for (const auto& e : n.inputs) ++users_[e];
      if (n.is_variable()) continue;
      for (int m : n.op()->MutateInputs(*n.attrs))
        if (m < n.num_inputs()) mutated_.insert(n.inputs[m].node.get());
    }
  }

  /* Returns how many nodes went. */
  int Run() {
    int removed = 0;
    RewriteEntries(g_, [&](const NodePtr& n, const NodePtr& original) {
      if (n->is_variable() || n->inputs.empty() || mutated_.count(original->inputs[0].node.get())) return Entries();
      if (casts_only_ && !n->op()->trait<MixedPrecisionCast>()) return Entries();
      for (const auto& form : {&IdentityRemover::Cheaper, &IdentityRemover::Input, &IdentityRemover::OneTranspose}) {
        Entries instead = (this->*form)(*n, original);
        if (instead.empty()) continue;
        ++removed;
        return instead;
      }
      return Entries();
    });
    return removed;
  }

 private:
  // Each of these gives what takes the place of the node's results; nothing: something else.

  Entries Cheaper(const Node& n, const NodePtr& original) const {
    const auto* cheaper = n.op()->trait<CheaperForm>();
    if (!cheaper || g_->sequence.count(original.get())) return {};
    for (const auto& e : original->inputs)
      if (mutated_.count(e.node.get())) return {};
    std::vector<int> in, out;
    for (const auto& e : original->inputs) in.push_back(info_.dtype(e));
    for (int i = 0; i < original->num_outputs(); ++i) out.push_back(info_.dtype({original, static_cast<uint32_t>(i), 0}));
    return cheaper->make(n, in, out);
  }

  Entries Input(const Node& n, const NodePtr& original) const {
    const auto* gives = n.op()->trait<GivesInput>();
    const NodeEntry out{original, 0, 0}, &in = original->inputs[0];
    if (!gives || info_.dtype(in) != info_.dtype(out) || !(info_.shape(in) == info_.shape(out))) return {};
    for (int i = 1; i < original->num_outputs(); ++i)
      if (users_.count({original.get(), static_cast<uint32_t>(i)})) return {};
    if (gives->when && !gives->when(*n.attrs, info_.shape(in), training_)) return {};
    return Entries(original->num_outputs(), n.inputs[0]);  // nobody reads the others
  }

  // Of two transposes where the first has no other reader.
  Entries OneTranspose(const Node& n, const NodePtr& original) const {
    const NodeEntry &inner = n.inputs[0], &was = original->inputs[0];
    const auto reads = users_.find({was.node.get(), 0});
    if (was.node->is_variable() || reads == users_.end() || reads->second != 1) return {};
    const int ndim = info_.shape(was).ndim();
    if (PermutationOf(*was.node, ndim).empty()) return {};
    const std::vector<int> first = PermutationOf(*inner.node, ndim), second = PermutationOf(n, ndim);
    if (first.empty() || second.empty()) return {};
    std::vector<int> axes;
    for (int i = 0; i < ndim; ++i) axes.push_back(first[second[i]]);
    return {graph_ops::TransposeTo(inner.node->inputs[0], axes, n.name)};
  }

  PassGraph* const g_;
  const GraphInfo& info_;
  const bool training_, casts_only_;
  std::map<EntryKey, int> users_;
  std::set<const Node*> mutated_;  // a copy of what changes later is no identity
};

}  // namespace

int RemoveIdentities(PassGraph* g, PassContext* context) {
  return IdentityRemover(g, context->info(*g), context->request.is_train, false).Run();
}

int RemoveMixedCasts(PassGraph* g, PassContext* context) {
  if (!AnyForward(*g, [](const NodePtr& n) { return !n->is_variable() && n->op()->trait<MixedPrecisionCast>() != nullptr; })) return 0;
  return IdentityRemover(g, context->info(*g), context->request.is_train, true).Run();
}

}  // namespace mxnet
