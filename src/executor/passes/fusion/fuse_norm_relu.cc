// BatchNorm with a relu behind it, or with a sum and a relu, becomes one operator before the
// gradient is made: the plain result of BatchNorm is never stored, and the backward pass computes
// the relu's mask again from the data, or has it as bits.
#include "executor/passes/core/passes.h"
#include "operator/nn/common/epilogue.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace {

bool HasNorm(const PassGraph& g) {
  return AnyForward(g, [](const NodePtr& n) { return View<BatchNormView>(*n).has_value(); });
}

/* A BatchNorm whose one result has one reader. */
bool IsOnlyNorm(const NodeEntry& e, EntryUsers* users) {
  const Node& norm = *e.node;
  const auto view = View<BatchNormView>(norm);
  if (!view || view->gives_moments || !norm.op()->trait<NormFusion>()) return false;
  return e.index == 0 && (*users)[{&norm, 0}] == 1 && !(*users)[{&norm, 1}] && !(*users)[{&norm, 2}];
}

bool IsRelu(const Node& n) {
  nn::EpilogueOp post;
  return nn::EpilogueOf(n, &post) && post.kind == nn::EpilogueKind::kRelu;
}

}  // namespace

int FuseBatchNormRelu(PassGraph* g, PassContext* context) {
  if (!HasNorm(*g) || (!context->inference() && RecomputeNamed(g->outputs, context->request))) return 0;
  EntryUsers users = CountUsers(*g);
  int fused = 0;
  Rewrite(g, [&](const NodePtr& n, const NodePtr& original) -> NodePtr {
    if (!IsRelu(*n) || !IsOnlyNorm(original->inputs[0], &users)) return n;
    const Node& norm = *original->inputs[0].node;
    if (context->inference() && FoldsIntoLayer(norm, context->info(*g).shape(norm.inputs[0]).ndim())) return n;
    NodePtr made = norm.op()->trait<NormFusion>()->with_relu(norm, n->inputs[0].node->inputs);
    made->name = n->name;
    ++fused;
    return made;
  });
  return fused;
}

int FuseBatchNormAddRelu(PassGraph* g, PassContext* context) {
  if (!HasNorm(*g) || RecomputeNamed(g->outputs, context->request)) return 0;
  EntryUsers users = CountUsers(*g);
  const GraphInfo& info = context->info(*g);
  int fused = 0;
  Rewrite(g, [&](const NodePtr& n, const NodePtr& original) -> NodePtr {
    if (!IsRelu(*n)) return n;
    const NodeEntry sum = original->inputs[0];
    if (!IsResultOf(sum, Role::kAdd) || users[{sum.node.get(), 0}] != 1) return n;
    for (int side = 0; side < 2; ++side) {
      const NodeEntry &e = sum.node->inputs[side], &addend = sum.node->inputs[1 - side];
      if (!IsOnlyNorm(e, &users) || !(info.shape(addend) == info.shape(e)) || info.dtype(addend) != info.dtype(e)) continue;
      const Node& now = *n->inputs[0].node;  // the sum, with inputs as they have become
      NodePtr made = e.node->op()->trait<NormFusion>()->with_add_relu(*e.node, now.inputs[side].node->inputs, now.inputs[1 - side]);
      made->name = n->name;
      ++fused;
      return made;
    }
    return n;
  });
  return fused;
}

}  // namespace mxnet
