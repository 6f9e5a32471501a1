// How the backward pass computes an operator's result again, where running the operator a second time would do something else.
#ifndef MXNET_OPERATOR_RECOMPUTE_H_
#define MXNET_OPERATOR_RECOMPUTE_H_

#include <string>
#include <vector>

#include "mxnet/op.h"

namespace mxnet {

/*
 * Output 0 of `node` is output 0 of operator `op` (of the same parameter type) on the node's inputs, the first `inputs` of them (-1: all), and on
 * its outputs `reads`, which are therefore kept: BatchNorm's moving averages are not moved twice, Dropout's mask is not drawn twice.
 */
struct RecomputeRule {
  std::string op;
  int inputs = -1;
  std::vector<int> reads;
};
void SetRecomputeRule(const std::string& op, RecomputeRule rule);
/* Null: the operator itself is run again, where that is allowed. */
const RecomputeRule* FindRecomputeRule(const Op& op);
/* Can its output `index` be computed again at all? */
bool CanRecompute(const Attrs& attrs, int index);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RECOMPUTE_H_
