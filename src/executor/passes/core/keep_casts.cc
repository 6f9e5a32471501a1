// Inference: where mixed precision casts a parameter for a layer, the cast runs once per plan.
#include <map>

#include "executor/passes/core/passes.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace {

bool IsCast(const Node& n) { return RoleOf(n) == Role::kCast && n.inputs[0].node->is_variable(); }

bool IsParameterOf(const Node& layer, int input) {
  const auto& names = layer.op()->input_names;
  if (input >= static_cast<int>(names.size()) || input == 0) return false;
  const std::string& name = names[input];
  return layer.op()->flops && (name == "weight" || name == "bias" || name == "parameters");
}

}  // namespace

int KeepCasts(PassGraph* g, PassContext*) {
  std::map<const Node*, bool> only;  // is a cast read by layers alone, as a parameter?
  VisitForward(*g, [&](const NodePtr& n) {
    for (int i = 0; i < n->num_inputs(); ++i) {
      const Node& from = *n->inputs[i].node;
      if (!IsCast(from)) continue;
      auto& is = only.emplace(&from, true).first->second;
      is = is && IsParameterOf(*n, i);
    }
  });
  if (only.empty()) return 0;
  for (const auto& e : g->outputs) only[e.node.get()] = false;
  int kept = 0;
  Rewrite(g, [&](const NodePtr& n, const NodePtr& original) -> NodePtr {
    const auto it = only.find(original.get());
    if (it == only.end() || !it->second || IsConstantNode(*n)) return n;
    ++kept;
    return ConstantNodeLike(*n);
  });
  return kept;
}

}  // namespace mxnet
