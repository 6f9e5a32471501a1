// Inference: a vector that is added to the result of a convolution or dense layer without bias is
// its bias. Exporters write MatMul and Add; as one layer, it adds while its sums are still in
// registers, and an activation behind it can follow.
#include <algorithm>

#include "executor/passes/core/passes.h"
#include "operator/nn/common/fused.h"
#include "operator/nodes/graph_operators.h"

namespace mxnet {
namespace {

/* A layer that has no bias and to which nothing was added yet. */
bool HasRoom(const Node& n) {
  const auto layer = nn::LayerOf(n);
  return layer && !layer->add && !layer->post && n.num_inputs() == layer->before_bias();
}

/* Does an array of this shape have one number for each filter of a result? */
bool IsVector(const Shape& shape, const Shape& result, int channel_axis) {
  const int more = result.ndim() - shape.ndim();
  if (more < 0 || channel_axis < more) return false;
  for (int i = 0; i < shape.ndim(); ++i)
    if (shape[i] != (i + more == channel_axis ? result[channel_axis] : 1)) return false;
  return true;
}

/* Parameters, as they are or in another shape. */
bool IsParameter(const NodeEntry& e) {
  const Node& n = *BeforeReshapes(e).node;
  return n.is_variable() || IsConstantNode(n);
}

}  // namespace

int JoinBiases(PassGraph* g, const GraphInfo& info) {
  EntryUsers users = CountUsers(*g);
  int joined = 0;
  Rewrite(g, [&](const NodePtr& n, const NodePtr& original) -> NodePtr {
    if (RoleOf(*n) != Role::kAdd) return n;
    const NodeEntry out{original, 0, 0};
    for (int i = 0; i < 2; ++i) {
      const NodeEntry &sum = original->inputs[i], &vector = original->inputs[1 - i];
      const Node& layer = *n->inputs[i].node;
      if (sum.index != 0 || users[sum] != 1 || !HasRoom(layer) || !IsParameter(vector)) continue;
      const int dtype = info.dtype(sum), axis = nn::LayerOf(layer)->channel_axis(info.shape(sum).ndim());
      const bool floats = dtype == kFloat32 || IsHalf(dtype);
      if (!floats || info.dtype(out) != dtype || info.dtype(vector) != dtype || !(info.shape(sum) == info.shape(out)) ||
          !IsVector(info.shape(vector), info.shape(out), axis))
        continue;
      auto made = std::make_shared<Node>();
      made->name = n->name;
      made->attrs = nn::WithBias(layer, kFloat32);  // the layer itself: the vector is of its dtype
      made->inputs = layer.inputs;
      const NodeEntry& bias = n->inputs[1 - i];
      const Shape flat{info.shape(out)[axis]};
      made->inputs.push_back(info.shape(vector) == flat ? bias : graph_ops::ReshapeTo(bias, flat, n->name + "_bias"));
      ++joined;
      return made;
    }
    return n;
  });
  return joined;
}

int JoinBias(PassGraph* g, PassContext* context) {
  return AnyForward(*g, [](const NodePtr& n) { return HasRoom(*n); }) ? JoinBiases(g, context->info(*g)) : 0;
}

}  // namespace mxnet
