// How the backward pass computes an operator's result again, where running the operator a second
// time would do something else.
#ifndef MXNET_OPERATOR_RECORD_RECOMPUTE_H_
#define MXNET_OPERATOR_RECORD_RECOMPUTE_H_

#include "mxnet/op.h"
#include "operator/record/purity.h"

namespace mxnet {

/* Null: the operator itself is run again, where that is allowed. */
inline const RecomputeRule* FindRecomputeRule(const Op& op) { return op.recompute.op.empty() ? nullptr : &op.recompute; }

/* Can its output `index` be computed again at all? */
inline bool CanRecompute(const Attrs& attrs, int index) {
  if (!attrs.op) return false;
  const uint32_t impurity = ImpurityOf(attrs) & ~uint32_t{kKeepsState};  // what is kept serves both nodes
  if (FindRecomputeRule(*attrs.op)) return index == 0 && (impurity & ~uint32_t{kDrawsRandom | kWritesInputs}) == 0;
  return impurity == 0;
}

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RECORD_RECOMPUTE_H_
