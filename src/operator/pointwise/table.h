/*
 * The pointwise table: one line per function. The texts are C++ (CPU loops), CUDA C (NVRTC) and
 * input to expression.cc, which differentiates them symbolically and rebuilds them from graph
 * nodes; so they keep to the vocabulary of functions.h, literals are written T(0.5), and operands
 * are x (unary) or a, b (binary); parameters of the operator are p, q, r.
 *
 * UNARY   (name, types, expression, uses, derivative)
 *   types  F: floating formula (integers are computed in double and truncated), I: exact for
 *   integers too
 *   uses   what the derivative reads: X, Y (= the result), XY, C (a constant); Z: zero almost
 *          everywhere; P: passes the gradient on; N: no derivative here; G behind X or Y: a gate,
 *          where the derivative is 0 nothing passes, not even NaN or infinity
 * BINARY  (name, types, expression, kind, d/da, d/db)
 *   types  F, I as above; B: integers only
 *   kind   L: one loop computes gradient * derivative; G: the derivative is built from existing
 *          operators; Z: zero
 */
#ifndef MXNET_OPERATOR_POINTWISE_TABLE_H_
#define MXNET_OPERATOR_POINTWISE_TABLE_H_

#define MXNET_UNARY_EXACT(ROW)                                                         \
  ROW(identity, I, x, P, T(1))                                                         \
  ROW(abs, I, abs(x), X, sign(x))                                                      \
  ROW(sign, I, sign(x), Z, T(0))                                                       \
  ROW(negative, I, -x, C, T(-1))                                                       \
  ROW(square, I, x* x, X, T(2) * x)                                                    \
  ROW(reciprocal, F, T(1) / x, Y, -y * y)                                              \
  ROW(sqrt, F, sqrt(x), Y, T(0.5) / y)                                                 \
  ROW(rsqrt, F, T(1) / sqrt(x), Y, T(-0.5) * y * y * y)                                \
  ROW(floor, I, floor(x), Z, T(0))                                                     \
  ROW(ceil, I, ceil(x), Z, T(0))                                                       \
  ROW(trunc, I, trunc(x), Z, T(0))                                                     \
  ROW(fix, I, trunc(x), Z, T(0))                                                       \
  ROW(rint, I, rint(x), Z, T(0))                                                       \
  ROW(round, I, round(x), Z, T(0))                                                     \
  ROW(round_ste, I, round(x), P, T(1))                                                 \
  ROW(sign_ste, I, sign(x), P, T(1))                                                   \
  ROW(relu, I, x<T(0) ? T(0) : x, Y, y> T(0) ? T(1) : y* T(0))                         \
  ROW(softsign, F, x / (T(1) + abs(x)), X, T(1) / ((T(1) + abs(x)) * (T(1) + abs(x)))) \
  ROW(degrees, F, x* T(57.295779513082321), C, T(57.295779513082321))                  \
  ROW(radians, F, x* T(0.017453292519943295), C, T(0.017453292519943295))              \
  ROW(logical_not, I, x == T(0) ? T(1) : T(0), Z, T(0))                                \
  ROW(bitwise_not, I, T(-1) - x, Z, T(0))                                              \
  ROW(isnan, I, isnan(x), Z, T(0))                                                     \
  ROW(isinf, I, isinf(x), Z, T(0))                                                     \
  ROW(isfinite, I, isfinite(x), Z, T(0))                                               \
  ROW(isposinf, I, x > T(0) ? isinf(x) : T(0), Z, T(0))                                \
  ROW(isneginf, I, x < T(0) ? isinf(x) : T(0), Z, T(0))

