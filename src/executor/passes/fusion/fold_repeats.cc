// Products of matrices read what was repeated once. In grouped-query attention several heads share
// keys and values (Ainslie et al., arXiv 2305.13245), and exporters repeat these for each head. The
// queries of such heads are rows of one product instead.
#include "executor/passes/core/passes.h"
#include "executor/passes/fusion/repeated_stacks.h"
#include "operator/nodes/graph_operators.h"
#include "operator/nodes/make_nodes.h"

namespace mxnet {
namespace {

/* What repeats a dimension of size 1 between the stack and its matrices; 0: something else. */
int64_t TimesSpread(const Shape& before, const Shape& after) {
  const int at = after.ndim() - 3;
  if (at < 0 || before.ndim() != after.ndim() || before[at] != 1) return 0;
  for (int i = 0; i < after.ndim(); ++i)
    if (i != at && before[i] != after[i]) return 0;
  return after[at];
}

struct Found {
  NodeEntry rows;
  RepeatedStack stack;
  bool transpose_b;
  Shape result;
};

}  // namespace

std::optional<RepeatedStack> RepeatedStackOf(const NodeEntry& e, const pattern::GraphView& view) {
  const Shape& whole = view.shape(e);
  const int last = whole.ndim() - 3;
  if (last < 0 || whole.Size() == 0) return std::nullopt;
  RepeatedStack stack{NodeEntry(), whole, 0};
  if (IsResultOf(e, Role::kRepeat)) {
    const auto repeat = View<RepeatView>(*e.node);
    if (!repeat || !repeat->axis || (*repeat->axis + whole.ndim()) % whole.ndim() != last) return std::nullopt;
    stack.from = e.node->inputs[0];
    stack.times = whole[last] / view.shape(stack.from)[last];
  } else if (IsResultOf(e, Role::kReshape) && IsResultOf(e.node->inputs[0], Role::kBroadcast)) {
    const NodeEntry& spread = e.node->inputs[0];
    const Shape& apart = view.shape(spread);
    stack.from = spread.node->inputs[0];
    stack.times = TimesSpread(view.shape(stack.from), apart);
    for (int i = 1; i <= 2; ++i)
      if (stack.times && apart[apart.ndim() - i] != whole[whole.ndim() - i]) return std::nullopt;
  }
  if (stack.times < 2 || whole[last] % stack.times != 0) return std::nullopt;
  stack.shape[last] /= stack.times;
  return stack;
}

int FoldRepeats(PassGraph* g, PassContext* context) {
  if (!Has(*g, Role::kBatchedMatrixProduct) || (!Has(*g, Role::kBroadcast) && !Has(*g, Role::kRepeat))) return 0;
  const pattern::GraphView view(*g, context->info(*g));
  std::map<const Node*, Found> found;
  VisitForward(*g, [&](const NodePtr& n) {
    if (n->is_variable() || RoleOf(*n) != Role::kBatchedMatrixProduct) return;
    const auto product = View<MatrixProductView>(*n);
    if (!product || product->transpose_a) return;
    if (const auto stack = RepeatedStackOf(n->inputs[1], view))
      found.emplace(n.get(), Found{n->inputs[0], *stack, product->transpose_b, view.shape({n, 0, 0})});
  });
  pattern::Replace(g, found, [&](const Found& f, const pattern::Renew& renew, const std::string& name) {
    Shape grouped = view.shape(f.rows);
    const int last = grouped.ndim() - 3;
    grouped[last] /= f.stack.times;
    grouped[last + 1] *= f.stack.times;
    const NodeEntry rows = graph_ops::ReshapeTo(renew(f.rows), grouped, name + "_rows"),
                    once = graph_ops::ReshapeTo(renew(f.stack.from), f.stack.shape, name + "_once");
    const NodePtr product = MakeMatrixProduct(false, f.transpose_b, {rows, once}, name);
    return graph_ops::ReshapeTo({product, 0, 0}, f.result, name + "_apart").node;
  });
  return static_cast<int>(found.size());
}

}  // namespace mxnet
