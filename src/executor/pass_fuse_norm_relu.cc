// BatchNorm with a relu behind it becomes one operator before the gradient is made: the plain result of BatchNorm is never stored,
// and the backward pass computes the relu's mask again from the data.
#include "executor/passes.h"
#include "operator/nn/post.h"

namespace mxnet {

int FuseBatchNormRelu(PassGraph* g, PassContext* context) {
  if (!context->inference() && RecomputeWanted(g->outputs, context->request)) return 0;   // what is recomputed is chosen among the nodes that the user sees
  EntryUsers users = CountUsers(*g);
  int fused = 0;
  Rewrite(g, [&](const NodePtr& n, const NodePtr& original) -> NodePtr {
    nn::PostOp post;
    if (!nn::PostOf(*n, &post) || post.kind != nn::PostKind::kRelu) return n;
    const NodeEntry& e = original->inputs[0];
    const Node& norm = *e.node;
    if (norm.is_variable() || norm.op()->name != "BatchNorm" || norm.num_outputs() != 3 || norm.op()->NumVisibleOutputs(*norm.attrs) != 1) return n;
    if (e.index != 0 || users[{&norm, 0}] != 1 || users[{&norm, 1}] || users[{&norm, 2}]) return n;
    if (context->inference() && FoldsIntoLayer(norm, context->info(*g).shape(norm.inputs[0]).ndim())) return n;
    NodePtr made = MakeNodeLike("_contrib_BatchNormWithReLU", norm, n->inputs[0].node->inputs);
    made->name = n->name;
    ++fused;
    return made;
  });
  return fused;
}

}  // namespace mxnet
