#include "base/threads/omp.h"
#include "operator/pointwise/bools.h"
#include "operator/pointwise/loops/byte_loops.h"
#include "operator/pointwise/loops/half_loops.h"

namespace mxnet {
namespace pointwise {

bool ExecuteBools(int row, const Operand* in, int count, const TBlob& out, OpReq req) {
  if (out.dtype != kBool || req == OpReq::kAdd || count > 2) return false;
  for (int k = 0; k < count; ++k)
    if (!in[k].ptr || in[k].dtype != kBool || !(*in[k].shape == out.shape)) return false;
  const Loop loop = MXNET_CPU_CALL(BoolLoop)(row);
  if (!loop) return false;
  if (req == OpReq::kNull) return true;
  const uint8_t *a = static_cast<const uint8_t*>(in[0].ptr), *b = static_cast<const uint8_t*>(in[count - 1].ptr);
  ParallelForThreads(OmpThreads(out.Size() / 4), out.Size(), [&](int64_t begin, int64_t end) {
    const void* const ptrs[2] = {a + begin, b + begin};
    loop(ptrs, out.data<uint8_t>() + begin, end - begin, 0);
  });
  return true;
}

namespace {

// `value` as one element of `dtype` at `to`; false where its bytes would not have the result that
// the number has.
bool StoreNumber(int dtype, bool wraps, double value, void* to) {
  switch (dtype) {
    case kFloat16:
    case kBfloat16:
    case kFloat32: *static_cast<float*>(to) = static_cast<float>(value); return true;
    case kFloat64: *static_cast<double*>(to) = value; return true;
    case kInt32: *static_cast<int32_t*>(to) = static_cast<int32_t>(IntegerNumber(kI32, value)); return true;
    case kInt64: *static_cast<int64_t*>(to) = IntegerNumber(kI64, value); return true;
    default: break;
  }
  const int64_t number = IntegerNumber(kI32, value);
  const bool fits = dtype == kInt8 ? number >= -128 && number <= 127 : number >= 0 && number <= 255;
  *static_cast<uint8_t*>(to) = static_cast<uint8_t>(number);
  return fits || wraps;
}

// The dtype of the operands of an operation on bytes; -1 where they differ.
int BytesOf(const Operand* in, int count) {
  int dtype = -1;
  for (int k = 0; k < count; ++k) {
    if (!in[k].ptr) continue;
    if ((in[k].dtype != kInt8 && in[k].dtype != kUint8) || (dtype >= 0 && dtype != in[k].dtype)) return -1;
    dtype = in[k].dtype;
  }
  return dtype;
}

// Whether the loop of a number takes this one.
bool TakesNumber(int row, double value) {
  if (row == k_left_shift || row == k_right_shift) return value >= 0 && value <= 7;
  return value >= 2 || value <= -2;
}

// The loop of a row for operands of `dtype`, the one that the loop reads.
Loop LoopFor(int row, int compute, const Operand* in, int count, const TBlob& out, int* dtype) {
  const int bytes = compute == kI32 && count == 2 ? BytesOf(in, count) : -1;
  if (out.dtype == kBool) {
    *dtype = bytes >= 0 ? bytes : ComputeDType(compute);
    return MXNET_CPU_CALL(TruthLoop)(row, *dtype);
  }
  *dtype = out.dtype;
  if (out.dtype == kFloat16 || out.dtype == kBfloat16)
    return compute == kF32 && count == 2 ? MXNET_CPU_CALL(HalfLoop)(row, out.dtype) : nullptr;
  if (bytes != out.dtype) return nullptr;
  if (!in[1].ptr && TakesNumber(row, in[1].scalar))
    if (const Loop loop = MXNET_CPU_CALL(ByteNumberLoop)(row, bytes == kInt8)) return loop;
  return MXNET_CPU_CALL(ByteLoop)(row, bytes == kInt8);
}

}  // namespace

bool ExecuteUnconverted(int row, int compute, const Operand* in, int count, const TBlob& out, OpReq req) {
  if (req == OpReq::kAdd || count > 2 || (count == 1 && !in[0].ptr)) return false;
  int dtype = -1;
  const Loop loop = LoopFor(row, compute, in, count, out, &dtype);
  if (!loop) return false;
  const bool wraps = row == k_add || row == k_sub || row == k_mul || row == k_bitwise_and || row == k_bitwise_or || row == k_bitwise_xor;
  alignas(8) char number[8];
  unsigned mask = 0;
  for (int k = 0; k < count; ++k) {
    if (!in[k].ptr) {
      if (mask || !StoreNumber(dtype, wraps, in[k].scalar, number)) return false;
      mask = 1u << k;
    } else if (in[k].dtype != dtype || !(*in[k].shape == out.shape)) {
      return false;
    }
  }
  if (req == OpReq::kNull) return true;
  const int64_t size = static_cast<int64_t>(DTypeSize(dtype)), out_size = static_cast<int64_t>(DTypeSize(out.dtype));
  const bool converts = out.dtype == kFloat16 || out.dtype == kBfloat16;  // takes as long as with elements of 4 bytes
  ParallelForThreads(OmpThreads(converts ? out.Size() : out.Size() * size / 4), out.Size(), [&](int64_t begin, int64_t end) {
    const void* ptrs[2] = {};
    for (int k = 0; k < count; ++k) ptrs[k] = mask >> k & 1u ? number : static_cast<const char*>(in[k].ptr) + begin * size;
    loop(ptrs, static_cast<char*>(out.dptr) + begin * out_size, end - begin, mask);
  });
  return true;
}

}  // namespace pointwise
}  // namespace mxnet
