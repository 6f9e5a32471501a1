/* Gate loops of RNN for several instruction sets: one row (one sequence at one step) per call. Arrays of float32 or float64. */
#ifndef MXNET_OPERATOR_NN_RNN_KERNELS_H_
#define MXNET_OPERATOR_NN_RNN_KERNELS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {

namespace nn {
struct CellClip {   // limits of the lstm cell state
  bool on = false, nan = false;
  double low = 0, high = 0;
};
}  // namespace nn

MXNET_CPU_DECLARE(
  /* gates: i f g o before (in) and after (out) their functions; cell: state before (in) and after (out); kept, hidden: copies for the gradient and the state. */
  void LstmRow(int dtype, int64_t n, const nn::CellClip& clip, void* gates, void* cell, void* kept, void* hidden);
  /* up: gradient of hidden; dcell: gradient of the cell state after (in) and before (out); kept, before: cell states after and before. */
  void LstmRowGradient(int dtype, int64_t n, const nn::CellClip& clip, const void* gates, const void* kept, const void* before, const void* up, void* dcell, void* dgates);
  /* gates: r z n, input part (in), results (out); recurrent: hidden part; kept: its candidate. */
  void GruRow(int dtype, int64_t n, void* gates, const void* recurrent, const void* before, void* kept, void* hidden);
  void TanhRow(int dtype, int64_t n, void* gates, void* hidden);
)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_RNN_KERNELS_H_
