// Conversions of whole arrays that gain from wide vectors.
#include <cstdint>

#include "base/half.h"
#include "operator/pointwise/convert.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {

bool FloatToInt(const float* __restrict in, int32_t* __restrict out, int64_t n) {
  int32_t large = 0;   // magnitudes as integers compare like the numbers
  for (int64_t i = 0; i < n; ++i) {
    large |= static_cast<int32_t>(static_cast<int32_t>(detail::FloatBits(in[i]) & 0x7fffffffu) >= 0x4f000000);
    out[i] = static_cast<int32_t>(in[i]);
  }
  return large == 0;
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
