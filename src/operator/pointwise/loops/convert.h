/* Blockwise conversion between stored dtypes and the types that loops compute in. */
#ifndef MXNET_OPERATOR_POINTWISE_LOOPS_CONVERT_H_
#define MXNET_OPERATOR_POINTWISE_LOOPS_CONVERT_H_

#include <cstdint>

#include "operator/pointwise/loops/loops.h"

namespace mxnet {

MXNET_CPU_DECLARE(
    /* Truncate<int32_t> of n elements. */
    void FloatToInt(const float* in, int32_t* out, int64_t n);)

namespace pointwise {

/* n elements; in and out must not overlap. Floating values become integers as base/truncate.h says;
 * bool is `!= 0`. */
using ConvertFn = void (*)(const void* in, void* out, int64_t n);
/* From `dtype` into the compute type; null for numbers outside the enum. */
ConvertFn LoadFn(int dtype, int compute);
/* From the compute type into `dtype`. */
ConvertFn StoreFn(int dtype, int compute);
/* DType of a compute type. */
int ComputeDType(int compute);
inline int64_t ComputeSize(int compute) { return compute == kF32 || compute == kI32 ? 4 : 8; }

}  // namespace pointwise
}  // namespace mxnet
#endif  // MXNET_OPERATOR_POINTWISE_LOOPS_CONVERT_H_
