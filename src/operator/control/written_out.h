/*
 * Second derivatives of operators whose gradient is a kernel of its own. Such an operator also says
 * which other operators compute what it computes, slower and with more memory, but so that they can
 * be differentiated as often as one likes. The graph of these is made only where the gradient is
 * itself differentiated.
 */
#ifndef MXNET_OPERATOR_CONTROL_WRITTEN_OUT_H_
#define MXNET_OPERATOR_CONTROL_WRITTEN_OUT_H_

#include <functional>
#include <vector>

#include "mxnet/op.h"

namespace mxnet {

/*
 * The results that the forward operator computes of `inputs`, as many as the gradient has gradients
 * from above. `backward`: the node of the gradient, for its parameters and further inputs.
 */
using WriteOutFn = std::function<std::vector<NodeEntry>(const Node& backward, const std::vector<NodeEntry>& inputs)>;

/*
 * The gradient of a record of a gradient, whose inputs are [gradients from above, one for each
 * result of `write`][inputs of the forward operator][others] and whose result i is the gradient of
 * forward input i. `inputs`: how many forward inputs there are.
 */
GradientFn GradientOfWrittenOut(WriteOutFn write, std::function<int(const Attrs&)> heads, std::function<int(const Attrs&)> inputs);

// ---- what such graphs are made of
namespace written {

NodeEntry Add(const NodeEntry& a, const NodeEntry& b);  // these broadcast
NodeEntry Less(const NodeEntry& a, const NodeEntry& b);
NodeEntry Times(const NodeEntry& a, const NodeEntry& b);
/* An operator `op` of two inputs, and of x and a number. */
NodeEntry Op2(const char* op, const NodeEntry& a, const NodeEntry& b);
NodeEntry Number(const char* op, const NodeEntry& x, double number);
/* x[..., begin:end, ...] along `axis`; a negative place counts from the end, and `end` 0 is the
 * end. */
NodeEntry Slice(const NodeEntry& x, int axis, int64_t begin, int64_t end);
NodeEntry Reshape(const NodeEntry& x, const char* shape);
NodeEntry Transpose(const NodeEntry& x, const char* axes);
NodeEntry Concat(const std::vector<NodeEntry>& parts, int axis);
/* 0, 1, 2, ... as many as x has along `axis`, as a tensor of this shape. */
NodeEntry Places(const NodeEntry& x, int axis, const char* shape);
/* Where the number `condition` is not 0 then `yes`, else `no`, all of one shape. */
NodeEntry Where(const NodeEntry& condition, const NodeEntry& yes, const NodeEntry& no);

}  // namespace written
}  // namespace mxnet
#endif  // MXNET_OPERATOR_CONTROL_WRITTEN_OUT_H_
