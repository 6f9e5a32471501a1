/*
 * What several families of converters ask of operands.
 */
#ifndef MXNET_ONNX_CONVERT_OPERANDS_H_
#define MXNET_ONNX_CONVERT_OPERANDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "onnx/convert.h"

namespace mxnet {
namespace onnx {

/* So many numbers are listed one by one while a graph is made. */
constexpr int64_t kMostListed = int64_t{1} << 28;

inline bool IsInteger(int dtype) { return !IsFloating(dtype) && dtype != kBool && dtype >= 0; }
inline bool IsUnsigned(int dtype) { return dtype == kUint8 || dtype == kUint16 || dtype == kUint32 || dtype == kUint64; }

/* The contents of a value whatever its dtype. REQUIRES: known(), a tensor. */
std::vector<double> NumbersOf(const Value& v);
std::vector<int64_t> IntegersOf(const Value& v);
/* An input; floats of 8 and 4 bits as float32. */
Value NumbersAt(const Call& c, int i);
/* Floats as the nearest of a type of 8 or 4 bits. `round_mode`: of powers of two. */
Value SmallFloats(const Call& c, const Value& x, const SmallType& type, bool saturate, const std::string& round_mode = "up");
/* Is it one known, finite number that double holds exactly? */
bool ScalarOf(const Value& v, double* number);

std::vector<int64_t> DimsOf(const Shape& shape);

/* The shape that both have when they are broadcast; Refuses. */
Shape BroadcastOf(const Call& c, const Shape& a, const Shape& b);
/* Refuses values of different dtypes. */
void SameDTypes(const Call& c, const std::vector<Value>& values);
/* 0, 1, ... of int64. */
Value CountUp(const Call& c, int64_t n);
/* x[begin:end] along one axis; x itself where that is all. */
Value SliceAxis(const Call& c, const Value& x, int axis, int64_t begin, int64_t end);
/* Puts values together along one axis; those without elements are left out. */
Value Join(const Call& c, const std::vector<Value>& values, int axis);
/* Are they stacks of matrices with the same dimensions in front of the matrices'? */
bool SameStacks(const Value& a, const Value& b);
/* x (..., k) times the transposed weight (n, k); the bias may be none. */
Value Dense(const Call& c, const Value& x, const Value& weight, const Value& bias = Value());
/* negative indices -> those from the beginning, for a dimension of `size` entries. */
Value NotNegative(const Call& c, const Value& indices, int64_t size);

/* x op number, where the dtype of x stays. `op` is the name of a scalar operator. */
inline Value WithNumber(const Call& c, const char* op, const Value& x, double number) { return c.Op(op, {x}, {{"scalar", Text(number)}}); }

/* Numbers in the place of strings, which are put behind `strings`; other values as they are. */
Value Numbered(const Call& c, const Value& v, std::vector<std::string>* strings);
/* The strings that such numbers stand for. */
Value Lettered(const Call& c, const Value& numbers, const std::vector<std::string>& strings);
/*
 * Runs a converter that only moves elements: of strings, their numbers are moved instead, and the
 * strings are looked up afterwards. The other inputs must be known then.
 */
void MoveElements(Call& c, Converter convert);

/*
 * What the converter of an ai.onnx operator makes of these inputs, with the attributes of this node
 * but for those that are `own`; its result i is result i here. Inputs keep their places. `given`:
 * attributes that this operator has as inputs.
 */
void ConvertAs(Call& c, const char* op, int64_t opset, std::vector<Value> inputs, const std::vector<const char*>& own = {},
               const std::vector<Attribute>& given = {});

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_CONVERT_OPERANDS_H_
