// How the backward pass computes an operator's result again, where running the operator a second
// time would do something else.
#ifndef MXNET_OPERATOR_RECOMPUTE_H_
#define MXNET_OPERATOR_RECOMPUTE_H_

#include <string>
#include <vector>

#include "mxnet/op.h"

namespace mxnet {

void SetRecomputeRule(const std::string& op, RecomputeRule rule);
/* Null: the operator itself is run again, where that is allowed. */
const RecomputeRule* FindRecomputeRule(const Op& op);
/* Can its output `index` be computed again at all? */
bool CanRecompute(const Attrs& attrs, int index);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RECOMPUTE_H_
