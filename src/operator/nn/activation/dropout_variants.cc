// Loops of dropout.
#include <cstdint>

#include "mxnet/base.h"
#include "operator/nn/activation/dropout_kernels.h"
#include "operator/shared/philox_lanes.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

template <typename T>
void Mask(uint64_t seed, uint64_t counter, uint64_t keep, T scale, T* mask, int64_t begin, int64_t end) {
  const uint32_t last = static_cast<uint32_t>(keep - 1);  // `keep` may be 2^32; nothing stays where it is 0
  uint32_t words[kPhiloxWords];
  for (int64_t i = begin; keep && i < end; i += kPhiloxWords) {
    PhiloxWords(seed, counter + static_cast<uint64_t>(i) / 4, words);
    const int64_t n = end - i < kPhiloxWords ? end - i : kPhiloxWords;
    for (int64_t j = 0; j < n; ++j) mask[i + j] = words[j] <= last ? scale : T(0);
  }
  for (int64_t i = begin; !keep && i < end; ++i) mask[i] = T(0);
}

}  // namespace

void DropoutMask(int dtype, uint64_t seed, uint64_t counter, uint64_t keep, double scale, void* mask, int64_t begin, int64_t end) {
  if (dtype == kFloat64)
    Mask<double>(seed, counter, keep, scale, static_cast<double*>(mask), begin, end);
  else
    Mask<float>(seed, counter, keep, static_cast<float>(scale), static_cast<float*>(mask), begin, end);
}

void DropoutApply(uint64_t seed, uint64_t counter, uint64_t keep, float scale, int64_t first, const float* x, float* y, int64_t n) {
  const uint32_t last = static_cast<uint32_t>(keep - 1);
  if (!keep) scale = 0;
  uint32_t words[kPhiloxWords];
  int64_t skip = first % 4;  // words before the first one, of its counter
  for (int64_t i = 0; i < n;) {
    PhiloxWords(seed, counter + static_cast<uint64_t>(first + i) / 4, words);
    const int64_t count = n - i < kPhiloxWords - skip ? n - i : kPhiloxWords - skip;
    for (int64_t j = 0; j < count; ++j) y[i + j] = x[i + j] * (words[skip + j] <= last ? scale : 0.0f);
    i += count, skip = 0;
  }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
