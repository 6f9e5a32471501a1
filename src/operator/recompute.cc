#include "operator/recompute.h"

#include <unordered_map>

namespace mxnet {
namespace {

// Filled while the library is loaded, read only afterwards.
std::unordered_map<std::string, RecomputeRule>& Rules() {
  static auto* rules = new std::unordered_map<std::string, RecomputeRule>();
  return *rules;
}

}  // namespace

void SetRecomputeRule(const std::string& op, RecomputeRule rule) { Rules()[op] = std::move(rule); }

const RecomputeRule* FindRecomputeRule(const Op& op) {
  auto it = Rules().find(op.name);
  return it == Rules().end() ? nullptr : &it->second;
}

bool CanRecompute(const Attrs& attrs, int index) {
  if (!attrs.op || attrs.op->array_fn || !attrs.subgraphs.empty()) return false;
  if (FindRecomputeRule(*attrs.op)) return index == 0;
  return !attrs.op->uses_random && attrs.op->MutateInputs(attrs).empty();
}

}  // namespace mxnet
