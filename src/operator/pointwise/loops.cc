#include "operator/pointwise/loops.h"

namespace mxnet {
namespace pointwise {

Loop ForwardLoop(int row, int compute) {
  if (compute >= kI32) return IntegerLoop(row, compute);
  if (row < k_exp) return MXNET_CPU_CALL(UnaryExactLoop)(row, compute);
  if (row < k_sin) return MXNET_CPU_CALL(UnaryExpLoop)(row - k_exp, compute);
  if (row < k_clip) return MXNET_CPU_CALL(UnaryTrigLoop)(row - k_sin, compute);
  if (row < k_add) return MXNET_CPU_CALL(UnaryParamLoop)(row - k_clip, compute);
  if (row < k_mod) return MXNET_CPU_CALL(BinaryArithmeticLoop)(row - k_add, compute);
  if (row < k_bitwise_and) return MXNET_CPU_CALL(BinaryMathLoop)(row - k_mod, compute);
  return nullptr;
}

Loop GradientLoop(int row, int side, int compute) {
  if (compute >= kI32) return nullptr;
  if (row < k_exp) return MXNET_CPU_CALL(UnaryExactGradient)(row, compute);
  if (row < k_sin) return MXNET_CPU_CALL(UnaryExpGradient)(row - k_exp, compute);
  if (row < k_clip) return MXNET_CPU_CALL(UnaryTrigGradient)(row - k_sin, compute);
  if (row < k_add) return MXNET_CPU_CALL(UnaryParamGradient)(row - k_clip, compute);
  if (row < k_mod) return MXNET_CPU_CALL(BinaryArithmeticGradient)(row - k_add, side, compute);
  if (row < k_bitwise_and) return MXNET_CPU_CALL(BinaryMathGradient)(row - k_mod, side, compute);
  return nullptr;
}

}  // namespace pointwise
}  // namespace mxnet
