// Sources whose shape only their users tell get it written down, so that later passes may put
// anything in the users' place.
#include <algorithm>

#include "executor/passes/core/passes.h"

namespace mxnet {

int SettleShapes(PassGraph* g, PassContext* context) {
  auto open = [](const Node& n) { return !n.is_variable() && n.inputs.empty() && n.attrs->dict.count("shape"); };
  bool any = false;
  DFSVisit(g->outputs, [&](const NodePtr& n) { any = any || open(*n); });
  if (!any) return 0;
  const GraphInfo& info = context->info(*g);
  int settled = 0;
  Rewrite(g, [&](const NodePtr& n, const NodePtr& original) -> NodePtr {
    if (!open(*n)) return n;
    const std::string shape = info.shape(NodeEntry{original, 0, 0}).str();
    AttrDict dict = n->attrs->dict;
    std::string& written = dict["shape"];
    written.erase(std::remove(written.begin(), written.end(), ' '), written.end());
    if (written == shape) return n;
    written = shape;
    auto made = std::make_shared<Node>(*n);
    made->attrs = MakeAttrs(n->op(), std::move(dict));
    ++settled;
    return made;
  });
  return settled;
}

}  // namespace mxnet
