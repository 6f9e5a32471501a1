// Conversions of whole arrays that gain from wide vectors.
#include <cstdint>

#include "base/truncate.h"
#include "operator/pointwise/loops/convert.h"
#include "operator/pointwise/loops/plain_conversion.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

template <typename From, typename To>
void Plain(const void* in, void* out, int64_t n) {
  const From* __restrict from = static_cast<const From*>(in);
  To* __restrict to = static_cast<To*>(out);
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<To>(from[i]);
}

// Bools are bytes of 0 and 1.
template <typename From>
void ToBool(const void* in, void* out, int64_t n) {
  const From* __restrict from = static_cast<const From*>(in);
  uint8_t* __restrict to = static_cast<uint8_t*>(out);
  for (int64_t i = 0; i < n; ++i) to[i] = from[i] != From(0);
}

constexpr int Pair(int from, int to) { return from * 16 + to; }

}  // namespace

void FloatToInt(const float* __restrict in, int32_t* __restrict out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = Truncate<int32_t>(in[i]);
}

pointwise::ConvertFn PlainConversion(int from, int to) {
  if (from < 0 || from > 15 || to < 0 || to > 15) return nullptr;
  switch (Pair(from, to)) {
    case Pair(pointwise::kPlainFloat32, pointwise::kPlainFloat64): return Plain<float, double>;
    case Pair(pointwise::kPlainFloat64, pointwise::kPlainFloat32): return Plain<double, float>;
    case Pair(pointwise::kPlainInt32, pointwise::kPlainFloat32): return Plain<int32_t, float>;
    case Pair(pointwise::kPlainInt64, pointwise::kPlainFloat32): return Plain<int64_t, float>;
    case Pair(pointwise::kPlainInt64, pointwise::kPlainFloat64): return Plain<int64_t, double>;
    case Pair(pointwise::kPlainInt32, pointwise::kPlainInt64): return Plain<int32_t, int64_t>;
    case Pair(pointwise::kPlainInt64, pointwise::kPlainInt32): return Plain<int64_t, int32_t>;
    case Pair(pointwise::kPlainUint8, pointwise::kPlainFloat32): return Plain<uint8_t, float>;
    case Pair(pointwise::kPlainUint8, pointwise::kPlainInt32): return Plain<uint8_t, int32_t>;
    case Pair(pointwise::kPlainInt8, pointwise::kPlainFloat32): return Plain<int8_t, float>;
    case Pair(pointwise::kPlainInt8, pointwise::kPlainInt32): return Plain<int8_t, int32_t>;
    case Pair(pointwise::kPlainInt32, pointwise::kPlainUint8): return Plain<int32_t, uint8_t>;
    case Pair(pointwise::kPlainInt32, pointwise::kPlainInt8): return Plain<int32_t, int8_t>;
    case Pair(pointwise::kPlainBool, pointwise::kPlainFloat32): return Plain<uint8_t, float>;
    case Pair(pointwise::kPlainBool, pointwise::kPlainFloat64): return Plain<uint8_t, double>;
    case Pair(pointwise::kPlainBool, pointwise::kPlainInt32): return Plain<uint8_t, int32_t>;
    case Pair(pointwise::kPlainBool, pointwise::kPlainInt64): return Plain<uint8_t, int64_t>;
    case Pair(pointwise::kPlainFloat32, pointwise::kPlainBool): return ToBool<float>;
    case Pair(pointwise::kPlainFloat64, pointwise::kPlainBool): return ToBool<double>;
    case Pair(pointwise::kPlainInt32, pointwise::kPlainBool): return ToBool<int32_t>;
    case Pair(pointwise::kPlainInt64, pointwise::kPlainBool): return ToBool<int64_t>;
    default: return nullptr;
  }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
