// Loops of the table for int32, int64 and uint64: every row whose types are I or B. Wrapping on
// overflow is what arrays promise.
#pragma GCC optimize("wrapv")
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "operator/pointwise/loops/division.h"
#include "operator/pointwise/loops/loops.h"

namespace mxnet {
namespace pointwise {
namespace {

#define MXNET_FN inline __attribute__((always_inline))
template <typename T>
struct UnsignedOf {
  typedef std::make_unsigned_t<T> Type;
};
#include "operator/pointwise/functions/integer_functions.cuh"
#include "operator/pointwise/loops/loop_templates.h"

#define MXNET_ROWS_I(name, template_, arguments, expression) \
  struct F_##name {                                          \
    template <typename T>                                    \
    static MXNET_FN T f arguments {                          \
      return expression;                                     \
    }                                                        \
  };
#define MXNET_UNARY_IF(name, types, expression, ...) MXNET_UNARY_IF_##types(name, expression)
#define MXNET_UNARY_IF_I(name, expression) MXNET_ROWS_I(name, Loop1, (T x), expression)
#define MXNET_UNARY_IF_F(name, expression)
#define MXNET_PARAM_IF(name, types, expression, uses, derivative) MXNET_PARAM_IF_##types(name, expression)
#define MXNET_PARAM_IF_I(name, expression) MXNET_ROWS_I(name, LoopParam, (T x, T p, T q, T r), expression)
#define MXNET_PARAM_IF_F(name, expression)
#define MXNET_BINARY_IF(name, types, expression, ...) MXNET_BINARY_IF_##types(name, expression)
#define MXNET_BINARY_IF_I(name, expression) MXNET_ROWS_I(name, Loop2, (T a, T b), expression)
#define MXNET_BINARY_IF_F(name, expression)
#define MXNET_BINARY_IF_B(name, types, expression, ...) MXNET_ROWS_I(name, Loop2, (T a, T b), expression)
MXNET_UNARY_EXACT(MXNET_UNARY_IF)
MXNET_UNARY_PARAM(MXNET_PARAM_IF)
MXNET_BINARY_ARITHMETIC(MXNET_BINARY_IF)
MXNET_BINARY_MATH(MXNET_BINARY_IF)
MXNET_BINARY_INTEGER(MXNET_BINARY_IF_B)

// Loop2, and a faster way for divisions by one number.
template <class E, typename T, RowId kRow>
void LoopDivision(const void* const* in, void* out, int64_t n, unsigned scalars) {
  constexpr int64_t few = 16;
  if (scalars == 2 && n >= few) {
    const T number = *static_cast<const T*>(in[1]);
    if ((number > 1 || number < -1) && number != std::numeric_limits<T>::min())
      return MXNET_CPU_CALL(DivisionByNumber)(kRow, sizeof(T) == 4 ? kI32 : kI64)(in, out, n, scalars);
  }
  Loop2<E, T>(in, out, n, scalars);
}

#define MXNET_ENTRY_I(name, loop) {loop<F_##name, int32_t>, loop<F_##name, int64_t>, loop<F_##name, uint64_t>},
#define MXNET_ENTRY_F(name, loop) {nullptr, nullptr, nullptr},
#define MXNET_ENTRY_B(name, loop) MXNET_ENTRY_I(name, loop)
#define MXNET_ENTRY1(name, types, ...) MXNET_ENTRY_##types(name, Loop1)
#define MXNET_ENTRY2(name, types, ...) MXNET_ENTRY_##types(name, Loop2)
#define MXNET_ENTRYP(name, types, ...) MXNET_ENTRY_##types(name, LoopParam)
constexpr Loop kLoops[][3] = {MXNET_UNARY_EXACT(MXNET_ENTRY1) MXNET_UNARY_EXP(MXNET_ENTRY1) MXNET_UNARY_TRIG(MXNET_ENTRY1)
                                  MXNET_UNARY_PARAM(MXNET_ENTRYP) MXNET_BINARY_ARITHMETIC(MXNET_ENTRY2) MXNET_BINARY_MATH(MXNET_ENTRY2)
                                      MXNET_BINARY_INTEGER(MXNET_ENTRY2)};
static_assert(sizeof(kLoops) / sizeof(kLoops[0]) == kEndInteger, "one entry per row, in the order of RowId");

}  // namespace

Loop IntegerLoop(int row, int compute) {
#define MXNET_DIVISION(name)              \
  if (row == k_##name && compute != kU64) \
    return compute == kI32 ? LoopDivision<F_##name, int32_t, k_##name> : LoopDivision<F_##name, int64_t, k_##name>;
  MXNET_DIVISION(div)
  MXNET_DIVISION(floor_divide)
  MXNET_DIVISION(mod)
  MXNET_DIVISION(fmod)
#undef MXNET_DIVISION
  return kLoops[row][compute - kI32];
}

}  // namespace pointwise
}  // namespace mxnet
