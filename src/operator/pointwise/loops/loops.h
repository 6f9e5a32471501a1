/*
 * Serial loops over contiguous elements, one per row of the table and compute type. Everything else
 * (strides, other dtypes, adding into the output, threads) is done around them, once, by
 * execute.cc.
 */
#ifndef MXNET_OPERATOR_POINTWISE_LOOPS_LOOPS_H_
#define MXNET_OPERATOR_POINTWISE_LOOPS_LOOPS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"
#include "operator/pointwise/loops/table.h"

namespace mxnet {
namespace pointwise {

/* Types that loops compute in; the integers are last. */
enum Compute : int { kF32 = 0, kF64, kI32, kI64, kU64, kNumCompute };

/*
 * out[i] = f(in[0][i], in[1][i], ...) for i < n. in[k] is a single element instead when bit k of
 * `scalars` is set; only these masks exist: unary 0; binary 0, 1, 2; gradients (g, x) 0, (g, a, b)
 * 0, 2, 4. Rows with parameters read p, q, r from single elements in[1..3]; their gradients (g, x)
 * from an array in[2]. `out` may be one of the inputs, but must not overlap one otherwise.
 */
using Loop = void (*)(const void* const* in, void* out, int64_t n, unsigned scalars);

constexpr int kMaxOperands = 4;

}  // namespace pointwise

// The loops of one instruction set: null where a row has none. Rows are numbered within their list.
MXNET_CPU_DECLARE(pointwise::Loop UnaryExactLoop(int index, int compute); pointwise::Loop UnaryExpLoop(int index, int compute);
                  pointwise::Loop UnaryTrigLoop(int index, int compute); pointwise::Loop UnaryParamLoop(int index, int compute);
                  pointwise::Loop UnaryExactGradient(int index, int compute); pointwise::Loop UnaryExpGradient(int index, int compute);
                  pointwise::Loop UnaryTrigGradient(int index, int compute); pointwise::Loop UnaryParamGradient(int index, int compute);
                  pointwise::Loop BinaryArithmeticLoop(int index, int compute); pointwise::Loop BinaryMathLoop(int index, int compute);
                  pointwise::Loop BinaryArithmeticGradient(int index, int side, int compute);
                  pointwise::Loop BinaryMathGradient(int index, int side, int compute);)

namespace pointwise {
// Integers need no dispatch: the baseline's loops are bound by memory.
Loop IntegerLoop(int row, int compute);

/* Forward loop of a row, gradient loop of a row (side 1: with respect to b), for this CPU; null
 * when the row has none. */
Loop ForwardLoop(int row, int compute);
Loop GradientLoop(int row, int side, int compute);
}  // namespace pointwise

}  // namespace mxnet
#endif  // MXNET_OPERATOR_POINTWISE_LOOPS_LOOPS_H_
