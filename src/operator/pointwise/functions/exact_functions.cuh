/*
 * Functions of the pointwise table that are exact in every floating type. functions.h compiles them
 * for the CPU, float_functions.cuh for GPUs; who includes this defines MXNET_FN, which stands
 * before a function, and `power`. No include guard: see functions.h.
 */
template <typename T>
MXNET_FN T sqrt(T x) {
  return std::sqrt(x);
}
template <typename T>
MXNET_FN T round_even(T x) {
  return std::nearbyint(x);
}
template <typename T>
MXNET_FN T floor(T x) {
  return std::floor(x);
}
template <typename T>
MXNET_FN T ceil(T x) {
  return std::ceil(x);
}
template <typename T>
MXNET_FN T trunc(T x) {
  return std::trunc(x);
}
// the reference's rint: halves go down, and zeros keep the sign
template <typename T>
MXNET_FN T rint(T x) {
  const T f = std::floor(x), c = std::ceil(x);
  return x - f <= c - x ? f : c;
}
// half away from zero
template <typename T>
MXNET_FN T round(T x) {
  const T t = std::trunc(x);
  return std::copysign(std::fabs(x - t) >= T(0.5) ? std::fabs(t) + T(1) : std::fabs(t), x);
}
template <typename T>
MXNET_FN T square(T x) {
  return x * x;
}
template <typename T>
MXNET_FN T abs(T x) {
  return std::fabs(x);
}
template <typename T>
MXNET_FN T sign(T x) {
  return x > T(0) ? T(1) : x < T(0) ? T(-1) : T(0);
}
template <typename T>
MXNET_FN T copysign(T a, T b) {
  return std::copysign(a, b);
}
template <typename T>
MXNET_FN T isfinite(T x) {
  return x - x == T(0) ? T(1) : T(0);
}
template <typename T>
MXNET_FN T isnan(T x) {
  return x != x ? T(1) : T(0);
}
template <typename T>
MXNET_FN T isinf(T x) {
  return std::fabs(x) == std::numeric_limits<T>::infinity() ? T(1) : T(0);
}
template <typename T>
MXNET_FN T arctan2(T a, T b) {
  return std::atan2(a, b);
}
// in three factors, none of which overflows or vanishes where the result does not
template <typename T>
MXNET_FN T ldexp(T a, T b) {
  const T most = sizeof(T) == 4 ? T(300) : T(2200);
  const T n = b > most ? most : b < -most ? -most : b;
  const T third = std::trunc(n / T(3)), factor = power(T(2), third);
  return a * factor * factor * power(T(2), n - third - third);
}
// remainder with the sign of the dividend; of the divisor, that of zero as well (0 for a divisor of
// 0, as in the reference)
template <typename T>
MXNET_FN T fmod(T a, T b) {
  return b == T(0) ? T(0) : std::fmod(a, b);
}
template <typename T>
MXNET_FN T mod(T a, T b) {
  const T r = std::fmod(a, b);
  return b == T(0) ? T(0) : r == T(0) ? std::copysign(r, b) : (r < T(0)) != (b < T(0)) ? r + b : r;
}
template <typename T>
MXNET_FN T floor_divide(T a, T b) {
  return std::floor(a / b);
}
// NaN wins / loses
template <typename T>
MXNET_FN T maximum(T a, T b) {
  return a > b || a != a ? a : b;
}
template <typename T>
MXNET_FN T minimum(T a, T b) {
  return a < b || a != a ? a : b;
}
template <typename T>
MXNET_FN T fmax(T a, T b) {
  return a >= b || b != b ? a : b;
}
template <typename T>
MXNET_FN T fmin(T a, T b) {
  return a <= b || b != b ? a : b;
}
template <typename T>
MXNET_FN T divide(T a, T b) {
  return a / b;
}
