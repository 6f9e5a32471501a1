#include "onnx/rewrite/moved.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "ndarray/stored.h"
#include "onnx/convert/shape/shape.h"
#include "onnx/rewrite/repeats.h"
#include "operator/matrix/move_cpu.h"

namespace mxnet {
namespace onnx {
namespace {

constexpr int kMostDims = 12;
constexpr int64_t kMostOfRange = 1 << 20;

/* Few numbers that are known: sizes, axes, ends. */
struct Numbers {
  int count = -1;  // it is something else
  int64_t at[kMostDims];
};

Numbers NumbersOf(const Value& v) {
  Numbers n;
  if (v.kind != Value::kTensor || v.array.is_none() || v.dtype() != kInt64 || v.ndim() > 1 || v.type.shape.Size() > kMostDims) return n;
  n.count = static_cast<int>(v.type.shape.Size());
  std::copy_n(v.array.data().dptr<const int64_t>(), n.count, n.at);
  return n;
}

Numbers NumbersAt(Span<const Value* const> operands, int i) { return i < operands.size() ? NumbersOf(*operands[i]) : Numbers(); }

bool IsGiven(Span<const Value* const> operands, int i) { return i < operands.size() && operands[i]->kind != Value::kNone; }

bool PutShape(const NDArray& x, const Shape& shape, Value* result) {
  if (shape.Size() != x.shape().Size()) return false;
  *result = Value(shape == x.shape() ? x : x.Reshape(shape));
  return true;
}

/* Copies the box of `shape` that lies in `x` so. */
void PutBox(const NDArray& x, int64_t begin, const int64_t* strides, const Shape& shape, Value* result) {
  NDArray made(shape, Context::CPU(), x.dtype());
  const size_t bytes = DTypeSize(x.dtype());
  int64_t to[kMostDims];
  RowMajorStrides(shape, to);
  CopyStrided(x.data().dptr<const char>() + begin * static_cast<int64_t>(bytes), strides, made.data().dptr<void>(), to, shape.dims(),
              shape.ndim(), bytes);
  *result = Value(std::move(made));
}

bool Reshape(const NodeProto& node, Span<const Value* const> operands, const NDArray& x, Value* result) {
  Numbers wanted = NumbersAt(operands, 1);
  const bool zero_is_size = node.Int("allowzero", 0) != 0;
  if (wanted.count < 0) return false;
  int64_t others = 1;
  int free = -1;
  for (int i = 0; i < wanted.count; ++i) {
    int64_t& d = wanted.at[i];
    if (d == 0 && !zero_is_size && i < x.shape().ndim()) d = x.shape()[i];
    if (d == -1 && free < 0)
      free = i;
    else if (d <= 0 || __builtin_mul_overflow(others, d, &others))
      return false;
  }
  if (free >= 0) wanted.at[free] = x.shape().Size() / others;
  return PutShape(x, Shape(wanted.at, wanted.count), result);
}

bool Flatten(const NodeProto& node, const NDArray& x, Value* result) {
  const int ndim = x.shape().ndim();
  int64_t axis = node.Int("axis", 1);
  if (axis < 0) axis += ndim;
  if (axis < 0 || axis > ndim) return false;
  const int at = static_cast<int>(axis);
  return PutShape(x, Shape{x.shape().Prod(0, at), x.shape().Prod(at, ndim)}, result);
}

bool Expand(Span<const Value* const> operands, const NDArray& x, Value* result) {
  const Numbers wanted = NumbersAt(operands, 1);
  if (wanted.count < 0) return false;
  const Shape& from = x.shape();
  const int ndim = std::max(wanted.count, from.ndim());
  int64_t own[kMostDims], strides[kMostDims], dims[kMostDims];
  RowMajorStrides(from, own);
  for (int i = 0; i < ndim; ++i) {
    const int at = i - (ndim - from.ndim()), asked = i - (ndim - wanted.count);
    const int64_t size = at < 0 ? 1 : from[at], other = asked < 0 ? 1 : wanted.at[asked];
    if (other <= 0 || (size != 1 && other != 1 && size != other)) return false;
    dims[i] = std::max(size, other);
    strides[i] = size == 1 ? 0 : own[at];
  }
  const Shape shape(dims, ndim);
  if (shape.Size() == from.Size()) return PutShape(x, shape, result);
  PutBox(x, 0, strides, shape, result);
  return true;
}

bool Slice(Span<const Value* const> operands, const NDArray& x, Value* result) {
  const Numbers begins = NumbersAt(operands, 1), ends = NumbersAt(operands, 2), axes = NumbersAt(operands, 3),
                steps = NumbersAt(operands, 4);
  const bool has_axes = IsGiven(operands, 3), has_steps = IsGiven(operands, 4);
  if (begins.count < 0 || ends.count != begins.count || (has_axes && axes.count != begins.count) ||
      (has_steps && steps.count != begins.count))
    return false;
  Shape shape = x.shape();
  const int ndim = shape.ndim();
  int64_t strides[kMostDims], own[kMostDims], first = 0;
  bool met[kMostDims] = {false};
  RowMajorStrides(shape, own);
  std::copy_n(own, ndim, strides);
  for (int i = 0; i < begins.count; ++i) {
    int64_t axis = has_axes ? axes.at[i] : i;
    if (axis < 0) axis += ndim;
    if (axis < 0 || axis >= ndim || met[axis]) return false;
    met[axis] = true;
    const int64_t step = has_steps ? steps.at[i] : 1;
    if (step <= 0) return false;
    const Cut cut = CutOf(shape[static_cast<int>(axis)], begins.at[i], ends.at[i], step);
    if (cut.count == 0) return false;
    shape[static_cast<int>(axis)] = cut.count;
    first += cut.begin * own[axis];
    if (cut.count > 1) strides[axis] *= step;
  }
  if (shape == x.shape())
    *result = Value(x);
  else
    PutBox(x, first, strides, shape, result);
  return true;
}

bool Range(Span<const Value* const> operands, Value* result) {
  const Numbers from = NumbersAt(operands, 0), to = NumbersAt(operands, 1), step = NumbersAt(operands, 2);
  if (from.count != 1 || to.count != 1 || step.count != 1 || step.at[0] <= 0 || to.at[0] <= from.at[0]) return false;
  if (from.at[0] < -kMostOfRange || to.at[0] > kMostOfRange) return false;
  const int64_t count = (to.at[0] - from.at[0] - 1) / step.at[0] + 1;
  NDArray made(Shape{count}, Context::CPU(), kInt64);
  auto* const numbers = made.data().dptr<int64_t>();
  for (int64_t i = 0; i < count; ++i) numbers[i] = from.at[0] + i * step.at[0];
  *result = Value(std::move(made));
  return true;
}

/* Where sizes other than 1 keep their order, nothing moves. */
bool Transpose(const NodeProto& node, const NDArray& x, Value* result) {
  const Attribute* const perm = node.Find("perm");
  const Shape& from = x.shape();
  if (!perm || static_cast<int>(perm->ints.size()) != from.ndim()) return false;
  Shape shape = from;
  int64_t last = -1;
  for (int i = 0; i < from.ndim(); ++i) {
    const int64_t axis = perm->ints[static_cast<size_t>(i)];
    if (axis < 0 || axis >= from.ndim()) return false;
    shape[i] = from[static_cast<int>(axis)];
    if (shape[i] == 1) continue;
    if (axis <= last) return false;
    last = axis;
  }
  return PutShape(x, shape, result);
}

}  // namespace

Move MoveOf(const NodeProto& node) {
  static const std::unordered_map<std::string, Move> moves = {{"Reshape", Move::kReshape}, {"Flatten", Move::kFlatten},
                                                              {"Expand", Move::kExpand},   {"Slice", Move::kSlice},
                                                              {"Range", Move::kRange},     {"Transpose", Move::kTranspose}};
  if (node.domain == kRepeatsDomain) return Move::kShared;
  if (!node.domain.empty() || node.outputs.size() != 1) return Move::kNone;
  const auto found = moves.find(node.op);
  return found == moves.end() ? Move::kNone : found->second;
}

bool DoMove(Move move, const NodeProto& node, Span<const Value* const> operands, Value* result) {
  if (move == Move::kNone || operands.size() == 0) return false;
  if (move == Move::kRange) return Range(operands, result);
  if (move == Move::kShared) return MultiplyShared(node, operands, result);
  const Value& v = *operands[0];
  if (v.kind != Value::kTensor || v.array.is_none() || v.ndim() > kMostDims || v.type.shape.Size() == 0) return false;
  if (v.array.delayed() && !IsFilled(v.array)) return false;  // a weight, of which perhaps a part is read
  switch (move) {
    case Move::kReshape: return Reshape(node, operands, v.array, result);
    case Move::kFlatten: return Flatten(node, v.array, result);
    case Move::kExpand: return Expand(operands, v.array, result);
    case Move::kSlice: return Slice(operands, v.array, result);
    case Move::kTranspose: return Transpose(node, v.array, result);
    default: return false;
  }
}

}  // namespace onnx
}  // namespace mxnet
