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

float StepOf(const ResultFields& p) { return IsBytes(p.out_type) ? p.out_scale : 1; }

void RoundTo(const Affine& form, float scale, int64_t n, float* values) {
  const ByteLimits limits = LimitsOf(form.dtype);
  const auto zero = static_cast<float>(form.zero);
  const float low = limits.low - zero, high = limits.high - zero;
  for (int64_t i = 0; i < n; ++i) values[i] = std::nearbyint(std::min(high, std::max(low, values[i]))) * scale;
}

void AddIntegers(const Affine& form, const void* integers, int64_t n, float* values) {
  const auto add = [&](const auto* from) {
    for (int64_t i = 0; i < n; ++i) values[i] = std::fma(static_cast<float>(from[i] - form.zero), form.step, values[i]);
  };
  form.dtype == kUint8 ? add(static_cast<const uint8_t*>(integers)) : add(static_cast<const int8_t*>(integers));
}

void StoreSteps(const ResultFields& p, const float* values, int64_t n, void* out) {
  const float step = StepOf(p), least = p.low / step, most = p.high / step;
  if (p.out_type == kFloat32) {
    float* to = static_cast<float*>(out);
    for (int64_t i = 0; i < n; ++i) to[i] = std::min(most, std::max(least, values[i]));
    return;
  }
  const ByteLimits limits = LimitsOf(p.out_type);
  const auto zero = static_cast<float>(p.out_zero);
  auto* to = static_cast<int8_t*>(out);
  for (int64_t i = 0; i < n; ++i) {
    const float whole = std::nearbyint(std::min(most, std::max(least, values[i]))) + zero;
    to[i] = static_cast<int8_t>(static_cast<int>(std::min(limits.high, std::max(limits.low, whole))));
  }
}

}  // namespace quantized
}  // namespace mxnet
