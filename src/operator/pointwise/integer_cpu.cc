// Loops of the table for int32 and int64: every row whose types are I or B. Wrapping on overflow is
// what arrays promise.
#pragma GCC optimize("wrapv")
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "operator/pointwise/loops.h"

namespace mxnet {
namespace pointwise {
namespace {

#define MXNET_FN inline __attribute__((always_inline))
template <typename T>
MXNET_FN T abs(T x) {
  return x < 0 ? -x : x;
}
template <typename T>
MXNET_FN T sign(T x) {
  return x > 0 ? 1 : x < 0 ? -1 : 0;
}
template <typename T>
MXNET_FN T floor(T x) {
  return x;
}
template <typename T>
MXNET_FN T ceil(T x) {
  return x;
}
template <typename T>
MXNET_FN T trunc(T x) {
  return x;
}
template <typename T>
MXNET_FN T rint(T x) {
  return x;
}
template <typename T>
MXNET_FN T round(T x) {
  return x;
}
template <typename T>
MXNET_FN T isnan(T) {
  return 0;
}
template <typename T>
MXNET_FN T isinf(T) {
  return 0;
}
template <typename T>
MXNET_FN T isfinite(T) {
  return 1;
}
template <typename T>
MXNET_FN T maximum(T a, T b) {
  return a > b ? a : b;
}
template <typename T>
MXNET_FN T minimum(T a, T b) {
  return a < b ? a : b;
}
template <typename T>
MXNET_FN T fmax(T a, T b) {
  return a > b ? a : b;
}
template <typename T>
MXNET_FN T fmin(T a, T b) {
  return a < b ? a : b;
}
// A divisor of 0 gives 0; -1 is negation, since the smallest integer / -1 traps.
template <typename T>
MXNET_FN T divide(T a, T b) {
  return b == 0 ? 0 : b == -1 ? -a : a / b;
}
template <typename T>
MXNET_FN T fmod(T a, T b) {
  return b == 0 || b == -1 ? 0 : a % b;
}
template <typename T>
MXNET_FN T mod(T a, T b) {
  const T r = fmod(a, b);
  return r != 0 && ((r < 0) != (b < 0)) ? r + b : r;
}
template <typename T>
MXNET_FN T floor_divide(T a, T b) {
  const T q = divide(a, b);
  return b != 0 && b != -1 && (a % b != 0) && ((a < 0) != (b < 0)) ? q - 1 : q;
}
// Negative exponents truncate towards 0, as computing in floating point and rounding down in size
// does.
template <typename T>
MXNET_FN T power(T a, T b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
  T r = 1;
  for (T base = a; b > 0; b >>= 1, base *= base)
    if (b & 1) r *= base;
  return r;
}
template <typename T>
MXNET_FN T left_shift(T a, T b) {
  return b < 0 || b >= static_cast<T>(8 * sizeof(T)) ? 0 : static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << b);
}
template <typename T>
MXNET_FN T right_shift(T a, T b) {
  return b < 0 || b >= static_cast<T>(8 * sizeof(T)) ? (a < 0 ? -1 : 0) : a >> b;
}
// On magnitudes without sign: the smallest number has no positive counterpart, and divided by -1 it
// traps.
template <typename T>
MXNET_FN std::make_unsigned_t<T> magnitude(T a) {
  using U = std::make_unsigned_t<T>;
  return a < 0 ? U(0) - static_cast<U>(a) : static_cast<U>(a);
}
template <typename T>
MXNET_FN T gcd(T a, T b) {
  auto u = magnitude(a), v = magnitude(b);
  while (v != 0) {
    const auto t = u % v;
    u = v;
    v = t;
  }
  return static_cast<T>(u);
}
template <typename T>
MXNET_FN T lcm(T a, T b) {
  const auto g = magnitude(gcd(a, b));
  return g == 0 ? 0 : static_cast<T>(magnitude(a) / g * magnitude(b));
}
#include "operator/pointwise/loop_templates.h"

using Pair = Loop[2];
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

#define MXNET_ENTRY_I(name, loop) {loop<F_##name, int32_t>, loop<F_##name, int64_t>},
#define MXNET_ENTRY_F(name, loop) {nullptr, nullptr},
#define MXNET_ENTRY_B(name, loop) MXNET_ENTRY_I(name, loop)
#define MXNET_ENTRY1(name, types, ...) MXNET_ENTRY_##types(name, Loop1)
#define MXNET_ENTRY2(name, types, ...) MXNET_ENTRY_##types(name, Loop2)
#define MXNET_ENTRYP(name, types, ...) MXNET_ENTRY_##types(name, LoopParam)
constexpr Loop kLoops[][2] = {MXNET_UNARY_EXACT(MXNET_ENTRY1) MXNET_UNARY_EXP(MXNET_ENTRY1) MXNET_UNARY_TRIG(MXNET_ENTRY1)
                                  MXNET_UNARY_PARAM(MXNET_ENTRYP) MXNET_BINARY_ARITHMETIC(MXNET_ENTRY2) MXNET_BINARY_MATH(MXNET_ENTRY2)
                                      MXNET_BINARY_INTEGER(MXNET_ENTRY2)};
static_assert(sizeof(kLoops) / sizeof(kLoops[0]) == kEndInteger, "one entry per row, in the order of RowId");

}  // namespace

Loop IntegerLoop(int row, int compute) { return kLoops[row][compute - kI32]; }

}  // namespace pointwise
}  // namespace mxnet
