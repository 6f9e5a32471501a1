/*
 * Convolutions of any window, dense layers and 3x3 depthwise convolutions in float32 with packed
 * weights (docs/packed.md), for channels-last tensors.
 *
 * THREADS      every function may be called from several threads at once.
 * DETERMINISM  an element's sum is taken in the order of the window and of the channels: results do
 *              not depend on threads or blocks.
 */
#ifndef MXNET_OPERATOR_NN_CPU_GEMM_PACKED_H_
#define MXNET_OPERATOR_NN_CPU_GEMM_PACKED_H_

#include <functional>

#include "operator/nn/common/kept_weights.h"
#include "operator/nn/cpu_gemm/packed_kernels.h"
#include "operator/nn/onednn/hooks.h"

namespace mxnet {
namespace nn {

using WorkspaceFn = std::function<void*(size_t)>;

/* How a forward convolution may be computed; the numbers of the Winograd methods are their tiles'
 * sizes. */
enum class ConvMethod : int { kLibrary = 0, kPacked = 1, kWinograd2 = 2, kWinograd4 = 4, kWinograd6 = 6, kDepthwise = 8 };

/* Do the kernels compute this convolution? */
bool PackedTakes(const ConvCall& call);
bool DepthwiseTakes(const ConvCall& call, bool with_addend);

/* Elements of the packed weights of a convolution that is taken, and the packing. 64-byte aligned
 * memory is faster. */
int64_t PackedSize(const ConvCall& call);
void PackWeights(const ConvCall& call, float* packed);
WeightParts PackWeightParts(const ConvCall& call);
int64_t DepthwiseSize(const ConvCall& call);
void PackDepthwise(const ConvCall& call, float* packed);

/* post(convolution + bias + addend); `addend` has the result's order and may be the result itself.
 * call.weight is not read. */
void PackedRun(const ConvCall& call, const float* packed, const float* addend, const WorkspaceFn& workspace);
void DepthwiseRun(const ConvCall& call, const float* packed, const float* addend);

/*
 * A 1x1 convolution whose only reader is a 3x3 depthwise one, in one pass: the result of the first
 * is never written as a whole. Epilogues are bias, relu and clip. expand.dst and depthwise.src are
 * not looked at; packed weights are those of the two.
 */
bool ExpandDepthwiseTakes(const ConvCall& expand, const ConvCall& depthwise);
void ExpandDepthwiseRun(const ConvCall& expand, const ConvCall& depthwise, const float* packed, const float* packed_depthwise,
                        const WorkspaceFn& workspace);

/* Elements of packed weights (n, k) of a dense layer, the packing, and out(m, n) = post(data
 * weight^T + bias + addend). */
int64_t PackedDenseSize(int64_t n, int64_t k);
void PackDense(const float* weight, int64_t n, int64_t k, float* packed);
WeightParts PackDenseParts(int64_t n, int64_t k);
WeightParts PackTransposedParts(int64_t n, int64_t k);  // of weights (k, n)
void PackedDense(const DenseCall& call, const float* packed, const float* addend, const WorkspaceFn& workspace);

/*
 * Computes `call` by the best of this library's own methods when one can and is faster than the
 * vector library: then true. `addend` as above; call.accumulate is not looked at. Weights are kept
 * in an inference plan's state while their version stays.
 */
bool NativeConvolution(KernelArgs& args, const ConvCall& call, const void* addend);
bool NativeDense(KernelArgs& args, const DenseCall& call, const void* addend);

/* Are a dense layer's weights packed once? Not where they are not kept, nor for few rows where they
 * change, or are so large that they would lie there twice while they are packed, and not by
 * parts. */
bool PacksDense(const KernelArgs& args, const DenseCall& call);

/* The method for a convolution, of those that its pass has. `kept`: weights are packed or
 * transformed once, not for each call. */
ConvMethod MethodByRule(const ConvCall& call, bool kept);
ConvMethod MethodByMeasurement(const ConvCall& call, bool kept);  // as by rule where there is nothing to compare with

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_CPU_GEMM_PACKED_H_
