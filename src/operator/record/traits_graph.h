/*
 * What the tape, the gradient, plans and monitors ask of an operator. A trait without members is
 * asked for by `op->trait<T>() != nullptr`. What passes ask stands in operator/record/traits.h.
 */
#ifndef MXNET_OPERATOR_RECORD_TRAITS_GRAPH_H_
#define MXNET_OPERATOR_RECORD_TRAITS_GRAPH_H_

#include <string>

namespace mxnet {

/* The kernel looks at OpReq::kNull of an output that nobody reads. All backward operators do; of
 * the others it is promised by this alone, and their unread outputs are written. */
struct HonoursNullOutputs {};

/* The kernel for the CPU does not read `input` when `output` is not wanted (OpReq::kNull). */
struct ReadOnlyFor {
  int input, output;
};

/* The inputs may be on several devices: the gradients of what a user's function gave. */
struct TakesSeveralDevices {};

/* An operator on arrays that computes into the outputs which it is given, where others make their
 * results themselves. */
struct WritesGivenOutputs {};

/* A node that the library puts in for itself: monitors do not show it. */
struct HiddenFromMonitors {};

/* A cast that mixed precision puts in; output i is input i in another dtype. Saved graphs may leave
 * it out. */
struct MixedPrecisionCast {};

/* relu of the result is output 0 of the operator `op`, on the same inputs and parameters. */
struct WithRelu {
  std::string op;
};

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RECORD_TRAITS_GRAPH_H_
