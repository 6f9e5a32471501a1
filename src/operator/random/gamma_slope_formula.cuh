/*
 * How draws of the gamma distribution move with its shape. gamma_slope.cc compiles it for the CPU,
 * gamma_slope.cuh for GPUs, both behind density_formulas.cuh.
 *
 * A draw x of shape a keeps its chance P(a, x), the regularized incomplete gamma function, when a
 * moves: dx/da = -(dP/da) / (dP/dx). Both sides come from one sum each, so that the factor
 * x^a exp(-x) / gamma(a), which underflows, is not needed.
 */
constexpr int kGammaTerms = 4000;  // of a <= kLargeShape, more than the sums take
constexpr double kLargeShape = 1e4;

/* By x^n / ((a+1) ... (a+n)), whose sum is P a / (x dP/dx), and the derivative of that sum in a. */
MX_DEVICE inline double GammaSlopeBelow(double a, double x) {
  double term = 1.0, of_term = 0.0, sum = 1.0, slope = 0.0;
  for (int n = 1; n < kGammaTerms; ++n) {
    of_term -= 1.0 / (a + n);
    term *= x / (a + n);
    sum += term;
    slope += term * of_term;
    if (term * of_term > slope * 1e-17) break;  // both are negative
  }
  return -x / a * (sum * (log(x) - Digamma(a + 1.0)) + slope);
}

/* By the continued fraction of 1 - P (Abramowitz and Stegun 6.5.31 in its even form), which is
 * evaluated together with its derivative in a, by the method of Lentz. */
MX_DEVICE inline double GammaSlopeAbove(double a, double x) {
  double b = x + 1.0 - a, c = b, of_c = -1.0, d = 1.0 / b, of_d = d * d, sum = d, slope = of_d;
  for (int k = 1; k < kGammaTerms; ++k) {
    const double up = k * (a - k);
    b += 2.0;
    const double below = up * d + b, of_below = k * d + up * of_d - 1.0;
    d = 1.0 / below;
    of_d = -of_below * d * d;
    const double next = k == 1 ? b : b + up / c;
    of_c = k == 1 ? -1.0 : k / c - up * of_c / (c * c) - 1.0;
    c = next;
    const double factor = c * d, of_factor = of_c * d + c * of_d;
    slope = slope * factor + sum * of_factor;
    sum *= factor;
    if (factor - 1.0 < 1e-16 && 1.0 - factor < 1e-16 && of_factor < 1e-16 && of_factor > -1e-16) break;
  }
  return x * (sum * (log(x) - Digamma(a)) + slope);
}

/* dx/da of a draw x of shape a and scale 1. Relative error 1e-8; 1e-6 for large shapes, by the
 * first terms of the expansion of Cornish and Fisher. */
MX_DEVICE inline double GammaSlope(double a, double x) {
  if (!(a > 0.0) || !(x >= 0.0) || x == DensityInfinity()) return ValidIf(false);
  if (x == 0.0) return 0.0;
  if (a > kLargeShape) {
    const double u = (x - a) / a;
    return 1.0 + 0.5 * u - (u * u - 1.0 / a) / 6.0;
  }
  return x < a + 1.0 || x < 3.0 ? GammaSlopeBelow(a, x) : GammaSlopeAbove(a, x);
}
