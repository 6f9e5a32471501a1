/*
 * From the dtype number of an array to a C++ type and back.
 *
 *   VisitDType(dtype, "cast", [&](auto tag) { using T = decltype(tag); Kernel<T>(...); });
 *
 * instantiates the body for all thirteen types; VisitFloating and VisitInteger for theirs. Other
 * numbers throw Error(kNotImplementedForDType) that starts with [op] and lists what is accepted.
 */
#ifndef MXNET_BASE_DTYPE_H_
#define MXNET_BASE_DTYPE_H_

#include <cstdint>
#include <utility>

#include "base/half.h"
#include "mxnet/base.h"

namespace mxnet {

/* DTypeOf<float>::value == kFloat32; Acc: the type in which sums of T are accumulated
 * (MXNET_SAFE_ACCUMULATION=1). */
template <typename T>
struct DTypeOf;
#define MXNET_DTYPE_OF(T, number, acc)   \
  template <>                            \
  struct DTypeOf<T> {                    \
    static constexpr int value = number; \
    using Acc = acc;                     \
  };
MXNET_DTYPE_OF(float, kFloat32, double)
MXNET_DTYPE_OF(double, kFloat64, double)
MXNET_DTYPE_OF(float16, kFloat16, float)
MXNET_DTYPE_OF(bfloat16, kBfloat16, float)
MXNET_DTYPE_OF(uint8_t, kUint8, uint64_t)
MXNET_DTYPE_OF(uint16_t, kUint16, uint64_t)
MXNET_DTYPE_OF(uint32_t, kUint32, uint64_t)
MXNET_DTYPE_OF(uint64_t, kUint64, uint64_t)
MXNET_DTYPE_OF(int8_t, kInt8, int64_t)
MXNET_DTYPE_OF(int16_t, kInt16, int64_t)
MXNET_DTYPE_OF(int32_t, kInt32, int64_t)
MXNET_DTYPE_OF(int64_t, kInt64, int64_t)
MXNET_DTYPE_OF(bool, kBool, int64_t)
#undef MXNET_DTYPE_OF

[[noreturn]] MXNET_DLL void ThrowDType(int dtype, const char* op, const char* accepted);

template <typename F>
void VisitFloating(int dtype, const char* op, F&& f) {
  switch (dtype) {
    case kFloat32: return f(float{});
    case kFloat64: return f(double{});
    case kFloat16: return f(float16{});
    case kBfloat16: return f(bfloat16{});
    default: ThrowDType(dtype, op, "float32, float64, float16, bfloat16");
  }
}

template <typename F>
void VisitInteger(int dtype, const char* op, F&& f) {
  switch (dtype) {
    case kUint8: return f(uint8_t{});
    case kInt8: return f(int8_t{});
    case kInt16: return f(int16_t{});
    case kUint16: return f(uint16_t{});
    case kInt32: return f(int32_t{});
    case kUint32: return f(uint32_t{});
    case kInt64: return f(int64_t{});
    case kUint64: return f(uint64_t{});
    default: ThrowDType(dtype, op, "uint8, int8, int16, uint16, int32, uint32, int64, uint64");
  }
}

template <typename F>
void VisitDType(int dtype, const char* op, F&& f) {
  if (dtype == kBool) return f(bool{});
  if (IsFloating(dtype)) return VisitFloating(dtype, op, std::forward<F>(f));
  if (dtype < 0 || dtype >= kNumDTypes) ThrowDType(dtype, op, "the dtype numbers 0 to 12");
  VisitInteger(dtype, op, std::forward<F>(f));
}

}  // namespace mxnet
#endif  // MXNET_BASE_DTYPE_H_