#define MXNET_UNARY_EXP(ROW)                                                                                     \
  ROW(exp, F, exp(x), Y, y)                                                                                      \
  ROW(expm1, F, expm1(x), Y, y + T(1))                                                                           \
  ROW(log, F, log(x), X, T(1) / x)                                                                               \
  ROW(log2, F, log2(x), X, T(1.4426950408889634) / x)                                                            \
  ROW(log10, F, log10(x), X, T(0.43429448190325183) / x)                                                         \
  ROW(log1p, F, log1p(x), X, T(1) / (T(1) + x))                                                                  \
  ROW(sigmoid, F, sigmoid(x), Y, y*(T(1) - y))                                                                   \
  ROW(softrelu, F, softrelu(x), Y, T(1) - exp(-y))                                                               \
  ROW(log_sigmoid, F, -softrelu(-x), Y, T(1) - exp(y))                                                           \
  ROW(mish, F, x* tanh(softrelu(x)), X, tanh(softrelu(x)) + x * sigmoid(x) * (T(1) - square(tanh(softrelu(x))))) \
  ROW(tanh, F, tanh(x), Y, T(1) - y * y)                                                                         \
  ROW(sinh, F, sinh(x), X, cosh(x))                                                                              \
  ROW(cosh, F, cosh(x), X, sinh(x))                                                                              \
  ROW(cbrt, F, cbrt(x), Y, T(1) / (T(3) * y * y))                                                                \
  ROW(rcbrt, F, T(1) / cbrt(x), Y, T(-0.33333333333333333) * y * y * y * y)

#define MXNET_UNARY_TRIG(ROW)                                                                         \
  ROW(sin, F, sin(x), X, cos(x))                                                                      \
  ROW(cos, F, cos(x), X, -sin(x))                                                                     \
  ROW(tan, F, tan(x), Y, T(1) + y * y)                                                                \
  ROW(arcsin, F, arcsin(x), X, T(1) / sqrt(T(1) - x * x))                                             \
  ROW(arccos, F, arccos(x), X, T(-1) / sqrt(T(1) - x * x))                                            \
  ROW(arctan, F, arctan(x), X, T(1) / (T(1) + x * x))                                                 \
  ROW(arcsinh, F, arcsinh(x), X, T(1) / sqrt(x * x + T(1)))                                           \
  ROW(arccosh, F, arccosh(x), X, T(1) / sqrt(x * x - T(1)))                                           \
  ROW(arctanh, F, arctanh(x), X, T(1) / (T(1) - x * x))                                               \
  ROW(erf, F, erf(x), X, T(1.1283791670955126) * exp(-x * x))                                         \
  ROW(erfinv, F, erfinv(x), Y, T(0.88622692545275801) * exp(y * y))                                   \
  ROW(gamma, F, gamma(x), XY, x == T(0) ? y : y * digamma(x))                                         \
  ROW(gammaln, F, gammaln(x), X, x <= T(0) ? (floor(x) == x ? T(1) / T(0) : digamma(x)) : digamma(x)) \
  ROW(digamma, F, digamma(x), X, trigamma(x))                                                         \
  ROW(trigamma, F, trigamma(x), X, tetragamma(x))                                                     \
  ROW(tetragamma, F, tetragamma(x), N, T(0))

// with up to three parameters
#define MXNET_UNARY_PARAM(ROW)                                                                                                    \
  ROW(clip, I, x<p ? p : x> q ? q : x, XG, x<p ? T(0) : x> q ? T(0) : T(1))                                                       \
  ROW(hard_sigmoid, F, p* x + q < T(0) ? T(0) : p * x + q > T(1) ? T(1) : p * x + q, YG, y > T(0) ? (y < T(1) ? p : T(0)) : T(0)) \
  ROW(smooth_l1, F, abs(x) * p * p < T(1) ? T(0.5) * x * x * p * p : abs(x) - T(0.5) / (p * p), X,                                \
      abs(x) * p * p >= T(1) ? sign(x) : x * p * p)                                                                               \
  ROW(quadratic, F, p* x* x + q * x + r, X, T(2) * p * x + q)                                                                     \
  ROW(nan_to_num, F, x != x ? p : isinf(x) > T(0) ? (x > T(0) ? q : r) : x, X, isfinite(x))                                       \
  ROW(around, F, round_even(x* p) / p, Z, T(0))                                                                                   \
  ROW(scale, F, x* p, C, p)

