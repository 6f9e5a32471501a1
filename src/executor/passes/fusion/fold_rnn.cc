// Inference: the parameters of a recurrent layer, which Gluon keeps apart and puts together in
// every call, are put together once per plan: by a constant node, so that the layer finds them
// unchanged and keeps its packed weights.
#include "executor/passes/core/passes.h"
#include "operator/nn/rnn/join_parameters.h"
#include "operator/record/traits.h"

namespace mxnet {
int FoldRnnParameters(PassGraph* g, PassContext* context) {
  if (!AnyForward(*g, [](const NodePtr& n) { return !n->is_variable() && n->op()->trait<JoinsParameters>(); })) return 0;
  const GraphInfo& info = context->info(*g);
  int folded = 0;
  Rewrite(g, [&](const NodePtr& n, const NodePtr& original) -> NodePtr {
    if (n->is_variable() || !n->op()->trait<JoinsParameters>()) return n;
    if (info.shape({original, 0, 0}).ndim() != 1) return n;
    std::vector<NodeEntry> parameters;
    for (const NodeEntry& e : n->inputs) {
      const NodeEntry& parameter = BeforeReshapes(e);
      if (!parameter.node->is_variable()) return n;
      parameters.push_back(parameter);
    }
    ++folded;
    return ConstantNodeLike(*nn::MakeJoinedParameters(std::move(parameters), n->name));
  });
  return folded;
}

}  // namespace mxnet
