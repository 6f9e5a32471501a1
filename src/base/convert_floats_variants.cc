#include "base/convert_floats.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {

void WidenFloats(const float* from, double* to, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<double>(from[i]);
}

void NarrowToFloats(const double* from, float* to, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
