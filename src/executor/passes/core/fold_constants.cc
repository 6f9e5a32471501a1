// Nodes that read nothing from outside are computed once per plan.
#include "executor/passes/core/passes.h"
#include "mxnet/op.h"
#include "operator/record/purity.h"

namespace mxnet {
namespace {

constexpr int64_t kSmall = 64 << 10;  // bytes; filling a larger array again is as cheap as reading it, and costs no memory between runs

}  // namespace

int FoldConstants(PassGraph* g, PassContext* context) {
  const auto begins = [](const NodePtr& n) { return !n->is_variable() && (n->inputs.empty() || IsConstantNode(*n)); };
  if (!AnyNode(*g, begins)) return 0;
  const GraphInfo& info = context->info(*g);
  std::unordered_map<const Node*, bool> head;
  for (const auto& e : g->outputs) head[e.node.get()] = true;
  for (const auto& e : g->grads) head[e.node.get()] = true;
  int marked = 0;
  Rewrite(g, [&](const NodePtr& n, const NodePtr& original) -> NodePtr {
    if (n->is_variable() || IsConstantNode(*n) || head.count(original.get()) || !IsPure(*n->attrs) || !n->control_deps.empty()) return n;
    int64_t bytes = 0;
    for (int i = 0; i < original->num_outputs(); ++i) {
      const NodeEntry e{original, static_cast<uint32_t>(i), 0};
      bytes += info.shape(e).Size() * static_cast<int64_t>(DTypeSize(info.dtype(e)));
    }
    for (const auto& e : n->inputs)
      if (!IsConstantNode(*e.node)) return n;
    if (n->inputs.empty() && bytes > kSmall) return n;
    ++marked;
    return ConstantNodeLike(*n);
  });
  return marked;
}

}  // namespace mxnet
