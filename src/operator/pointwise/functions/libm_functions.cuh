/*
 * Functions of the pointwise table that are libm's, in MXNET_LIBM: double on the CPU (functions.h),
 * and the type of the program on GPUs (float_functions.cuh). Who includes this defines MXNET_FN,
 * MXNET_VECTOR_MATH: which function of that name loops call, and MXNET_OWN_DOUBLES, if functions.h
 * has those of its own.
 */
#ifndef MXNET_OWN_DOUBLES
MXNET_FN MXNET_LIBM log2(MXNET_LIBM x) { return std::log2(x); }
MXNET_FN MXNET_LIBM log10(MXNET_LIBM x) { return std::log10(x); }
MXNET_FN MXNET_LIBM cbrt(MXNET_LIBM x) { return std::cbrt(x); }
MXNET_FN MXNET_LIBM hypot(MXNET_LIBM a, MXNET_LIBM b) { return std::hypot(a, b); }
MXNET_FN MXNET_LIBM power(MXNET_LIBM a, MXNET_LIBM b) { return std::pow(a, b); }
#endif
MXNET_FN MXNET_LIBM log1p(MXNET_LIBM x) { return MXNET_VECTOR_MATH(log1p)(x); }
MXNET_FN MXNET_LIBM expm1(MXNET_LIBM x) { return MXNET_VECTOR_MATH(expm1)(x); }
MXNET_FN MXNET_LIBM sin(MXNET_LIBM x) { return MXNET_VECTOR_MATH(sin)(x); }
MXNET_FN MXNET_LIBM cos(MXNET_LIBM x) { return MXNET_VECTOR_MATH(cos)(x); }
MXNET_FN MXNET_LIBM tan(MXNET_LIBM x) { return MXNET_VECTOR_MATH(tan)(x); }
MXNET_FN MXNET_LIBM arctan(MXNET_LIBM x) { return MXNET_VECTOR_MATH(atan)(x); }
MXNET_FN MXNET_LIBM arcsin(MXNET_LIBM x) { return MXNET_VECTOR_MATH(asin)(x); }
MXNET_FN MXNET_LIBM arccos(MXNET_LIBM x) { return MXNET_VECTOR_MATH(acos)(x); }
MXNET_FN MXNET_LIBM sinh(MXNET_LIBM x) { return MXNET_VECTOR_MATH(sinh)(x); }
MXNET_FN MXNET_LIBM cosh(MXNET_LIBM x) { return MXNET_VECTOR_MATH(cosh)(x); }
MXNET_FN MXNET_LIBM tanh(MXNET_LIBM x) { return MXNET_VECTOR_MATH(tanh)(x); }
MXNET_FN MXNET_LIBM arcsinh(MXNET_LIBM x) { return MXNET_VECTOR_MATH(asinh)(x); }
MXNET_FN MXNET_LIBM arccosh(MXNET_LIBM x) { return MXNET_VECTOR_MATH(acosh)(x); }
MXNET_FN MXNET_LIBM arctanh(MXNET_LIBM x) { return MXNET_VECTOR_MATH(atanh)(x); }
MXNET_FN MXNET_LIBM erf(MXNET_LIBM x) { return MXNET_VECTOR_MATH(erf)(x); }
// log(1 + exp(x)) and log(exp(a) + exp(b)) without overflow
MXNET_FN MXNET_LIBM softrelu(MXNET_LIBM x) {
  return MXNET_VECTOR_MATH(log1p)(exp(x < MXNET_LIBM(0) ? x : -x)) + (x > MXNET_LIBM(0) ? x : x != x ? x : MXNET_LIBM(0));
}
MXNET_FN MXNET_LIBM logaddexp(MXNET_LIBM a, MXNET_LIBM b) {  // equal ones may be infinite
  const MXNET_LIBM less = a == b ? MXNET_LIBM(0) : a > b ? b - a : a - b;
  return (a > b ? a : b) + MXNET_VECTOR_MATH(log1p)(exp(less));
}
