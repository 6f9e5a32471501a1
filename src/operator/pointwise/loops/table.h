/*
 * The pointwise table: one line per function. The texts are C++ (CPU loops), CUDA C (NVRTC) and
 * input to expression.cc, which differentiates them symbolically and rebuilds them from graph
 * nodes; so they keep to the vocabulary of functions.h, literals are written T(0.5), and operands
 * are x (unary) or a, b (binary); parameters of the operator are p, q, r.
 *
 * A new pointwise operator is one row here and a case in tests/python/op_cases (unary.py or
 * binary.py).
 *
 * UNARY   (name, types, expression, uses, derivative, records)
 *   types  F: floating formula (integers are computed in double and truncated), I: exact for
 *   integers too
 *   uses   what the derivative reads: X, Y (= the result), XY, C (a constant); Z: zero almost
 *          everywhere; P: passes the gradient on; N: no derivative here; G behind X or Y: a gate,
 *          where the derivative is 0 nothing passes, not even NaN or infinity
 * BINARY  (name, types, expression, kind, d/da, d/db, records)
 *   types  F, I as above; B: integers only
 *   kind   L: one loop computes gradient * derivative; G: the derivative is built from existing
 *          operators; Z: zero
 * INTEGER (name, B, expression, records)
 *
 * records: the operators that compute the row, "how: name alias alias; how: name ..."; "" when
 * another file registers them. `full` before `how`: programs of mixed precision run it in float32.
 *   unary   data, x: so the input is called; x takes any dtype. NumPy's, whose input is called x:
 *           float: integers become floats; whole: integers stay, bool becomes float16; bool: the
 *           result is bool
 *   binary  same: inputs of equal shape. broadcast; promote: NumPy's, with its promotion of mixed
 *           dtypes; divide: promote, and the default float for integers; float, lhs_float:
 *           promote, and a float for integers (inputs x1, x2 or lhs, rhs); bool: the result is bool
 *           scalar, divide_scalar, float_scalar, bool_scalar: b is a number, an attribute of the
 *           operator. rscalar, rdivide_scalar, rfloat_scalar: a is
 */
#ifndef MXNET_OPERATOR_POINTWISE_LOOPS_TABLE_H_
#define MXNET_OPERATOR_POINTWISE_LOOPS_TABLE_H_

