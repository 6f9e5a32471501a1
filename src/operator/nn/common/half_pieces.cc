#include "operator/nn/common/half_pieces.h"

#include <cstring>

#include "base/half.h"

namespace mxnet {
namespace nn {

void ReadFloats(const TBlob& from, int64_t at, float* to, int64_t n) {
  if (from.dtype == kFloat16)
    HalfToFloat(from.data<float16>() + at, to, n);
  else if (from.dtype == kBfloat16)
    BfloatToFloat(from.data<bfloat16>() + at, to, n);
  else
    std::memcpy(to, from.data<float>() + at, static_cast<size_t>(n) * sizeof(float));
}

void WriteFloats(const float* from, const TBlob& to, int64_t at, int64_t n) {
  if (to.dtype == kFloat16)
    FloatToHalf(from, to.data<float16>() + at, n);
  else if (to.dtype == kBfloat16)
    FloatToBfloat(from, to.data<bfloat16>() + at, n);
  else
    std::memcpy(to.data<float>() + at, from, static_cast<size_t>(n) * sizeof(float));
}

}  // namespace nn
}  // namespace mxnet
