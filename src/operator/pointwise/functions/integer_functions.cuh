/*
 * Functions of the pointwise table for integers. integer_cpu.cc compiles them for the CPU,
 * gpu_integers.cuh for GPUs; who includes this defines MXNET_FN, which stands before a function,
 * and UnsignedOf<T>::Type, an unsigned type of T's size or more. Wrapping on overflow is what
 * arrays promise.
 */
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
template <typename T>
MXNET_FN bool is_minus_one(T b) {
  return b < 0 && b == static_cast<T>(-1);  // the largest number of an unsigned type is not
}
// A divisor of 0 gives 0; -1 is negation, since the smallest integer / -1 traps.
template <typename T>
MXNET_FN T divide(T a, T b) {
  return b == 0 ? 0 : is_minus_one(b) ? -a : a / b;
}
template <typename T>
MXNET_FN T fmod(T a, T b) {
  return b == 0 || is_minus_one(b) ? 0 : a % b;
}
template <typename T>
MXNET_FN T mod(T a, T b) {
  const T r = fmod(a, b);
  return r != 0 && ((r < 0) != (b < 0)) ? r + b : r;
}
template <typename T>
MXNET_FN T floor_divide(T a, T b) {
  const T q = divide(a, b);
  return b != 0 && !is_minus_one(b) && (a % b != 0) && ((a < 0) != (b < 0)) ? q - 1 : q;
}
// Negative exponents truncate towards 0, as computing in floating point and rounding down in size
// does.
template <typename T>
MXNET_FN T power(T a, T b) {
  if (b < 0) return a == 1 ? 1 : is_minus_one(a) ? (b & 1 ? -1 : 1) : 0;
  T r = 1;
  for (T base = a; b > 0; b >>= 1, base *= base)
    if (b & 1) r *= base;
  return r;
}
template <typename T>
MXNET_FN T left_shift(T a, T b) {
  return b < 0 || b >= static_cast<T>(8 * sizeof(T)) ? 0 : static_cast<T>(static_cast<typename UnsignedOf<T>::Type>(a) << b);
}
template <typename T>
MXNET_FN T right_shift(T a, T b) {
  return b < 0 || b >= static_cast<T>(8 * sizeof(T)) ? (a < 0 ? -1 : 0) : a >> b;
}
// On magnitudes without sign: the smallest number has no positive counterpart, and divided by -1 it
// traps.
template <typename T>
MXNET_FN typename UnsignedOf<T>::Type magnitude(T a) {
  typedef typename UnsignedOf<T>::Type U;
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
