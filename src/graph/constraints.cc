#include "graph/constraints.h"

#include <cstdlib>

namespace mxnet {
namespace {

constexpr const char* kAttr = "__opt_constraint__";
thread_local unsigned t_constraints = 0;

}  // namespace

unsigned GraphConstraints() { return t_constraints; }

unsigned SetGraphConstraints(unsigned constraints) {
  MXNET_CHECK_KIND((constraints & ~kAllGraphConstraints) == 0, Value)
      << "[graph] optimization constraints " << constraints << "; accepted: 0, or 1 (no mixed precision)";
  const unsigned before = t_constraints;
  t_constraints = constraints;
  return before;
}

AttrDict Constrained(AttrDict dict) {
  if (t_constraints != 0) dict[kAttr] = std::to_string(t_constraints);
  return dict;
}

unsigned ConstraintsOf(const Node& node) {
  const auto found = node.attrs->dict.find(kAttr);
  return found == node.attrs->dict.end() ? 0 : static_cast<unsigned>(std::strtoul(found->second.c_str(), nullptr, 10));
}

}  // namespace mxnet
