/*
 * In which precision programs of mixed precision (mx.amp) run an operator.
 *
 * Most of it follows from the record. An operator that says how much it computes, has weights and
 * takes 16-bit operands gains from them (kLow), and so do products of matrices that say it
 * themselves. One whose inputs must share a dtype gets the widest of theirs (kWidest). An operator
 * that loses too much in float16 (sums, exponentials, norms, losses) says so in its record:
 * set_precision(Precision::kFull), or for some values of one parameter
 * set_precision_condition("act_type", {"elu", "selu"}). All others (kAny) run in what they are
 * given.
 */
#ifndef MXNET_OPERATOR_RECORD_PRECISION_H_
#define MXNET_OPERATOR_RECORD_PRECISION_H_

#include "mxnet/op.h"

namespace mxnet {

Precision PrecisionOf(const Op& op);
/* Null when there is none. */
const PrecisionCondition* PrecisionConditionOf(const Op& op);

/* Trait: a loss and the network's output in one, whose gradient takes no notice of what comes from
 * above, and so of a scaled loss. */
struct LossAndOutput {};

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RECORD_PRECISION_H_
