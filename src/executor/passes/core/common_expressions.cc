// Common subexpression elimination (MXNET_ELIMINATE_COMMON_EXPR).
#include "executor/passes/core/passes.h"
#include "mxnet/op.h"
#include "operator/record/purity.h"

namespace mxnet {

int EliminateCommonExpressions(PassGraph* g, PassContext*) {
  std::unordered_map<std::string, NodePtr> seen;
  int removed = 0;
  Rewrite(g, [&](const NodePtr& n, const NodePtr&) -> NodePtr {
    if (n->is_variable()) return n;
    const Op* op = n->op();
    if (!IsPure(*n->attrs) || !n->control_deps.empty()) return n;
    std::string key;
    auto raw = [&key](const void* p, size_t size) { key.append(static_cast<const char*>(p), size); };
    raw(&op, sizeof op);
    for (const auto& kv : n->attrs->dict) {
      const size_t sizes[2] = {kv.first.size(), kv.second.size()};
      raw(sizes, sizeof sizes);
      key += kv.first;
      key += kv.second;
    }
    // equal text parses to equal parameters; parameters without text (backward nodes made from a
    // parsed struct) count by identity
    if (n->attrs->dict.empty()) {
      const void* param = n->attrs->param.get();
      if (op->parse && param) raw(&param, sizeof param);
    }
    for (const auto& e : n->inputs) {
      const Node* in = e.node.get();
      raw(&in, sizeof in);
      raw(&e.index, sizeof e.index);
      raw(&e.version, sizeof e.version);
    }
    auto added = seen.emplace(std::move(key), n);
    removed += !added.second;
    return added.first->second;
  });
  return removed;
}

}  // namespace mxnet
