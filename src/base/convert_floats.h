/* Between float and double, in the widest vectors of the machine. */
#ifndef MXNET_BASE_CONVERT_FLOATS_H_
#define MXNET_BASE_CONVERT_FLOATS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {

MXNET_CPU_DECLARE(void WidenFloats(const float* from, double* to, int64_t n);
                  void NarrowToFloats(const double* from, float* to, int64_t n);)

}  // namespace mxnet
#endif  // MXNET_BASE_CONVERT_FLOATS_H_
