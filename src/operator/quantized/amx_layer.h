/*
 * Convolutions and dense layers of bytes by the processor's matrix tiles (amx_windows.h), whose
 * sums become results while they are in the first-level cache.
 */
#ifndef MXNET_OPERATOR_QUANTIZED_AMX_LAYER_H_
#define MXNET_OPERATOR_QUANTIZED_AMX_LAYER_H_

#include "operator/nn/common/kept_weights.h"
#include "operator/quantized/packed_job.h"

namespace mxnet {
namespace quantized {

/* Words of packed weights, with the sum of each filter behind them. */
int64_t AmxWeights(const PackedJob& job);
nn::WeightParts AmxWeightParts(const PackedJob& job);

/* Is the job one of them, and are there the instructions? */
bool HasAmxLayer(const PackedJob& job);

/* job.packed is of AmxWeightParts. What becomes of sums is what SumsFinish says. */
void AmxLayer(KernelArgs& args, const PackedJob& job);

}  // namespace quantized
}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_AMX_LAYER_H_
