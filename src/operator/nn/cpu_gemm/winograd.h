/*
 * Winograd convolutions in float32 on the CPU (docs/winograd.md): windows of 3x3, 5x5, 1x3, 3x1,
 * 1x7 and 7x1 with stride 1, channels-last tensors. Forward they may be dilated.
 *
 * THREADS      every function may be called from several threads at once.
 * DETERMINISM  results do not depend on the number of threads or on blocking, only on the tile
 *              size. With MXNET_ENFORCE_DETERMINISM=1 the tile size follows from the shape alone,
 *              else from a rule, or a measurement kept per process (docs/winograd.md).
 */
#ifndef MXNET_OPERATOR_NN_CPU_GEMM_WINOGRAD_H_
#define MXNET_OPERATOR_NN_CPU_GEMM_WINOGRAD_H_

#include <functional>

#include "base/ran.h"
#include "operator/nn/common/kept_weights.h"
#include "operator/nn/cpu_gemm/winograd_kernels.h"
#include "operator/nn/onednn/hooks.h"

namespace mxnet {
namespace nn {

/*
 * Computes `call`, of which WinogradDimsOf says that it can, with tiles of m for windows of 3, of m
 * - 2 for windows of 5 or 7. `addend`, of the result's shape and order, is added before call.post
 * and may be the result itself; call.accumulate is not looked at. `form` names the transformed
 * weights (kept_weights.h).
 */
/* Says which tiles ran. */
void SayWinograd(const WinogradDims& d, RanAt at);
void WinogradConvolution(KernelArgs& args, const ConvCall& call, const void* addend, int m, uint64_t form);

/* The tile of `call` in the layout of the kernels. False: not a convolution that they compute. */
bool WinogradDimsOf(const ConvCall& call, int m, WinogradDims* dims, WinogradFilter* filter);

/* Are weights that are kept so large that they come from memory each time? Then kernels read
 * `bytes` for a number (3 hardly change a result, 2 are for bfloat16). */
void WinogradKeepCompact(int bytes, WinogradDims* dims);

/* Floats' room for the transformed weights. */
int64_t WinogradWeightSize(const WinogradDims& d);
void WinogradTransformWeights(const WinogradDims& d, const WinogradFilter& f, float* u);
/* The same, a panel of filters as a part; none where they do not lie one behind the other. */
WeightParts WinogradWeightParts(const WinogradDims& d, const WinogradFilter& f);
/* The convolution with transformed weights. `workspace` gives 64-byte aligned workspace memory. */
void WinogradRun(const WinogradDims& d, const float* x, const float* u, const WinogradEpilogue& e, float* y,
                 const std::function<void*(size_t)>& workspace);

/* Gradient by the weights, from data and the result's gradient; `f` says where it goes. */
void WinogradRunWeights(const WinogradDims& d, const float* x, const float* dy, const WinogradFilterGradient& f,
                        const std::function<void*(size_t)>& workspace);
/* sums(width) = sums over the rows of y(rows, width): the gradient by a bias. */
void WinogradSumRows(const float* y, int64_t rows, int64_t width, float* sums, const std::function<void*(size_t)>& workspace);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_CPU_GEMM_WINOGRAD_H_
