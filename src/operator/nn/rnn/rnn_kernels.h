/* Inner loops of RNN for several instruction sets: gate functions on a stretch of units of one
 * sequence at one step. */
#ifndef MXNET_OPERATOR_NN_RNN_RNN_KERNELS_H_
#define MXNET_OPERATOR_NN_RNN_RNN_KERNELS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {

namespace nn {
struct CellClip {  // limits of the lstm cell state
  bool on = false, nan = false;
  double low = 0, high = 0;
};
}  // namespace nn

MXNET_CPU_DECLARE(
    /* Arrays of float32 or float64; n units, gate g of unit j is at gates[g * stride + j]. */
    /* gates: i f g o before (in) and after (out) their functions; cell: state before (in) and after
   * (out); kept, hidden: copies for the gradient and the state. */
    void LstmRow(int dtype, int64_t n, int64_t stride, const nn::CellClip& clip, void* gates, void* cell, void* kept, void* hidden);
    /* up: gradient of hidden; dcell: gradient of the cell state after (in) and before (out); kept,
   * before: cell states after and before. */
    void LstmRowGradient(int dtype, int64_t n, const nn::CellClip& clip, const void* gates, const void* kept, const void* before,
                         const void* up, void* dcell, void* dgates);
    /* gates: r z n, input part (in), results (out); recurrent: hidden part, whose gates are
     * recurrent_stride apart; kept: its candidate. */
    void GruRow(int dtype, int64_t n, int64_t stride, void* gates, int64_t recurrent_stride, const void* recurrent, const void* before,
                void* kept, void* hidden);
    /* Adds the sums of all gates of n units, in float32, which are sums_stride apart. */
    void AddToGates(int64_t n, int64_t gates, int64_t stride, float* to, int64_t sums_stride, const float* sums);
    /* up: gradient of hidden; before: state before; dgates, drecurrent: gradients of input and
     * hidden
   * parts; keep: what goes on to the state before. */
    void GruRowGradient(int dtype, int64_t n, const void* gates, const void* kept, const void* before, const void* up, void* dgates,
                        void* drecurrent, void* keep);
    void TanhRow(int dtype, int64_t n, void* gates, void* hidden); void ReluRow(int dtype, int64_t n, void* gates, void* hidden);
    void PlainRowGradient(int dtype, int64_t n, bool relu, const void* gates, const void* up, void* dgates);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_RNN_RNN_KERNELS_H_
