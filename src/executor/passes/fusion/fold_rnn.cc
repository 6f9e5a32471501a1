// Inference: the parameters of a recurrent layer, which Gluon keeps apart and puts together in
// every call, are put together once per plan: by a constant node, so that the layer finds them
// unchanged and keeps its packed weights.
#include "executor/passes/core/passes.h"
#include "operator/nn/rnn/join_parameters.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace {

/* The variable whose elements, in their order, the entry has; null: something else. */
const NodeEntry* Parameter(const NodeEntry& e) {
  const NodeEntry* at = &e;
  while (!at->node->is_variable()) {
    if (!IsResultOf(*at, Role::kReshape)) return nullptr;
    at = &at->node->inputs[0];
  }
  return at;
}

}  // namespace

int FoldRnnParameters(PassGraph* g, PassContext* context) {
  bool any = false;
  VisitForward(*g, [&](const NodePtr& n) { any = any || (!n->is_variable() && n->op()->trait<JoinsParameters>()); });
  if (!any) return 0;
  const GraphInfo& info = context->info(*g);
  int folded = 0;
  Rewrite(g, [&](const NodePtr& n, const NodePtr& original) -> NodePtr {
    if (n->is_variable() || !n->op()->trait<JoinsParameters>()) return n;
    if (info.shape({original, 0, 0}).ndim() != 1) return n;
    std::vector<NodeEntry> parameters;
    for (const NodeEntry& e : n->inputs) {
      const NodeEntry* p = Parameter(e);
      if (!p) return n;
      parameters.push_back(*p);
    }
    ++folded;
    return ConstantNodeLike(*nn::MakeJoinedParameters(std::move(parameters), n->name));
  });
  return folded;
}

}  // namespace mxnet
