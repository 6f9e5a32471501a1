/* The functions of fill.h where `run` says: on the CPU, or on a GPU's stream. */
#ifndef MXNET_OPERATOR_INIT_GPU_FILL_H_
#define MXNET_OPERATOR_INIT_GPU_FILL_H_

#include "mxnet/run_context.h"
#include "operator/init/fill.h"

namespace mxnet {

void FillValue(const RunContext& run, const TBlob& out, double value);
void FillRange(const RunContext& run, const TBlob& out, double start, double step, int64_t repeat);
void FillEye(const RunContext& run, const TBlob& out, int64_t k);
void FillPowers(const RunContext& run, const TBlob& out, double start, double step, double base);
void FillCycle(const RunContext& run, const TBlob& out, int64_t size, int64_t repeat);
void FillTriangle(const RunContext& run, const TBlob& out, int64_t k);
void FillWindow(const RunContext& run, const TBlob& out, double a, double b, double c);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_INIT_GPU_FILL_H_
