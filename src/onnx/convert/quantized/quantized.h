/* Linear quantization: value = (number - zero point) * scale. Products of numbers are exact. */
#ifndef MXNET_ONNX_CONVERT_QUANTIZED_QUANTIZED_H_
#define MXNET_ONNX_CONVERT_QUANTIZED_QUANTIZED_H_

#include "onnx/convert/make.h"
#include "onnx/convert/neural/window.h"

namespace mxnet {
namespace onnx {

/* Of a scale or zero point: one that broadcasts over data of this shape. One number, one for each
 * entry of `axis`, or one for each block of `block` entries of it. */
Value SpreadAlong(const Call& c, const Value& x, const Value& data, int64_t axis, int64_t block);
/* The nearest numbers of `dtype` to x / scale + zero, ties to even ones. scale and zero broadcast;
 * zero may be none. `small`: integers of fewer bits in that dtype. */
Value Quantized(const Call& c, const Value& x, const Value& scale, const Value& zero, int dtype, const SmallType* small = nullptr);
Value Dequantized(const Call& c, const Value& x, const Value& scale, const Value& zero);
/* sum of (a - a_zero) (b - b_zero) over the last axis of a and the last but one of b, int32. Zeros
 * may be none; that of b is one number or one for each column, that of a one number or one for each
 * row. */
Value IntProduct(const Call& c, const Value& a, const Value& a_zero, const Value& b, const Value& b_zero);
/* The same for a convolution; b_zero one number or one for each filter. */
Value IntConvolution(const Call& c, const Value& x, const Value& x_zero, const Value& w, const Value& w_zero, const Window& window,
                     int64_t groups);
/* Is it none, or known zeros? */
bool IsZero(const Value& v);
/* Bytes as int8: those without sign minus 128, as is their zero point. */
void MakeSigned(const Call& c, Value* x, Value* zero);
/* A dense layer with numbers (n, blocks, bytes) of `bits` bits that stand for (number - zero) *
 * scale, which have shape (n, blocks); without zeros, they stand around half of what they can be.
 * zero and bias may be none. */
struct BlockForm {
  Value data, numbers, scale, zero, bias;
  int64_t bits = 4;
  bool in_integers = false;  // data may be rounded to 8 bits
};
Value BlockLayer(const Call& c, const BlockForm& f);
/* Numbers of `bits` bits in bytes (rows, bytes), the low ones first, as (rows, count). */
Value UnpackedNumbers(const Call& c, const Value& packed, int64_t bits, int64_t rows, int64_t count);
/* The floats (rows, k) that known numbers stand for, whose rows end with a whole block in memory.
 * Each block has a scale and a zero point, which is the middle without zeros. `groups`: the block
 * of each column; empty: its own. */
std::vector<float> FloatsOfBlocks(const NDArray& packed, int64_t bits, int64_t block, const Shape& shape, const Value& scale,
                                  const Value& zero, const std::vector<int64_t>& groups = {});
/* None where it was left out. */
Value OptionalInput(const Call& c, int i);
/* The bytes of a known array. One that is stored is no more in memory than before. */
std::vector<uint8_t> BytesOf(const NDArray& a);

/* For training: `floats`, which are known, are parameters in the place of the integers `of` that
 * they were computed of. */
Value LearnedInstead(const Call& c, const Value& floats, const std::vector<Value>& of);

void ConvertMoE(Call& c);
void ConvertQMoE(Call& c);
void ConvertMoEGroupRouter(Call& c);
void ConvertSwiGLU(Call& c);
void ConvertMatMulBnb4(Call& c);
void ConvertMatMulNBits(Call& c);
void ConvertBlockDense(Call& c);  // of a node that takes the place of others (onnx/integers.h)
void ConvertGatherBlockQuantized(Call& c);
void ConvertGatherPacked(Call& c);
void ConvertQLinearBinary(Call& c);  // argument: add, multiply
void ConvertQLinearUnary(Call& c);   // argument: sigmoid, leaky
void ConvertQLinearSoftmax(Call& c);
void ConvertQLinearGlobalPool(Call& c);
void ConvertQLinearAveragePool(Call& c);
void ConvertQLinearWhere(Call& c);
void ConvertQLinearConcat(Call& c);
void ConvertQGemm(Call& c);
void ConvertDynamicQuantizeMatMul(Call& c);
void ConvertMatMulIntegerToFloat(Call& c);
void ConvertDynamicQuantizeLSTM(Call& c);

/* Results y, scale, zero point of DynamicQuantizeLinear. */
struct DynamicResult {
  Value y, scale, zero;
};
DynamicResult DynamicQuantized(const Call& c, const Value& x);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_CONVERT_QUANTIZED_QUANTIZED_H_
