// Inference: activation(layer + other), where the layer is a convolution or dense, becomes one
// operator, so that the result is written once.
#include <map>

#include "executor/passes/core/passes.h"
#include "operator/nn/common/fused.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace {

/* Can the layer still take something in? An addition goes before the activation. */
bool Open(const Node& n, Role layer, bool addition) {
  const auto view = nn::LayerOf(n);
  return view && view->role == layer && !view->post && !(addition && view->add);
}

bool Computed(int dtype) { return dtype == kFloat32 || IsHalf(dtype); }

NodePtr Fuse(const Node& from, const NodeEntry* addend, const nn::EpilogueOp& post, const std::string& name) {
  auto made = std::make_shared<Node>();
  made->name = name;
  made->attrs = nn::FuseInto(from, addend != nullptr, post);
  made->inputs = from.inputs;
  if (addend) made->inputs.push_back(*addend);
  return made;
}

int FuseEpilogue(PassGraph* g, PassContext* context, Role layer) {
  const auto is_layer = [layer](const NodePtr& n) {
    const auto view = nn::LayerOf(*n);
    return view && view->role == layer;
  };
  if (!AnyForward(*g, is_layer)) return 0;
  const GraphInfo& info = context->info(*g);
  std::unordered_map<const Node*, int> users;
  VisitForward(*g, [&](const NodePtr& n) {
    for (const auto& e : n->inputs) ++users[e.node.get()];
  });
  for (const auto& e : g->outputs) ++users[e.node.get()];
  int gone = 0;
  Rewrite(g, [&](const NodePtr& n, const NodePtr& original) -> NodePtr {
    auto ready = [&](int i, bool addition) {
      const NodeEntry& e = original->inputs[i];
      return Open(*n->inputs[i].node, layer, addition) && users[e.node.get()] == 1 && Computed(info.dtype(e));
    };
    nn::EpilogueOp post;
    if (RoleOf(*n) == Role::kAdd) {
      const NodeEntry out{original, 0, 0};
      for (int i = 0; i < 2; ++i) {
        const NodeEntry& other = original->inputs[1 - i];
        if (!ready(i, true) || !(info.shape(original->inputs[i]) == info.shape(out)) || !(info.shape(other) == info.shape(out)) ||
            info.dtype(other) != info.dtype(original->inputs[i]))
          continue;
        ++gone;
        return Fuse(*n->inputs[i].node, &n->inputs[1 - i], {}, n->name);
      }
    } else if (nn::EpilogueOf(*n, &post) && ready(0, false)) {
      ++gone;
      return Fuse(*n->inputs[0].node, nullptr, post, n->name);
    }
    return n;
  });
  return gone;
}

}  // namespace

int FuseConvolution(PassGraph* g, PassContext* context) { return FuseEpilogue(g, context, Role::kConvolution); }
int FuseDense(PassGraph* g, PassContext* context) { return FuseEpilogue(g, context, Role::kDense); }

}  // namespace mxnet
