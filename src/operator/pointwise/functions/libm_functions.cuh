/*
 * Functions of the pointwise table that are libm's, in MXNET_LIBM: double on the CPU (functions.h),
 * and the type of the program on GPUs (float_functions.cuh). Who includes this defines MXNET_FN.
 */
MXNET_FN MXNET_LIBM log2(MXNET_LIBM x) { return std::log2(x); }
MXNET_FN MXNET_LIBM log10(MXNET_LIBM x) { return std::log10(x); }
MXNET_FN MXNET_LIBM log1p(MXNET_LIBM x) { return std::log1p(x); }
MXNET_FN MXNET_LIBM expm1(MXNET_LIBM x) { return std::expm1(x); }
MXNET_FN MXNET_LIBM sin(MXNET_LIBM x) { return std::sin(x); }
MXNET_FN MXNET_LIBM cos(MXNET_LIBM x) { return std::cos(x); }
MXNET_FN MXNET_LIBM tan(MXNET_LIBM x) { return std::tan(x); }
MXNET_FN MXNET_LIBM arctan(MXNET_LIBM x) { return std::atan(x); }
MXNET_FN MXNET_LIBM arcsin(MXNET_LIBM x) { return std::asin(x); }
MXNET_FN MXNET_LIBM arccos(MXNET_LIBM x) { return std::acos(x); }
MXNET_FN MXNET_LIBM sinh(MXNET_LIBM x) { return std::sinh(x); }
MXNET_FN MXNET_LIBM cosh(MXNET_LIBM x) { return std::cosh(x); }
MXNET_FN MXNET_LIBM tanh(MXNET_LIBM x) { return std::tanh(x); }
MXNET_FN MXNET_LIBM arcsinh(MXNET_LIBM x) { return std::asinh(x); }
MXNET_FN MXNET_LIBM arccosh(MXNET_LIBM x) { return std::acosh(x); }
MXNET_FN MXNET_LIBM arctanh(MXNET_LIBM x) { return std::atanh(x); }
MXNET_FN MXNET_LIBM erf(MXNET_LIBM x) { return std::erf(x); }
MXNET_FN MXNET_LIBM cbrt(MXNET_LIBM x) { return std::cbrt(x); }
MXNET_FN MXNET_LIBM hypot(MXNET_LIBM a, MXNET_LIBM b) { return std::hypot(a, b); }
MXNET_FN MXNET_LIBM power(MXNET_LIBM a, MXNET_LIBM b) { return std::pow(a, b); }
// log(1 + exp(x)) and log(exp(a) + exp(b)) without overflow
MXNET_FN MXNET_LIBM softrelu(MXNET_LIBM x) {
  return std::log1p(std::exp(x < MXNET_LIBM(0) ? x : -x)) + (x > MXNET_LIBM(0) ? x : x != x ? x : MXNET_LIBM(0));
}
MXNET_FN MXNET_LIBM logaddexp(MXNET_LIBM a, MXNET_LIBM b) {
  return a == b ? a + MXNET_LIBM(0.69314718055994531) : (a > b ? a : b) + std::log1p(std::exp(a > b ? b - a : a - b));
}
