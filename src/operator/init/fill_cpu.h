/* Kernels that write values computed from positions only. All split their work over threads. */
#ifndef MXNET_OPERATOR_INIT_FILL_CPU_H_
#define MXNET_OPERATOR_INIT_FILL_CPU_H_

#include "mxnet/base.h"

namespace mxnet {

/* The value converted to the dtype: integers take the integral part, bool whether it is
 * non-zero. */
void FillValue(const TBlob& out, double value);
/* out[i] = start + (i / repeat) * step. */
void FillRange(const TBlob& out, double start, double step, int64_t repeat);
/* Ones at [i, i + k] of a matrix, zeros elsewhere. */
void FillEye(const TBlob& out, int64_t k);
/* out[i] = pow(base, start + i * step). */
void FillPowers(const TBlob& out, double start, double step, double base);
/* out[i] = i / repeat % size: the indices along one dimension of an array. */
void FillCycle(const TBlob& out, int64_t size, int64_t repeat);
/* Ones where column <= row + k of a matrix, zeros elsewhere. */
void FillTriangle(const TBlob& out, int64_t k);
/* A window of out.Size() points: a - b * cos(x) + c * cos(2 * x), where x goes from 0 to 2 * pi. A
 * single point is 1. */
void FillWindow(const TBlob& out, double a, double b, double c);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_INIT_FILL_CPU_H_
