#include "base/half.h"

#include "base/cpu_dispatch.h"

namespace mxnet {

MXNET_CPU_DECLARE(void HalfToFloat(const float16* in, float* out, int64_t n); void FloatToHalf(const float* in, float16* out, int64_t n);
                  void BfloatToFloat(const bfloat16* in, float* out, int64_t n);
                  void FloatToBfloat(const float* in, bfloat16* out, int64_t n);)

void HalfToFloat(const float16* in, float* out, int64_t n) { MXNET_CPU_CALL(HalfToFloat)(in, out, n); }
void FloatToHalf(const float* in, float16* out, int64_t n) { MXNET_CPU_CALL(FloatToHalf)(in, out, n); }
void BfloatToFloat(const bfloat16* in, float* out, int64_t n) { MXNET_CPU_CALL(BfloatToFloat)(in, out, n); }
void FloatToBfloat(const float* in, bfloat16* out, int64_t n) { MXNET_CPU_CALL(FloatToBfloat)(in, out, n); }

}  // namespace mxnet
