#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/dtype.h"
#include "base/half.h"
#include "base/truncate.h"
#include "mxnet/base.h"
#include "operator/pointwise/loops/convert.h"
#include "operator/pointwise/loops/plain_conversion.h"

namespace mxnet {
namespace pointwise {
namespace {

constexpr int64_t kChunk = 256;

template <typename To, typename From>
inline To Narrow(From v) {
  if constexpr (std::is_same<To, bool>::value) {
    return v != From(0);
  } else if constexpr (std::is_floating_point<From>::value && std::is_integral<To>::value) {
    return Truncate<To>(v);
  } else {
    return static_cast<To>(v);
  }
}

template <typename From, typename To>
void Convert(const void* in, void* out, int64_t n) {
  if constexpr (std::is_same<From, To>::value) {
    std::memcpy(out, in, n * sizeof(To));
  } else if constexpr (std::is_same<From, float16>::value || std::is_same<From, bfloat16>::value) {
    float buffer[kChunk];
    for (int64_t i = 0; i < n; i += kChunk) {
      const int64_t m = std::min(kChunk, n - i);
      float* wide = std::is_same<To, float>::value ? static_cast<float*>(out) + i : buffer;
      if constexpr (std::is_same<From, float16>::value) {
        HalfToFloat(static_cast<const float16*>(in) + i, wide, m);
      } else {
        BfloatToFloat(static_cast<const bfloat16*>(in) + i, wide, m);
      }
      if constexpr (!std::is_same<To, float>::value)
        for (int64_t j = 0; j < m; ++j) static_cast<To*>(out)[i + j] = Narrow<To>(buffer[j]);
    }
  } else if constexpr (std::is_same<To, float16>::value || std::is_same<To, bfloat16>::value) {
    float buffer[kChunk];
    for (int64_t i = 0; i < n; i += kChunk) {
      const int64_t m = std::min(kChunk, n - i);
      const float* narrow = buffer;
      if constexpr (std::is_same<From, float>::value) {
        narrow = static_cast<const float*>(in) + i;
      } else {
        for (int64_t j = 0; j < m; ++j) buffer[j] = detail::ToRoundable(static_cast<const From*>(in)[i + j]);
      }
      if constexpr (std::is_same<To, float16>::value) {
        FloatToHalf(narrow, static_cast<float16*>(out) + i, m);
      } else {
        FloatToBfloat(narrow, static_cast<bfloat16*>(out) + i, m);
      }
    }
  } else {
    const From* from = static_cast<const From*>(in);
    To* to = static_cast<To*>(out);
    if constexpr (std::is_same<From, float>::value && std::is_same<To, int32_t>::value) return MXNET_CPU_CALL(FloatToInt)(from, to, n);
    for (int64_t i = 0; i < n; ++i) to[i] = Narrow<To>(from[i]);
  }
}

template <typename T>
ConvertFn Load(int dtype) {
  ConvertFn fn = nullptr;
  VisitDType(dtype, "convert", [&](auto tag) { fn = Convert<decltype(tag), T>; });
  return fn;
}
template <typename T>
ConvertFn Store(int dtype) {
  ConvertFn fn = nullptr;
  VisitDType(dtype, "convert", [&](auto tag) { fn = Convert<T, decltype(tag)>; });
  return fn;
}

}  // namespace

static_assert(static_cast<int>(kPlainFloat32) == kFloat32 && static_cast<int>(kPlainFloat64) == kFloat64 &&
                  static_cast<int>(kPlainUint8) == kUint8 && static_cast<int>(kPlainInt32) == kInt32 &&
                  static_cast<int>(kPlainInt8) == kInt8 && static_cast<int>(kPlainInt64) == kInt64 && static_cast<int>(kPlainBool) == kBool,
              "the numbers of dtypes");

ConvertFn LoadFn(int dtype, int compute) {
  if (const ConvertFn plain = MXNET_CPU_CALL(PlainConversion)(dtype, ComputeDType(compute))) return plain;
  switch (compute) {
    case kF32: return Load<float>(dtype);
    case kF64: return Load<double>(dtype);
    case kI32: return Load<int32_t>(dtype);
    case kU64: return Load<uint64_t>(dtype);
    default: return Load<int64_t>(dtype);
  }
}

ConvertFn StoreFn(int dtype, int compute) {
  if (const ConvertFn plain = MXNET_CPU_CALL(PlainConversion)(ComputeDType(compute), dtype)) return plain;
  switch (compute) {
    case kF32: return Store<float>(dtype);
    case kF64: return Store<double>(dtype);
    case kI32: return Store<int32_t>(dtype);
    case kU64: return Store<uint64_t>(dtype);
    default: return Store<int64_t>(dtype);
  }
}

int ComputeDType(int compute) {
  constexpr int dtypes[] = {kFloat32, kFloat64, kInt32, kInt64, kUint64};
  return dtypes[compute];
}

}  // namespace pointwise
}  // namespace mxnet
