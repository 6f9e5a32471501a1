/* Kernels that write values computed from positions only. All split their work over threads. */
#ifndef MXNET_OPERATOR_INIT_FILL_H_
#define MXNET_OPERATOR_INIT_FILL_H_

#include "mxnet/base.h"

namespace mxnet {

/* The value converted to the dtype: integers take the integral part, bool whether it is
 * non-zero. */
void FillValue(const TBlob& out, double value);
/* out[i] = start + (i / repeat) * step. */
void FillRange(const TBlob& out, double start, double step, int64_t repeat);
/* Ones at [i, i + k] of a matrix, zeros elsewhere. */
void FillEye(const TBlob& out, int64_t k);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_INIT_FILL_H_
