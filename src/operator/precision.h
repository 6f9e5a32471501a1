/*
 * In which precision programs of mixed precision (mx.amp) run an operator: a part of its record,
 * kept beside struct Op because only these programs ask.
 *
 * Most of it follows from the record. An operator that says how much it computes and has weights
 * gains from 16-bit operands (kLow). One whose inputs must share a dtype gets the widest of theirs
 * (kWidest). An operator that loses too much in float16 (sums, exponentials, norms, losses)
 * declares kFull in its folder's precision_*.cc: MXNET_OPS_PRECISION(kFull, "softmax"), or for some
 * values of one parameter MXNET_OP_PRECISION_IF(LeakyReLU, act_type, "elu,selu"). All others (kAny)
 * run in what they are given.
 */
#ifndef MXNET_OPERATOR_PRECISION_H_
#define MXNET_OPERATOR_PRECISION_H_

#include <initializer_list>
#include <string>
#include <vector>

#include "mxnet/op.h"

namespace mxnet {

Precision PrecisionOf(const Op& op);
/* Null when there is none. */
const PrecisionCondition* PrecisionConditionOf(const Op& op);

/* Throws Error(kValue) when a declaration names no operator, or an alias. */
void CheckPrecisions();

bool DeclarePrecision(Precision precision, std::initializer_list<const char*> ops);
bool DeclarePrecisionIf(const char* op, const char* parameter, const char* values);  // comma-separated

#define MXNET_OPS_PRECISION(precision, ...)                                        \
  [[maybe_unused]] const bool MXNET_REG_CONCAT(mxnet_op_precision_, __COUNTER__) = \
      ::mxnet::DeclarePrecision(::mxnet::Precision::precision, {__VA_ARGS__})
#define MXNET_OP_PRECISION_IF(op, parameter, values) \
  [[maybe_unused]] const bool MXNET_REG_CONCAT(mxnet_op_precision_, __COUNTER__) = ::mxnet::DeclarePrecisionIf(#op, #parameter, values)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_PRECISION_H_
