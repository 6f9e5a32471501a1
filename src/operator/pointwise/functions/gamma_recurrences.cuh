/*
 * The gamma function's logarithmic derivatives in double, by a recurrence up to 10 and the
 * asymptotic series (Abramowitz & Stegun 6.3.18, 6.4.12, and the derivative of the latter);
 * reflection for negative arguments. functions.h compiles them for the CPU, float_functions.cuh for
 * GPUs; who includes this defines MXNET_SLOW_FN, which stands before a function.
 */
MXNET_SLOW_FN double SlowDigamma(double x) {
  constexpr double kPi = 3.14159265358979323846;
  if (x <= 0.0 && std::floor(x) == x) return std::numeric_limits<double>::quiet_NaN();
  const bool negative = x < 0.0;
  const double reflected = negative ? kPi / std::tan(kPi * x) : 0.0;
  if (negative) x = 1.0 - x;
  double r = 0.0;
  for (; x < 10.0; x += 1.0) r -= 1.0 / x;
  const double z = 1.0 / (x * x);
  const double series = z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760))))));
  return r + std::log(x) - 0.5 / x - series - reflected;
}
MXNET_SLOW_FN double SlowTrigamma(double x) {
  constexpr double kPi = 3.14159265358979323846;
  if (x <= 0.0 && std::floor(x) == x) return std::numeric_limits<double>::infinity();
  const bool negative = x < 0.0;
  const double s = negative ? std::sin(kPi * x) : 1.0;
  if (negative) x = 1.0 - x;
  double r = 0.0;
  for (; x < 10.0; x += 1.0) r += 1.0 / (x * x);
  const double z = 1.0 / (x * x);
  r = r + 1.0 / x + 0.5 * z + z / x * (1.0 / 6 - z * (1.0 / 30 - z * (1.0 / 42 - z * (1.0 / 30 - z * (5.0 / 66)))));
  return negative ? kPi * kPi / (s * s) - r : r;
}
MXNET_SLOW_FN double SlowTetragamma(double x) {
  constexpr double kPi = 3.14159265358979323846;
  if (x <= 0.0 && std::floor(x) == x) return std::numeric_limits<double>::quiet_NaN();
  const bool negative = x < 0.0;
  double reflected = 0.0;
  if (negative) {
    const double s = std::sin(kPi * x), c = std::cos(kPi * x);
    reflected = 2.0 * kPi * kPi * kPi * c / (s * s * s);
    x = 1.0 - x;
  }
  double r = 0.0;
  for (; x < 10.0; x += 1.0) r -= 2.0 / (x * x * x);
  const double z = 1.0 / (x * x);
  return r - z - z / x - z * z * (0.5 - z * (1.0 / 6 - z * (1.0 / 6 - z * (3.0 / 10 - z * (5.0 / 6))))) - reflected;
}
