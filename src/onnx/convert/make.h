/*
 * What many converters make: sums, products, slices, padding. All of it by Call::Op, so what is
 * known is computed at once.
 *
 * Binary operators take the record with a number in it where an operand is one known number, since
 * plans fuse these best.
 */
#ifndef MXNET_ONNX_CONVERT_MAKE_H_
#define MXNET_ONNX_CONVERT_MAKE_H_

#include <string>
#include <utility>
#include <vector>

#include "onnx/convert/operands.h"

namespace mxnet {
namespace onnx {

using Sizes = std::vector<int64_t>;

// ---- pointwise, with NumPy's rules of shapes; operands have one dtype
Value Binary(const Call& c, const char* op, const Value& a, const Value& b);  // op: "add" for _npi_add
Value BinaryNumber(const Call& c, const char* op, const Value& a, double b);
Value Unary(const Call& c, const char* op, const Value& a);
inline Value Add(const Call& c, const Value& a, const Value& b) { return Binary(c, "add", a, b); }
inline Value Sub(const Call& c, const Value& a, const Value& b) { return Binary(c, "subtract", a, b); }
inline Value Mul(const Call& c, const Value& a, const Value& b) { return Binary(c, "multiply", a, b); }
inline Value Div(const Call& c, const Value& a, const Value& b) { return Binary(c, "true_divide", a, b); }
inline Value AddNumber(const Call& c, const Value& a, double b) { return BinaryNumber(c, "add", a, b); }
inline Value MulNumber(const Call& c, const Value& a, double b) { return BinaryNumber(c, "multiply", a, b); }
inline Value PowNumber(const Call& c, const Value& a, double b) { return BinaryNumber(c, "power", a, b); }
Value Where(const Call& c, const Value& condition, const Value& x, const Value& y);
Value Clip(const Call& c, const Value& x, double least, double most);
Value Sigmoid(const Call& c, const Value& x);
inline Value Silu(const Call& c, const Value& x) { return Mul(c, x, Sigmoid(c, x)); }

// ---- reductions over axes in [0, rank)
Value Reduce(const Call& c, const char* op, const Value& x, const Sizes& axes, bool keepdims);  // op: "sum" for _npi_sum
inline Value Sum(const Call& c, const Value& x, const Sizes& axes, bool keepdims) { return Reduce(c, "sum", x, axes, keepdims); }
inline Value Mean(const Call& c, const Value& x, const Sizes& axes, bool keepdims) { return Reduce(c, "mean", x, axes, keepdims); }

// ---- pieces
/* Of all axes, with steps above 0. */
Value SliceAll(const Call& c, const Value& x, const Sizes& begin, const Sizes& end, const Sizes& step);
Value Concat(const Call& c, const std::vector<Value>& parts, int axis);
/* Equal parts along an axis. */
std::vector<Value> Split(const Call& c, const Value& x, int axis, int64_t parts);
Value Pad(const Call& c, const Value& x, const Sizes& before, const Sizes& after, double value);
/* Rows of an axis; indices in range. */
Value Take(const Call& c, const Value& x, const Value& indices, int axis);
/* Of a table: an index that it lacks is an error. */
Value TakeRows(const Call& c, const Value& x, const Value& indices);
/* An image whose channels are last, with them behind the batch; the other way round. */
Value ChannelsFirst(const Call& c, const Value& x);
Value ChannelsLast(const Call& c, const Value& x);
/* x of shape (n,) as one that broadcasts along `axis` of `rank`. */
Value AlongAxis(const Call& c, const Value& x, int axis, int rank);
Value IntsLike(const Call& c, const Sizes& values, const Sizes& shape, int dtype = kInt64);
Value FloatsLike(const Call& c, const std::vector<double>& values, const Sizes& shape, int dtype);
/* Products of matrices of the last two axes, which others broadcast over. */
Value MatMul(const Call& c, const Value& a, const Value& b, bool transpose_b = false);

/* The number that a known value of one element is, or false. */
bool IsNumber(const Value& v, double* number);
/* Throws Refuse unless the input's rank is in [least, most]. */
void CheckRank(const Call& c, int input, int least, int most);
/* Throws Refuse when an attribute is not one of these; returns its position. */
int OneOf(const Call& c, const char* attribute, const std::string& value, const std::vector<const char*>& accepted);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_CONVERT_MAKE_H_
