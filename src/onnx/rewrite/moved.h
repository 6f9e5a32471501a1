/*
 * Nodes that put numbers elsewhere, as sizes say that the model computes.
 *
 * Their converters turn the sizes into attributes of operators, so that each new size is a new
 * conversion. Where nodes run one by one the numbers are moved at once. So is a product with heads
 * that sizes repeat (repeats.h).
 */
#ifndef MXNET_ONNX_REWRITE_MOVED_H_
#define MXNET_ONNX_REWRITE_MOVED_H_

#include <cstdint>

#include "mxnet/kernel_args.h"
#include "onnx/convert.h"
#include "onnx/file/model.h"

namespace mxnet {
namespace onnx {

enum class Move : uint8_t { kNone, kReshape, kFlatten, kExpand, kSlice, kRange, kTranspose, kShared };

/* kNone: nodes of another kind. */
Move MoveOf(const NodeProto& node);

/* What the node gives, which may be an operand in another shape. False: the converter has to be
 * asked, as for what is wrong. REQUIRES: the operands are there, on the CPU. */
bool DoMove(Move move, const NodeProto& node, Span<const Value* const> operands, Value* result);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_REWRITE_MOVED_H_
