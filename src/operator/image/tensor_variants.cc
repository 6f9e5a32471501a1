// Loops of _image_to_tensor for bytes, the dtype that decoders give, and of _image_normalize.
#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {
namespace {

template <int kChannels>
void Planes(const uint8_t* from, int64_t n, float* to, int64_t plane) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i)
    for (int c = 0; c < kChannels; ++c) to[c * plane + i] = static_cast<float>(from[i * kChannels + c]) / 255.0f;
}

}  // namespace

namespace MXNET_CPU_VARIANT {

/* Pixels of `channels` bytes into planes that lie `plane` elements apart. */
void BytesToPlanes(const uint8_t* from, int64_t n, int64_t channels, float* to, int64_t plane) {
  if (channels == 3) return Planes<3>(from, n, to, plane);
  if (channels == 1) return Planes<1>(from, n, to, plane);
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t i = 0; i < n; ++i) to[c * plane + i] = static_cast<float>(from[i * channels + c]) / 255.0f;
}

/* (x - mean) / deviation; to may be from. */
void NormalizePixels(const float* from, int64_t n, float mean, float deviation, float* to) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] = (from[i] - mean) / deviation;
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
