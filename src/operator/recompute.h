// How the backward pass computes an operator's result again, where running the operator a second
// time would do something else.
#ifndef MXNET_OPERATOR_RECOMPUTE_H_
#define MXNET_OPERATOR_RECOMPUTE_H_

#include "mxnet/op.h"
#include "operator/runs_elsewhere.h"

namespace mxnet {

/* Null: the operator itself is run again, where that is allowed. */
inline const RecomputeRule* FindRecomputeRule(const Op& op) { return op.recompute.op.empty() ? nullptr : &op.recompute; }

/* Can its output `index` be computed again at all? */
inline bool CanRecompute(const Attrs& attrs, int index) {
  if (!attrs.op || attrs.op->array_fn || attrs.op->trait<RunsElsewhere>() || !attrs.subgraphs.empty()) return false;
  if (FindRecomputeRule(*attrs.op)) return index == 0;
  return !attrs.op->uses_random && attrs.op->MutateInputs(attrs).empty();
}

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RECOMPUTE_H_