// clang-format takes operands for types, and users read this text.
// clang-format off
#define MXNET_UNARY_EXACT(ROW)                                                                                              \
  ROW(identity, I, x, P, T(1), "")                                                                                          \
  ROW(abs, I, abs(x), X, sign(x), "data: abs _sparse_abs; x: _npi_absolute _npi_abs")                                       \
  ROW(sign, I, sign(x), Z, T(0), "data: sign _sparse_sign; x: _npi_sign")                                                   \
  ROW(negative, I, -x, C, T(-1), "data: negative _sparse_negative; x: _npi_negative")                                       \
  ROW(square, I, x * x, X, T(2) * x, "full data: square _sparse_square; full x: _npi_square")                               \
  ROW(reciprocal, F, T(1) / x, Y, -y * y, "full data: reciprocal; full x: _npi_reciprocal")                                 \
  ROW(sqrt, F, sqrt(x), Y, T(0.5) / y, "data: sqrt _sparse_sqrt; float: _npi_sqrt")                                             \
  ROW(rsqrt, F, T(1) / sqrt(x), Y, T(-0.5) * y * y * y, "full data: rsqrt _sparse_rsqrt")                                   \
  ROW(floor, I, floor(x), Z, T(0), "data: floor _sparse_floor; whole: _npi_floor")                                              \
  ROW(ceil, I, ceil(x), Z, T(0), "data: ceil _sparse_ceil; whole: _npi_ceil")                                                   \
  ROW(trunc, I, trunc(x), Z, T(0), "data: trunc _sparse_trunc; whole: _npi_trunc")                                              \
  ROW(fix, I, trunc(x), Z, T(0), "data: fix _sparse_fix; float: _npi_fix")                                                      \
  ROW(rint, I, rint(x), Z, T(0), "data: rint _sparse_rint; float: _npi_rint")                                                   \
  ROW(round, I, round(x), Z, T(0), "data: round _sparse_round")                                                             \
  ROW(round_ste, I, round(x), P, T(1), "data: _contrib_round_ste _npx_round_ste _sparse__contrib_round_ste")                \
  ROW(sign_ste, I, sign(x), P, T(1), "data: _contrib_sign_ste _npx_sign_ste _sparse__contrib_sign_ste")                     \
  ROW(relu, I, x <= T(0) ? T(0) : x, Y, y > T(0) ? T(1) : y * T(0), "data: relu _sparse_relu; data: _npx_relu")              \
  ROW(softsign, F, x / (T(1) + abs(x)), X, T(1) / ((T(1) + abs(x)) * (T(1) + abs(x))), "data: softsign _npx_softsign")      \
  ROW(degrees, F, x * T(57.295779513082321), C, T(57.295779513082321), "data: degrees _sparse_degrees; float: _npi_degrees")    \
  ROW(radians, F, x * T(0.017453292519943295), C, T(0.017453292519943295), "data: radians _sparse_radians; float: _npi_radians") \
  ROW(logical_not, I, x == T(0) ? T(1) : T(0), Z, T(0), "data: logical_not; bool: _npi_logical_not")                        \
  ROW(bitwise_not, I, T(-1) - x, Z, T(0), "")                                                                               \
  ROW(isnan, I, isnan(x), Z, T(0), "bool: _npi_isnan")                                                                      \
  ROW(isinf, I, isinf(x), Z, T(0), "bool: _npi_isinf")                                                                      \
  ROW(isfinite, I, isfinite(x), Z, T(0), "bool: _npi_isfinite")                                                             \
  ROW(isposinf, I, x > T(0) ? isinf(x) : T(0), Z, T(0), "bool: _npi_isposinf")                                              \
  ROW(isneginf, I, x < T(0) ? isinf(x) : T(0), Z, T(0), "bool: _npi_isneginf")

#define MXNET_UNARY_EXP(ROW)                                                                                     \
  ROW(exp, F, exp(x), Y, y, "full data: exp _sparse_exp; full float: _npi_exp")                                      \
  ROW(expm1, F, expm1(x), Y, y + T(1), "full data: expm1 _sparse_expm1; full float: _npi_expm1")                     \
  ROW(log, F, log(x), X, T(1) / x, "full data: log _sparse_log; full float: _npi_log")                               \
  ROW(log2, F, log2(x), X, T(1.4426950408889634) / x, "full data: log2 _sparse_log2; full float: _npi_log2")         \
  ROW(log10, F, log10(x), X, T(0.43429448190325183) / x, "full data: log10 _sparse_log10; full float: _npi_log10")   \
  ROW(log1p, F, log1p(x), X, T(1) / (T(1) + x), "full data: log1p _sparse_log1p; full float: _npi_log1p")            \
  ROW(sigmoid, F, sigmoid(x), Y, y * (T(1) - y), "data: sigmoid _sparse_sigmoid; data: _npx_sigmoid")            \
  ROW(softrelu, F, softrelu(x), Y, T(1) - exp(-y), "data: _softrelu")                                            \
  ROW(log_sigmoid, F, -softrelu(-x), Y, T(1) - exp(y), "data: log_sigmoid _sparse_log_sigmoid")                  \
  ROW(mish, F, x * tanh(softrelu(x)), X, tanh(softrelu(x)) + x * sigmoid(x) * (T(1) - square(tanh(softrelu(x)))), \
      "data: mish _sparse_mish")                                                                                 \
  ROW(tanh, F, tanh(x), Y, T(1) - y * y, "data: tanh _sparse_tanh; float: _npi_tanh")                                \
  ROW(sinh, F, sinh(x), X, cosh(x), "full data: sinh _sparse_sinh; full float: _npi_sinh")                           \
  ROW(cosh, F, cosh(x), X, sinh(x), "full data: cosh _sparse_cosh; full float: _npi_cosh")                           \
  ROW(cbrt, F, cbrt(x), Y, T(1) / (T(3) * y * y), "data: cbrt _sparse_cbrt; float: _npi_cbrt")                       \
  ROW(rcbrt, F, T(1) / cbrt(x), Y, T(-0.33333333333333333) * y * y * y * y, "full data: rcbrt")