#define MXNET_BINARY_ARITHMETIC(ROW)                                           \
  ROW(add, I, a + b, G, T(1), T(1))                                            \
  ROW(sub, I, a - b, G, T(1), T(-1))                                           \
  ROW(mul, I, a* b, G, b, a)                                                   \
  ROW(div, I, divide(a, b), L, T(1) / b, -(a / b) / b)                         \
  ROW(maximum, I, maximum(a, b), L, a >= b ? T(1) : T(0), a < b ? T(1) : T(0)) \
  ROW(minimum, I, minimum(a, b), L, a <= b ? T(1) : T(0), a > b ? T(1) : T(0)) \
  ROW(equal, I, a == b ? T(1) : T(0), Z, T(0), T(0))                           \
  ROW(not_equal, I, a != b ? T(1) : T(0), Z, T(0), T(0))                       \
  ROW(greater, I, a > b ? T(1) : T(0), Z, T(0), T(0))                          \
  ROW(greater_equal, I, a >= b ? T(1) : T(0), Z, T(0), T(0))                   \
  ROW(lesser, I, a < b ? T(1) : T(0), Z, T(0), T(0))                           \
  ROW(lesser_equal, I, a <= b ? T(1) : T(0), Z, T(0), T(0))                    \
  ROW(logical_and, I, a != T(0) && b != T(0) ? T(1) : T(0), Z, T(0), T(0))     \
  ROW(logical_or, I, a != T(0) || b != T(0) ? T(1) : T(0), Z, T(0), T(0))      \
  ROW(logical_xor, I, (a != T(0)) != (b != T(0)) ? T(1) : T(0), Z, T(0), T(0))

#define MXNET_BINARY_MATH(ROW)                                                                        \
  ROW(mod, I, mod(a, b), L, T(1), -floor(a / b))                                                      \
  ROW(fmod, I, fmod(a, b), L, T(1), -trunc(a / b))                                                    \
  ROW(floor_divide, I, floor_divide(a, b), Z, T(0), T(0))                                             \
  ROW(power, I, power(a, b), L, b* power(a, b - T(1)), power(a, b) * log(a))                          \
  ROW(hypot, F, hypot(a, b), L, a / hypot(a, b), b / hypot(a, b))                                     \
  ROW(arctan2, F, arctan2(a, b), L, b / (a * a + b * b), -a / (a * a + b * b))                        \
  ROW(copysign, F, copysign(a, b), L, a == T(0) ? T(0) : copysign(T(1), a) * copysign(T(1), b), T(0)) \
  ROW(ldexp, F, ldexp(a, b), L, power(T(2), b), a* power(T(2), b) * T(0.69314718055994531))           \
  ROW(fmax, I, fmax(a, b), L, a >= b ? T(1) : T(0), a >= b ? T(0) : T(1))                             \
  ROW(fmin, I, fmin(a, b), L, a <= b ? T(1) : T(0), a <= b ? T(0) : T(1))                             \
  ROW(logaddexp, F, logaddexp(a, b), L, sigmoid(a - b), sigmoid(b - a))

#define MXNET_BINARY_INTEGER(ROW)        \
  ROW(bitwise_and, B, a& b)              \
  ROW(bitwise_or, B, a | b)              \
  ROW(bitwise_xor, B, a ^ b)             \
  ROW(left_shift, B, left_shift(a, b))   \
  ROW(right_shift, B, right_shift(a, b)) \
  ROW(gcd, B, gcd(a, b))                 \
  ROW(lcm, B, lcm(a, b))

namespace mxnet {
namespace pointwise {

// Rows in table order; one numbering for all kinds.
enum RowId : int {
#define MXNET_ROW_ID(name, ...) k_##name,
  MXNET_UNARY_EXACT(MXNET_ROW_ID) MXNET_UNARY_EXP(MXNET_ROW_ID) MXNET_UNARY_TRIG(MXNET_ROW_ID) kNumUnary,
  kFirstParam = kNumUnary - 1,
  MXNET_UNARY_PARAM(MXNET_ROW_ID) kEndParam,
  kFirstBinary = kEndParam - 1,
  MXNET_BINARY_ARITHMETIC(MXNET_ROW_ID) MXNET_BINARY_MATH(MXNET_ROW_ID) kEndBinary,
  kFirstInteger = kEndBinary - 1,
  MXNET_BINARY_INTEGER(MXNET_ROW_ID) kEndInteger
#undef MXNET_ROW_ID
};

}  // namespace pointwise
}  // namespace mxnet
#endif  // MXNET_OPERATOR_POINTWISE_TABLE_H_
