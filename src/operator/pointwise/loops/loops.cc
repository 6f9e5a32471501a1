#include "operator/pointwise/loops/loops.h"

#include "operator/pointwise/loops/row_groups.h"

namespace mxnet {
namespace pointwise {

Loop ForwardLoop(int row, int compute) {
  if (compute >= kI32) return IntegerLoop(row, compute);
  if (row < kUnaryExpRows) return MXNET_CPU_CALL(UnaryExactLoop)(row, compute);
  if (row < kUnaryTrigRows) return MXNET_CPU_CALL(UnaryExpLoop)(row - kUnaryExpRows, compute);
  if (row < kUnaryParamRows) return MXNET_CPU_CALL(UnaryTrigLoop)(row - kUnaryTrigRows, compute);
  if (row < kBinaryArithmeticRows) return MXNET_CPU_CALL(UnaryParamLoop)(row - kUnaryParamRows, compute);
  if (row < kBinaryMathRows) return MXNET_CPU_CALL(BinaryArithmeticLoop)(row - kBinaryArithmeticRows, compute);
  if (row < kBinaryIntegerRows) return MXNET_CPU_CALL(BinaryMathLoop)(row - kBinaryMathRows, compute);
  return nullptr;
}

Loop GradientLoop(int row, int side, int compute) {
  if (compute >= kI32) return nullptr;
  if (row < kUnaryExpRows) return MXNET_CPU_CALL(UnaryExactGradient)(row, compute);
  if (row < kUnaryTrigRows) return MXNET_CPU_CALL(UnaryExpGradient)(row - kUnaryExpRows, compute);
  if (row < kUnaryParamRows) return MXNET_CPU_CALL(UnaryTrigGradient)(row - kUnaryTrigRows, compute);
  if (row < kBinaryArithmeticRows) return MXNET_CPU_CALL(UnaryParamGradient)(row - kUnaryParamRows, compute);
  if (row < kBinaryMathRows) return MXNET_CPU_CALL(BinaryArithmeticGradient)(row - kBinaryArithmeticRows, side, compute);
  if (row < kBinaryIntegerRows) return MXNET_CPU_CALL(BinaryMathGradient)(row - kBinaryMathRows, side, compute);
  return nullptr;
}

}  // namespace pointwise
}  // namespace mxnet
