// Sources whose shape only their users tell get it written down, so that later passes may put
// anything in the users' place.
#include "executor/passes/core/passes.h"
#include "operator/record/traits.h"

namespace mxnet {

int SettleShapes(PassGraph* g, PassContext* context) {
  const auto source = [](const Node& n) { return n.is_variable() || !n.inputs.empty() ? nullptr : n.op()->trait<ShapeParameter>(); };
  if (!AnyForward(*g, [&](const NodePtr& n) { return source(*n) != nullptr; })) return 0;
  const GraphInfo& info = context->info(*g);
  int settled = 0;
  Rewrite(g, [&](const NodePtr& n, const NodePtr& original) -> NodePtr {
    const ShapeParameter* parameter = source(*n);
    const Shape& shape = info.shape(NodeEntry{original, 0, 0});
    if (!parameter || parameter->shape(*n->attrs) == shape) return n;
    AttrDict dict = n->attrs->dict;
    dict[parameter->name] = shape.str();
    auto made = std::make_shared<Node>(*n);
    made->attrs = MakeAttrs(n->op(), std::move(dict));
    ++settled;
    return made;
  });
  return settled;
}

}  // namespace mxnet
