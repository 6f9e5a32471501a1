#include "operator/quantized_fused/integer_result.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace mxnet {
namespace quantized {

void CheckZeroType(const Attrs& attrs, int dtype) {
  if (dtype != kInt32 && dtype != kDTypeUnknown) CheckBytes(attrs, "zero", dtype);
}

int ZeroIn(const TBlob& zero) {
  if (zero.dtype == kInt32) return *zero.data<int32_t>();
  return zero.dtype == kUint8 ? int{*zero.data<uint8_t>()} : int{*zero.data<int8_t>()};
}

void RoundTo(const Affine& form, int64_t n, float* values) {
  const ByteLimits limits = LimitsOf(form.dtype);
  const auto zero = static_cast<float>(form.zero);
  const float low = limits.low - zero, high = limits.high - zero;
  for (int64_t i = 0; i < n; ++i) values[i] = std::min(high, std::max(low, std::nearbyint(values[i] / form.step))) * form.step;
}

void AddIntegers(const Affine& form, const void* integers, int64_t n, float* values) {
  const auto add = [&](const auto* from) {
    for (int64_t i = 0; i < n; ++i) values[i] += form.step * static_cast<float>(from[i] - form.zero);
  };
  form.dtype == kUint8 ? add(static_cast<const uint8_t*>(integers)) : add(static_cast<const int8_t*>(integers));
}

void StoreResult(const ResultFields& p, const float* values, int64_t n, void* out) {
  if (p.out_type == kFloat32) {
    float* to = static_cast<float*>(out);
    for (int64_t i = 0; i < n; ++i) to[i] = std::min(p.high, std::max(p.low, values[i]));
    return;
  }
  const ByteLimits limits = LimitsOf(p.out_type);
  const auto zero = static_cast<float>(p.out_zero);
  auto* to = static_cast<int8_t*>(out);
  for (int64_t i = 0; i < n; ++i) {
    const float cut = std::min(p.high, std::max(p.low, values[i]));
    const float whole = std::nearbyint(cut / p.out_scale) + zero;
    to[i] = static_cast<int8_t>(static_cast<int>(std::min(limits.high, std::max(limits.low, whole))));
  }
}

}  // namespace quantized
}  // namespace mxnet