#define MXNET_UNARY_TRIG(ROW)                                                                                       \
  ROW(sin, F, sin(x), X, cos(x), "data: sin _sparse_sin; float: _npi_sin")                                              \
  ROW(cos, F, cos(x), X, -sin(x), "data: cos _sparse_cos; float: _npi_cos")                                             \
  ROW(tan, F, tan(x), Y, T(1) + y * y, "full data: tan _sparse_tan; full float: _npi_tan")                              \
  ROW(arcsin, F, arcsin(x), X, T(1) / sqrt(T(1) - x * x), "full data: arcsin _sparse_arcsin; full float: _npi_arcsin")  \
  ROW(arccos, F, arccos(x), X, T(-1) / sqrt(T(1) - x * x), "full data: arccos _sparse_arccos; full float: _npi_arccos") \
  ROW(arctan, F, arctan(x), X, T(1) / (T(1) + x * x), "data: arctan _sparse_arctan; float: _npi_arctan")                \
  ROW(arcsinh, F, arcsinh(x), X, T(1) / sqrt(x * x + T(1)), "data: arcsinh _sparse_arcsinh; float: _npi_arcsinh")       \
  ROW(arccosh, F, arccosh(x), X, T(1) / sqrt(x * x - T(1)), "data: arccosh _sparse_arccosh; float: _npi_arccosh")       \
  ROW(arctanh, F, arctanh(x), X, T(1) / (T(1) - x * x), "full data: arctanh _sparse_arctanh; full float: _npi_arctanh") \
  ROW(erf, F, erf(x), X, T(1.1283791670955126) * exp(-x * x), "data: erf _npx_erf")                                 \
  ROW(erfinv, F, erfinv(x), Y, T(0.88622692545275801) * exp(y * y), "full data: erfinv _npx_erfinv")                \
  ROW(gamma, F, gamma(x), XY, x == T(0) ? y : y * digamma(x), "full data: gamma _npx_gamma _sparse_gamma")          \
  ROW(gammaln, F, gammaln(x), X, x <= T(0) ? (floor(x) == x ? T(1) / T(0) : digamma(x)) : digamma(x),               \
      "full data: gammaln _npx_gammaln _sparse_gammaln")                                                            \
  ROW(digamma, F, digamma(x), X, trigamma(x), "full data: digamma _npx_digamma _sparse_digamma")                    \
  ROW(trigamma, F, trigamma(x), X, tetragamma(x), "data: _trigamma")                                                \
  ROW(tetragamma, F, tetragamma(x), N, T(0), "data: _tetragamma")

