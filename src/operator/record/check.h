// What every caller asks before a kernel runs: do these shapes and dtypes fit the record? Eager
// calls, plans, and files whose graphs name operators ask here.
#ifndef MXNET_OPERATOR_RECORD_CHECK_H_
#define MXNET_OPERATOR_RECORD_CHECK_H_

#include "mxnet/base.h"
#include "mxnet/infer_switches.h"
#include "mxnet/node.h"

namespace mxnet {

/* The dtypes that the record accepts for its first input (of one without inputs: its first output).
 * Throws Error(kType). */
void CheckDType(const Attrs& attrs, const TensorTypes& in, const TensorTypes& out);

/*
 * All that a record says of a call whose shapes and dtypes are known: their number, what inference
 * makes of them, and the accepted dtypes. A kernel that passed reads and writes what it was given
 * and nothing else. Throws Error(kValue/kType).
 */
void CheckCall(const Attrs& attrs, const InferSwitches& switches, const TensorTypes& in, const TensorTypes& out);

/*
 * Calls by name and nodes of files: what the numbers among their parameters may ask for, and which
 * operators there are for others than the library. Lists are made of a call's inputs and outputs,
 * so their number is bounded. Most operators that only gradients are made of rely on the gradient
 * pass for their inputs' shapes: others get those alone whose record wants one shape and one dtype
 * for everything. Throws Error(kValue).
 */
MXNET_DLL void CheckPublic(const Attrs& attrs);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RECORD_CHECK_H_
