/*
 * Convolutions and dense layers in bfloat16 (docs/packed.md), for channels-last tensors: packed
 * weights and matrix tiles (AMX) or vdpbf16ps, Winograd in float32, depthwise sums in float32. Sums
 * are float32 and rounded once, after bias, addend and activation.
 *
 * THREADS      every function may be called from several threads at once.
 * DETERMINISM  as packed.h
 */
#ifndef MXNET_OPERATOR_NN_CPU_GEMM_PACKED_BFLOAT_H_
#define MXNET_OPERATOR_NN_CPU_GEMM_PACKED_BFLOAT_H_

#include "operator/nn/cpu_gemm/packed.h"

namespace mxnet {
namespace nn {

/* Has this processor the instructions (and are they allowed: CapCpuLevel)? */
MXNET_DLL bool BfloatGemmsHere();

/* As NativeConvolution and NativeDense, of which they are the bfloat16 part. */
bool BfloatConvolution(KernelArgs& args, const ConvCall& call, const void* addend);
bool BfloatDense(KernelArgs& args, const DenseCall& call, const void* addend);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_CPU_GEMM_PACKED_BFLOAT_H_