// with up to three parameters
#define MXNET_UNARY_PARAM(ROW)                                                                                                    \
  ROW(clip, I, x > q ? q : x < p ? p : x, XG, x < p ? T(0) : x > q ? T(0) : T(1))                                                 \
  ROW(hard_sigmoid, F, p * x + q < T(0) ? T(0) : p * x + q > T(1) ? T(1) : p * x + q, YG, y > T(0) ? (y < T(1) ? p : T(0)) : T(0)) \
  ROW(silu, F, x * sigmoid(p * x), X, sigmoid(p * x) * (T(1) + p * x * (T(1) - sigmoid(p * x))))                                   \
  ROW(hard_swish, F, p * x + q < T(0) ? T(0) : p * x + q > T(1) ? x : x * (p * x + q), X,                                      \
      p * x + q < T(0) ? T(0) : p * x + q > T(1) ? T(1) : T(2) * p * x + q)                                                       \
  ROW(smooth_l1, F, abs(x) * p * p < T(1) ? T(0.5) * x * x * p * p : abs(x) - T(0.5) / (p * p), X,                                \
      abs(x) * p * p >= T(1) ? sign(x) : x * p * p)                                                                               \
  ROW(quadratic, F, (p * x + q) * x + r, X, T(2) * p * x + q)                                                                       \
  ROW(nan_to_num, F, x != x ? p : isinf(x) > T(0) ? (x > T(0) ? q : r) : x, X, isfinite(x))                                       \
  ROW(around, F, round_even(x * p) / p, Z, T(0))                                                                                  \
  ROW(scale, F, x * p, C, p)

