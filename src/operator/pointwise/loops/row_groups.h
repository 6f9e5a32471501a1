/* Where the lists of the pointwise table begin in the numbering of its rows: loops are kept list by
 * list. */
#ifndef MXNET_OPERATOR_POINTWISE_LOOPS_ROW_GROUPS_H_
#define MXNET_OPERATOR_POINTWISE_LOOPS_ROW_GROUPS_H_

#include "operator/pointwise/loops/table.h"

namespace mxnet {
namespace pointwise {

#define MXNET_COUNT_ROW(name, ...) +1
constexpr int kUnaryExactRows = 0, kUnaryExpRows = kUnaryExactRows MXNET_UNARY_EXACT(MXNET_COUNT_ROW),
              kUnaryTrigRows = kUnaryExpRows MXNET_UNARY_EXP(MXNET_COUNT_ROW),
              kUnaryParamRows = kUnaryTrigRows MXNET_UNARY_TRIG(MXNET_COUNT_ROW),
              kBinaryArithmeticRows = kUnaryParamRows MXNET_UNARY_PARAM(MXNET_COUNT_ROW),
              kBinaryMathRows = kBinaryArithmeticRows MXNET_BINARY_ARITHMETIC(MXNET_COUNT_ROW),
              kBinaryIntegerRows = kBinaryMathRows MXNET_BINARY_MATH(MXNET_COUNT_ROW);
#undef MXNET_COUNT_ROW
static_assert(kUnaryParamRows == kNumUnary && kBinaryArithmeticRows == kEndParam && kBinaryIntegerRows == kEndBinary,
              "the lists are numbered in the order of RowId");

}  // namespace pointwise
}  // namespace mxnet
#endif  // MXNET_OPERATOR_POINTWISE_LOOPS_ROW_GROUPS_H_
