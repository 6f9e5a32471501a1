// Products of matrices read transposed matrices as they lie: exporters transpose keys, of which a
// decoder's cache has many, before they multiply queries by them. PyTorch's exporter scales both
// before; the smaller one gets the product of the scales.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "executor/passes/core/passes.h"
#include "operator/nodes/graph_operators.h"
#include "operator/nodes/make_nodes.h"

namespace mxnet {
namespace {

/* `operand` with the rows and columns of its matrices in the other order, where that makes the
 * columns lie side by side in memory; empty: it would not. `original` is the operand in the old
 * graph. PyTorch's exporter puts stacks together for a transpose, and apart again behind it. */
NodeEntry Swapped(const NodeEntry& operand, const NodeEntry& original, const GraphInfo& info, const EntryUsers& users) {
  if (users.at(original) != 1) return NodeEntry();
  const Shape& shape = info.shape(original);
  const int ndim = shape.ndim();
  if (IsResultOf(operand, Role::kReshape)) {
    const NodeEntry &inner = operand.node->inputs[0], &was = original.node->inputs[0];
    const Shape& flat = info.shape(was);
    const int n = flat.ndim();
    if (ndim < 2 || n < 2 || flat[n - 2] != shape[ndim - 2] || flat[n - 1] != shape[ndim - 1]) return NodeEntry();
    const std::vector<int> axes = IsResultOf(inner, Role::kTranspose) ? PermutationOf(*inner.node, n) : std::vector<int>();
    for (int i = 0; i < n - 2; ++i)
      if (axes.empty() || axes[i] != i) return NodeEntry();  // stacks change places
    const NodeEntry lying = Swapped(inner, was, info, users);
    if (!lying) return NodeEntry();
    Shape swapped = shape;
    std::swap(swapped[ndim - 2], swapped[ndim - 1]);
    return graph_ops::ReshapeTo(lying, swapped, operand.node->name);
  }
  if (!IsResultOf(operand, Role::kTranspose)) return NodeEntry();
  std::vector<int> axes = PermutationOf(*operand.node, ndim);
  if (axes.empty() || axes[ndim - 2] != ndim - 1) return NodeEntry();
  std::swap(axes[ndim - 2], axes[ndim - 1]);
  return graph_ops::TransposeTo(operand.node->inputs[0], axes, operand.node->name);
}

/* An operand behind the numbers that it is multiplied by. */
struct Unscaled {
  NodeEntry entry, original;  // in the new graph and in the old one
  double scale = 1;
  int scales = 0;  // nodes
};

Unscaled BehindScales(const NodeEntry& entry, const NodeEntry& original, const GraphInfo& info, const EntryUsers& users) {
  Unscaled u{entry, original};
  while (users.at(u.original) == 1) {
    const auto affine = AffineOf(*u.entry.node);
    if (!affine || affine->shift != 0 || u.entry.index != 0) break;
    const NodeEntry& before = u.original.node->inputs[0];
    if (info.dtype(u.original) != kFloat32 || info.dtype(before) != kFloat32 || !(info.shape(u.original) == info.shape(before))) break;
    u = {u.entry.node->inputs[0], before, u.scale * affine->scale, u.scales + 1};
  }
  return u;
}

NodeEntry Scaled(const NodeEntry& e, double scale, const std::string& name) {
  auto node = std::make_shared<Node>();
  node->name = name + "_scale";
  node->attrs = graph_ops::MultiplyAttrs(scale);
  node->inputs = {e};
  return {node, 0, 0};
}

/* The two operands of a product, and which of them are read transposed. */
struct Operands {
  NodeEntry at[2];
  bool swapped[2] = {false, false};
  bool changed = false;
};

Operands OperandsOf(const Node& product, const Node& original, const GraphInfo& info, const EntryUsers& users) {
  Operands made;
  Unscaled behind[2];
  NodeEntry transposed[2];
  bool joins = true;  // the scales of both, or one of what was transposed
  for (int i = 0; i < 2; ++i) {
    behind[i] = BehindScales(product.inputs[i], original.inputs[i], info, users);
    transposed[i] = Swapped(behind[i].entry, behind[i].original, info, users);
    joins = joins && behind[i].scales > 0;
  }
  for (int i = 0; i < 2; ++i) joins = joins || (behind[i].scales > 0 && transposed[i]);
  for (int i = 0; i < 2; ++i) {
    made.swapped[i] = transposed[i] && (joins || behind[i].scales == 0);
    made.at[i] = made.swapped[i] ? transposed[i] : joins ? behind[i].entry : product.inputs[i];
    made.changed = made.changed || made.swapped[i] || joins;
  }
  const double scale = behind[0].scale * behind[1].scale;
  if (joins && scale != 1) {
    const int smaller = info.shape(behind[0].original).Size() > info.shape(behind[1].original).Size();
    made.at[smaller] = Scaled(made.at[smaller], scale, product.name);
  }
  return made;
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
    Operands operands = OperandsOf(*n, *original, info, users);
    if (!operands.changed) return n;
    ++folded;
    product->transpose_a ^= operands.swapped[0];
    product->transpose_b ^= operands.swapped[1];
    return MakeMatrixProduct(product->transpose_a, product->transpose_b, {operands.at[0], operands.at[1]}, n->name);
  });
  return folded;
}

}  // namespace mxnet
