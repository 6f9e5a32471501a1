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

/* The dtypes in the order of their numbers: number, NumPy's name, C++ type, and the type in which
 * sums are accumulated (MXNET_SAFE_ACCUMULATION=1). Every table of dtypes is made of these rows. */
// clang-format off
#define MXNET_DTYPE_ROWS(row)                \
  row(kFloat32, "float32", float, double)    \
  row(kFloat64, "float64", double, double)   \
  row(kFloat16, "float16", float16, float)   \
  row(kUint8, "uint8", uint8_t, uint64_t)    \
  row(kInt32, "int32", int32_t, int64_t)     \
  row(kInt8, "int8", int8_t, int64_t)        \
  row(kInt64, "int64", int64_t, int64_t)     \
  row(kBool, "bool", bool, int64_t)          \
  row(kInt16, "int16", int16_t, int64_t)     \
  row(kUint16, "uint16", uint16_t, uint64_t) \
  row(kUint32, "uint32", uint32_t, uint64_t) \
  row(kUint64, "uint64", uint64_t, uint64_t) \
  row(kBfloat16, "bfloat16", bfloat16, float)
// clang-format on

/* DTypeOf<float>::value == kFloat32; Acc: the type of sums. */
template <typename T>
struct DTypeOf;
#define MXNET_DTYPE_OF(number, name, T, acc) \
  template <>                                \
  struct DTypeOf<T> {                        \
    static constexpr int value = number;     \
    using Acc = acc;                         \
  };
MXNET_DTYPE_ROWS(MXNET_DTYPE_OF)
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
