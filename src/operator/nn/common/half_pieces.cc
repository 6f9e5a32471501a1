#include "operator/nn/common/half_pieces.h"

#include <cstring>

#include "base/half.h"

namespace mxnet {
namespace nn {

void ReadFloats(int dtype, const void* from, float* to, int64_t n) {
  if (dtype == kFloat16)
    HalfToFloat(static_cast<const float16*>(from), to, n);
  else if (dtype == kBfloat16)
    BfloatToFloat(static_cast<const bfloat16*>(from), to, n);
  else
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(float));
}

void WriteFloats(const float* from, int dtype, void* to, int64_t n) {
  if (dtype == kFloat16)
    FloatToHalf(from, static_cast<float16*>(to), n);
  else if (dtype == kBfloat16)
    FloatToBfloat(from, static_cast<bfloat16*>(to), n);
  else
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(float));
}

}  // namespace nn
}  // namespace mxnet
