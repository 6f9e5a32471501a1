// Depthwise sums of bytes: a block of channels stays in registers over all taps.
#include <algorithm>

#include "operator/quantized/depthwise_bytes.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

constexpr int64_t kBlock = 32;

template <typename T>
void Sum(const void* const* bytes, const int* tap, int count, int zero, const int16_t* weights, int64_t channels, int32_t* sums) {
  int64_t c = 0;
  for (; c + kBlock <= channels; c += kBlock) {
    int32_t block[kBlock] = {};
    for (int t = 0; t < count; ++t) {
      const T* x = static_cast<const T*>(bytes[t]) + c;
      const int16_t* w = weights + tap[t] * channels + c;
      for (int64_t i = 0; i < kBlock; ++i) block[i] += (static_cast<int32_t>(x[i]) - zero) * static_cast<int32_t>(w[i]);
    }
    std::copy_n(block, kBlock, sums + c);
  }
  if (c == channels) return;
  std::fill(sums + c, sums + channels, 0);
  for (int t = 0; t < count; ++t) {
    const T* x = static_cast<const T*>(bytes[t]);
    const int16_t* w = weights + tap[t] * channels;
    for (int64_t i = c; i < channels; ++i) sums[i] += (static_cast<int32_t>(x[i]) - zero) * static_cast<int32_t>(w[i]);
  }
}

}  // namespace

void DepthwisePlace(const void* const* bytes, const int* tap, int count, bool is_unsigned, int zero, const int16_t* weights,
                    int64_t channels, int32_t* sums) {
  if (is_unsigned)
    Sum<uint8_t>(bytes, tap, count, zero, weights, channels, sums);
  else
    Sum<int8_t>(bytes, tap, count, zero, weights, channels, sums);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