#define MXNET_BINARY_ARITHMETIC(ROW)                                                                                                      \
  ROW(add, I, a + b, G, T(1), T(1),                                                                                                       \
      "same: elemwise_add _add _plus _Plus _sparse_elemwise_add; same: _grad_add; broadcast: broadcast_add broadcast_plus "               \
      "_sparse_broadcast_add _sparse_broadcast_plus; promote: _npi_add; scalar: _plus_scalar _PlusScalar; scalar: _scatter_plus_scalar; " \
      "scalar: _npi_add_scalar")                                                                                                          \
  ROW(sub, I, a - b, G, T(1), T(-1),                                                                                                      \
      "same: elemwise_sub _sub _minus _Minus _sparse_elemwise_sub; broadcast: broadcast_sub broadcast_minus _sparse_broadcast_sub "       \
      "_sparse_broadcast_minus; promote: _npi_subtract; scalar: _minus_scalar _MinusScalar; rscalar: _rminus_scalar _RMinusScalar; "      \
      "scalar: _scatter_minus_scalar; scalar: _npi_subtract_scalar; rscalar: _npi_rsubtract_scalar")                                      \
  ROW(mul, I, a * b, G, b, a,                                                                                                             \
      "same: elemwise_mul _mul _Mul _sparse_elemwise_mul; broadcast: broadcast_mul _sparse_broadcast_mul; promote: _npi_multiply; "       \
      "scalar: _mul_scalar _MulScalar; scalar: _npi_multiply_scalar")                                                                     \
  ROW(div, I, divide(a, b), L, T(1) / b, -(a / b) / b,                                                                                    \
      "same: elemwise_div _div _Div _sparse_elemwise_div; same: _scatter_elemwise_div; broadcast: broadcast_div _sparse_broadcast_div; "  \
      "divide: _npi_true_divide; scalar: _div_scalar _DivScalar; full rscalar: _rdiv_scalar _RDivScalar; divide_scalar: "                 \
      "_npi_true_divide_scalar; rdivide_scalar: _npi_rtrue_divide_scalar")                                                                \
  ROW(maximum, I, maximum(a, b), L, a >= b ? T(1) : T(0), a < b ? T(1) : T(0),                                                            \
      "same: _maximum _Maximum; broadcast: broadcast_maximum; promote: _npi_maximum; scalar: _maximum_scalar _MaximumScalar _npi_maximum_scalar")   \
  ROW(minimum, I, minimum(a, b), L, a <= b ? T(1) : T(0), a > b ? T(1) : T(0),                                                            \
      "same: _minimum _Minimum; broadcast: broadcast_minimum; promote: _npi_minimum; scalar: _minimum_scalar _MinimumScalar _npi_minimum_scalar")   \
  ROW(equal, I, a == b ? T(1) : T(0), Z, T(0), T(0),                                                                                      \
      "same: _equal _Equal; broadcast: broadcast_equal; bool: _npi_equal; scalar: _equal_scalar _EqualScalar; bool_scalar: "              \
      "_npi_equal_scalar")                                                                                                                \
  ROW(not_equal, I, a != b ? T(1) : T(0), Z, T(0), T(0),                                                                                  \
      "same: _not_equal _Not_Equal; broadcast: broadcast_not_equal; bool: _npi_not_equal; scalar: _not_equal_scalar _NotEqualScalar; "    \
      "bool_scalar: _npi_not_equal_scalar")                                                                                               \
  ROW(greater, I, a > b ? T(1) : T(0), Z, T(0), T(0),                                                                                     \
      "same: _greater _Greater; broadcast: broadcast_greater _npx_broadcast_greater; bool: _npi_greater; scalar: _greater_scalar "        \
      "_GreaterScalar; bool_scalar: _npi_greater_scalar")                                                                                 \
  ROW(greater_equal, I, a >= b ? T(1) : T(0), Z, T(0), T(0),                                                                              \
      "same: _greater_equal _Greater_Equal; broadcast: broadcast_greater_equal; bool: _npi_greater_equal; scalar: _greater_equal_scalar " \
      "_GreaterEqualScalar; bool_scalar: _npi_greater_equal_scalar")                                                                      \
  ROW(lesser, I, a < b ? T(1) : T(0), Z, T(0), T(0),                                                                                      \
      "same: _lesser _Lesser; broadcast: broadcast_lesser; bool: _npi_less; scalar: _lesser_scalar _LesserScalar; bool_scalar: "          \
      "_npi_less_scalar")                                                                                                                 \
  ROW(lesser_equal, I, a <= b ? T(1) : T(0), Z, T(0), T(0),                                                                               \
      "same: _lesser_equal _Lesser_Equal; broadcast: broadcast_lesser_equal; bool: _npi_less_equal; scalar: _lesser_equal_scalar "        \
      "_LesserEqualScalar; bool_scalar: _npi_less_equal_scalar")                                                                          \
  ROW(logical_and, I, a != T(0) && b != T(0) ? T(1) : T(0), Z, T(0), T(0),                                                                \
      "same: _logical_and _Logical_And; broadcast: broadcast_logical_and; bool: _npi_logical_and; scalar: _logical_and_scalar "           \
      "_LogicalAndScalar; bool_scalar: _npi_logical_and_scalar")                                                                          \
  ROW(logical_or, I, a != T(0) || b != T(0) ? T(1) : T(0), Z, T(0), T(0),                                                                 \
      "same: _logical_or _Logical_Or; broadcast: broadcast_logical_or; bool: _npi_logical_or; scalar: _logical_or_scalar "                \
      "_LogicalOrScalar; bool_scalar: _npi_logical_or_scalar")                                                                            \
  ROW(logical_xor, I, (a != T(0)) != (b != T(0)) ? T(1) : T(0), Z, T(0), T(0),                                                            \
      "same: _logical_xor _Logical_Xor; broadcast: broadcast_logical_xor; bool: _npi_logical_xor; scalar: _logical_xor_scalar "           \
      "_LogicalXorScalar; bool_scalar: _npi_logical_xor_scalar")

