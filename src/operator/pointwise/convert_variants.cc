// Conversions of whole arrays that gain from wide vectors.
#include <cstdint>

#include "base/truncate.h"
#include "operator/pointwise/convert.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {

void FloatToInt(const float* __restrict in, int32_t* __restrict out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = Truncate<int32_t>(in[i]);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
