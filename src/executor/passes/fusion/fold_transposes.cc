// Products of matrices read transposed matrices as they lie: exporters transpose keys, of which a
// decoder's cache has many, before they multiply queries by them.
#include <utility>

#include "executor/passes/core/passes.h"
#include "operator/nodes/graph_operators.h"
#include "operator/nodes/make_nodes.h"

namespace mxnet {
namespace {

/* `operand` with the rows and columns of its matrices in the other order, where that makes the
 * columns lie side by side in memory; empty: it would not. */
NodeEntry Swapped(const NodeEntry& operand, int ndim) {
  if (!IsResultOf(operand, Role::kTranspose)) return NodeEntry();
  std::vector<int> axes = PermutationOf(*operand.node, ndim);
  if (axes.empty() || axes[ndim - 2] != ndim - 1) return NodeEntry();
  std::swap(axes[ndim - 2], axes[ndim - 1]);
  return graph_ops::TransposeTo(operand.node->inputs[0], axes, operand.node->name);
}

}  // namespace

int FoldTransposes(PassGraph* g, PassContext* context) {
  if (!Has(*g, Role::kBatchedMatrixProduct) || !Has(*g, Role::kTranspose)) return 0;
  const GraphInfo& info = context->info(*g);
  EntryUsers users = CountUsers(*g);
  int folded = 0;
  Rewrite(g, [&](const NodePtr& n, const NodePtr& original) -> NodePtr {
    auto product = View<MatrixProductView>(*n);
    if (!product || RoleOf(*n) != Role::kBatchedMatrixProduct) return n;
    std::vector<NodeEntry> operands = n->inputs;
    int swapped = 0;
    for (size_t i = 0; i < 2; ++i) {
      const NodeEntry& was = original->inputs[i];
      const NodeEntry made = users[was] == 1 ? Swapped(operands[i], info.shape(was).ndim()) : NodeEntry();
      if (!made) continue;
      operands[i] = made;
      bool& transpose = i == 0 ? product->transpose_a : product->transpose_b;
      transpose = !transpose;
      ++swapped;
    }
    if (!swapped) return n;
    folded += swapped;
    return MakeMatrixProduct(product->transpose_a, product->transpose_b, std::move(operands), n->name);
  });
  return folded;
}

}  // namespace mxnet