#define MXNET_BINARY_MATH(ROW)                                                                                                            \
  ROW(mod, I, mod(a, b), L, T(1), -floor(a / b),                                                                                          \
      "same: _mod _Mod; broadcast: broadcast_mod; promote: _npi_mod; scalar: _mod_scalar _ModScalar; rscalar: _rmod_scalar _RModScalar; " \
      "scalar: _npi_mod_scalar; rscalar: _npi_rmod_scalar")                                                                               \
  ROW(fmod, I, fmod(a, b), L, T(1), -trunc(a / b), "promote: _npi_fmod; scalar: _npi_fmod_scalar; rscalar: _npi_rfmod_scalar")            \
  ROW(floor_divide, I, floor_divide(a, b), Z, T(0), T(0),                                                                                 \
      "promote: _npi_floor_divide; scalar: _npi_floor_divide_scalar; rscalar: _npi_rfloor_divide_scalar")                                 \
  ROW(power, I, power(a, b), L, b * power(a, b - T(1)), power(a, b) * log(a),                                                             \
      "full same: _power _Power; full broadcast: broadcast_power; full promote: _npi_power; full scalar: _power_scalar _PowerScalar; "    \
      "full rscalar: _rpower_scalar _RPowerScalar; full scalar: _npi_power_scalar; full rscalar: _npi_rpower_scalar")                     \
  ROW(hypot, F, hypot(a, b), L, a / hypot(a, b), b / hypot(a, b),                                                                         \
      "full same: _hypot _Hypot; full broadcast: broadcast_hypot; full float: _npi_hypot; full scalar: _hypot_scalar _HypotScalar; "      \
      "full float_scalar: _npi_hypot_scalar")                                                                                                                \
  ROW(arctan2, F, arctan2(a, b), L, b / (a * a + b * b), -a / (a * a + b * b),                                                            \
      "float: _npi_arctan2; float_scalar: _npi_arctan2_scalar; rfloat_scalar: _npi_rarctan2_scalar")                                                   \
  ROW(copysign, F, copysign(a, b), L, a == T(0) ? T(0) : copysign(T(1), a) * copysign(T(1), b), T(0),                                     \
      "promote: _npi_copysign; scalar: _npi_copysign_scalar; rscalar: _npi_rcopysign_scalar")                                           \
  ROW(ldexp, F, ldexp(a, b), L, power(T(2), b), ldexp(a, b) * T(0.69314718055994531),                                                     \
      "lhs_float: _npi_ldexp; float_scalar: _npi_ldexp_scalar; rfloat_scalar: _npi_rldexp_scalar")                                                    \
  ROW(fmax, I, fmax(a, b), L, a >= b ? T(1) : T(0), a >= b ? T(0) : T(1), "promote: _npi_fmax; scalar: _npi_fmax_scalar")               \
  ROW(fmin, I, fmin(a, b), L, a <= b ? T(1) : T(0), a <= b ? T(0) : T(1), "promote: _npi_fmin; scalar: _npi_fmin_scalar")               \
  ROW(logaddexp, F, logaddexp(a, b), L, sigmoid(a - b), sigmoid(b - a), "float: _npi_logaddexp; float_scalar: _npi_logaddexp_scalar")

#define MXNET_BINARY_INTEGER(ROW)                                                                                                \
  ROW(bitwise_and, B, a & b, "promote: _npi_bitwise_and; scalar: _npi_bitwise_and_scalar")                                     \
  ROW(bitwise_or, B, a | b, "promote: _npi_bitwise_or; scalar: _npi_bitwise_or_scalar")                                        \
  ROW(bitwise_xor, B, a ^ b, "promote: _npi_bitwise_xor; scalar: _npi_bitwise_xor_scalar")                                     \
  ROW(left_shift, B, left_shift(a, b),                                                                                           \
      "promote: _npi_bitwise_left_shift; scalar: _npi_bitwise_left_shift_scalar; rscalar: _npi_rbitwise_left_shift_scalar")    \
  ROW(right_shift, B, right_shift(a, b),                                                                                         \
      "promote: _npi_bitwise_right_shift; scalar: _npi_bitwise_right_shift_scalar; rscalar: _npi_rbitwise_right_shift_scalar") \
  ROW(gcd, B, gcd(a, b), "promote: _npi_gcd; scalar: _npi_gcd_scalar")                                                         \
  ROW(lcm, B, lcm(a, b), "promote: _npi_lcm; scalar: _npi_lcm_scalar")
// clang-format on

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
#endif  // MXNET_OPERATOR_POINTWISE_LOOPS_TABLE_H_
