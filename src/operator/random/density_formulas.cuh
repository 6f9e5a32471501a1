/*
 * Logarithms of probability densities and their derivatives, in double. density_variants.cc
 * compiles them for the CPU, density.cuh for GPUs; who includes this defines MX_DEVICE and has
 * log() of a double.
 *
 * A distribution is a struct of static functions without branches, so that loops over them become
 * vectors. Prepare turns the two parameters into constants: c[kValid] is 0, or NaN where the
 * parameters are none of the distribution. Log is the logarithm of the density at x, and Slopes has
 * its derivatives in x (0 for whole numbers) and in the parameters.
 */
constexpr int kDensityConstants = 8, kValid = 7;

MX_DEVICE inline double DensityInfinity() { return std::numeric_limits<double>::infinity(); }
MX_DEVICE inline double ValidIf(bool valid) { return valid ? 0.0 : std::numeric_limits<double>::quiet_NaN(); }
/* `inside` where low <= x < infinity, minus infinity elsewhere; NaN stays. */
MX_DEVICE inline double Supported(double x, double low, double inside) {
  return x < low || x == DensityInfinity() ? -DensityInfinity() : x != x ? x : inside;
}
/* 0 where that is minus infinity. */
MX_DEVICE inline double SlopeWithin(double x, double low, double inside) { return x < low || x == DensityInfinity() ? 0.0 : inside; }
/* x * y, 0 for x = 0 also where y is infinite. */
MX_DEVICE inline double TimesLog(double x, double y) { return x == 0.0 ? 0.0 : x * y; }

/* log(1 + x): the logarithm of the rounded sum, less what rounding added. */
MX_DEVICE inline double LogOnePlus(double x) {
  const double u = 1.0 + x, d = u - 1.0;
  double r = log(u) * (x / d);
  r = u == 0.0 ? -DensityInfinity() : r;  // one choice after the other: nested ones would be branches
  r = u < DensityInfinity() ? r : u;
  return d == 0.0 ? x : r;
}
/* (log(1 + x) - x) / x^2, by the series where the difference has no digits left. */
MX_DEVICE inline double LogOnePlusRest(double x) {
  double p = 1.0 / 17;
  p = 1.0 / 16 - p * x;
  p = 1.0 / 15 - p * x;
  p = 1.0 / 14 - p * x;
  p = 1.0 / 13 - p * x;
  p = 1.0 / 12 - p * x;
  p = 1.0 / 11 - p * x;
  p = 1.0 / 10 - p * x;
  p = 1.0 / 9 - p * x;
  p = 1.0 / 8 - p * x;
  p = 1.0 / 7 - p * x;
  p = 1.0 / 6 - p * x;
  p = 1.0 / 5 - p * x;
  p = 1.0 / 4 - p * x;
  p = 1.0 / 3 - p * x;
  p = 1.0 / 2 - p * x;
  const double plain = (LogOnePlus(x) - x) / (x * x);
  return x < 0.1 && x > -0.1 ? -p : plain;
}

/* What Stirling's formula leaves of the log-gamma function of 1/b, b <= 1/8 (Abramowitz and Stegun
 * 6.1.41). */
MX_DEVICE inline double StirlingRest(double b) {
  const double w = b * b;
  double p = 3617.0 / 122400;
  p = 1.0 / 156 - p * w;
  p = 691.0 / 360360 - p * w;
  p = 1.0 / 1188 - p * w;
  p = 1.0 / 1680 - p * w;
  p = 1.0 / 1260 - p * w;
  p = 1.0 / 360 - p * w;
  return (1.0 / 12 - p * w) * b;
}
/* Log-gamma and its derivative for x > 0: eight steps of the recurrence, then the asymptotic
 * series (6.1.41, 6.3.18). */
MX_DEVICE inline double LogGamma(double x) {
  double product = x;
  for (int k = 1; k < 8; ++k) product *= x + k;
  const bool small = x < 8.0;
  const double y = small ? x + 8.0 : x;
  const double l = log(y), r = (y - 0.5) * l - y + 0.91893853320467274 + StirlingRest(1.0 / y);
  return x < DensityInfinity() ? r - log(small ? product : 1.0) : x;
}
MX_DEVICE inline double Digamma(double x) {
  double product = x, slope = 1.0;  // of x (x+1) ... (x+7)
  for (int k = 1; k < 8; ++k) {
    slope = slope * (x + k) + product;
    product *= x + k;
  }
  const bool small = x < 8.0;
  const double y = small ? x + 8.0 : x, b = 1.0 / y, w = b * b;
  double p = 3617.0 / 8160;
  p = 1.0 / 12 - p * w;
  p = 691.0 / 32760 - p * w;
  p = 1.0 / 132 - p * w;
  p = 1.0 / 240 - p * w;
  p = 1.0 / 252 - p * w;
  p = 1.0 / 120 - p * w;
  const double r = log(y) - 0.5 * b - (1.0 / 12 - p * w) * w;
  return small ? r - slope / product : r;
}

struct UniformDensity {  // [low, high]
  MX_DEVICE static void Prepare(double low, double high, double* c) {
    c[0] = low;
    c[1] = high;
    c[2] = log(high - low);
    c[3] = 1.0 / (high - low);
    c[kValid] = ValidIf(low < high && high - low < DensityInfinity());
  }
  MX_DEVICE static double Log(const double* c, double x) {
    return (x < c[0] || x > c[1] ? -DensityInfinity() : x != x ? x : -c[2]) + c[kValid];
  }
  MX_DEVICE static void Slopes(const double* c, double x, double* d) {
    const double slope = x < c[0] || x > c[1] ? 0.0 : c[3];
    d[0] = 0.0;
    d[1] = slope + c[kValid];
    d[2] = -slope + c[kValid];
  }
};

struct NormalDensity {  // mean, standard deviation
  MX_DEVICE static void Prepare(double mu, double sigma, double* c) {
    c[0] = mu;
    c[1] = 1.0 / sigma;
    c[2] = log(sigma) + 0.91893853320467274;
    c[kValid] = ValidIf(sigma > 0.0 && sigma < DensityInfinity());
  }
  MX_DEVICE static double Log(const double* c, double x) {
    const double z = (x - c[0]) * c[1];
    return -0.5 * z * z - c[2] + c[kValid];
  }
  MX_DEVICE static void Slopes(const double* c, double x, double* d) {
    const double z = (x - c[0]) * c[1];
    d[0] = -z * c[1] + c[kValid];
    d[1] = z * c[1] + c[kValid];
    d[2] = (z * z - 1.0) * c[1] + c[kValid];
  }
};

struct GammaDensity {  // shape, rate
  MX_DEVICE static void Prepare(double alpha, double beta, double* c) {
    const double l = log(beta);
    c[0] = alpha;
    c[1] = beta;
    c[2] = alpha * l - LogGamma(alpha);
    c[3] = l - Digamma(alpha);
    c[kValid] = ValidIf(alpha > 0.0 && beta > 0.0 && alpha < DensityInfinity() && beta < DensityInfinity());
  }
  MX_DEVICE static double Log(const double* c, double x) {
    return Supported(x, 0.0, TimesLog(c[0] - 1.0, log(x)) - c[1] * x + c[2]) + c[kValid];
  }
  MX_DEVICE static void Slopes(const double* c, double x, double* d) {
    d[0] = SlopeWithin(x, 0.0, (c[0] == 1.0 ? 0.0 : (c[0] - 1.0) / x) - c[1]) + c[kValid];
    d[1] = SlopeWithin(x, 0.0, c[3] + log(x)) + c[kValid];
    d[2] = SlopeWithin(x, 0.0, c[0] / c[1] - x) + c[kValid];
  }
};

struct ExponentialDensity {  // rate
  MX_DEVICE static void Prepare(double rate, double, double* c) {
    c[0] = rate;
    c[1] = log(rate);
    c[2] = 1.0 / rate;
    c[kValid] = ValidIf(rate > 0.0 && rate < DensityInfinity());
  }
  MX_DEVICE static double Log(const double* c, double x) { return Supported(x, 0.0, c[1] - c[0] * x) + c[kValid]; }
  MX_DEVICE static void Slopes(const double* c, double x, double* d) {
    d[0] = SlopeWithin(x, 0.0, -c[0]) + c[kValid];
    d[1] = SlopeWithin(x, 0.0, c[2] - x) + c[kValid];
    d[2] = 0.0;
  }
};

struct PoissonDensity {  // mean
  MX_DEVICE static void Prepare(double mean, double, double* c) {
    c[0] = mean;
    c[1] = log(mean);
    c[2] = 1.0 / mean;
    c[kValid] = ValidIf(mean >= 0.0 && mean < DensityInfinity());
  }
  MX_DEVICE static double Log(const double* c, double x) {
    return Supported(x, 0.0, TimesLog(x, c[1]) - c[0] - LogGamma(x + 1.0)) + c[kValid];
  }
  MX_DEVICE static void Slopes(const double* c, double x, double* d) {
    d[0] = 0.0;
    d[1] = SlopeWithin(x, 0.0, TimesLog(x, c[2]) - 1.0) + c[kValid];
    d[2] = 0.0;
  }
};

/*
 * The two below have two forms, kNear and kFar, for large and for small k; IsNear tells from the
 * constants which one holds, so that a loop over equal constants computes one.
 */
struct NegativeBinomialDensity {  // failures before the k-th success of probability p
  MX_DEVICE static void Prepare(double k, double p, double* c) {
    const double chance = k * log(p);
    c[0] = k;
    c[1] = p;
    c[2] = LogOnePlus(-p);
    const double of_k = LogGamma(k), rest = StirlingRest(1.0 / k);
    c[3] = chance - (k < 8.0 ? of_k : rest);
    c[4] = log(k);
    c[5] = log(p) - Digamma(k);
    c[6] = 1.0 / (1.0 - p);
    c[kValid] = ValidIf(k > 0.0 && k < DensityInfinity() && p > 0.0 && p <= 1.0);
  }
  MX_DEVICE static bool IsNear(const double* c) { return c[0] >= 8.0; }
  MX_DEVICE static double LogNear(const double* c, double x) {
    const double y = x + c[0];
    const double grown = (y - 0.5) * LogOnePlus(x / c[0]) + x * c[4] - x + StirlingRest(1.0 / y);
    return Supported(x, 0.0, grown - LogGamma(x + 1.0) + c[3] + TimesLog(x, c[2])) + c[kValid];
  }
  MX_DEVICE static double LogFar(const double* c, double x) {
    return Supported(x, 0.0, LogGamma(x + c[0]) - LogGamma(x + 1.0) + c[3] + TimesLog(x, c[2])) + c[kValid];
  }
  MX_DEVICE static double Log(const double* c, double x) {
    const double near = LogNear(c, x), far = LogFar(c, x);
    return IsNear(c) ? near : far;
  }
  MX_DEVICE static void Slopes(const double* c, double x, double* d) {
    d[0] = 0.0;
    d[1] = SlopeWithin(x, 0.0, Digamma(x + c[0]) + c[5]) + c[kValid];
    d[2] = SlopeWithin(x, 0.0, c[0] / c[1] - TimesLog(x, c[6])) + c[kValid];
  }
};

/*
 * Mean mu and dispersion alpha: k = 1/alpha and p = 1/(1 + alpha mu). Near, for alpha < 1/8, in
 * terms of alpha, with u = alpha (x - mu) / (1 + alpha mu) and Stirling's formula for the log-gamma
 * function of k and of x + k: nothing large is subtracted, and alpha = 0 is Poisson's distribution.
 */
struct GeneralizedNegativeBinomialDensity {
  MX_DEVICE static void Prepare(double mu, double alpha, double* c) {
    const double k = 1.0 / alpha, spread = LogOnePlus(alpha * mu), l = log(mu);
    const bool near = alpha < 0.125;
    const double far_rate = l + log(alpha) - spread, near_base = -0.5 * spread - StirlingRest(alpha), far_base = -LogGamma(k) - k * spread;
    c[0] = mu;
    c[1] = alpha;
    c[2] = near ? l : far_rate;
    c[3] = near ? near_base : far_base;
    c[4] = -Digamma(k) - spread;
    c[5] = k;
    c[6] = 1.0 / (1.0 + alpha * mu);
    c[kValid] = ValidIf(mu >= 0.0 && alpha >= 0.0 && mu < DensityInfinity() && alpha < DensityInfinity());
  }
  MX_DEVICE static bool IsNear(const double* c) { return c[1] < 0.125; }
  MX_DEVICE static double LogNear(const double* c, double x) {
    const double v = (x - c[0]) * c[6], u = c[1] * v, grown = LogOnePlus(u), b = c[1] / (1.0 + c[1] * x);
    const double r = v * (u == 0.0 ? 1.0 : grown / u) + (x - 0.5) * grown - x + TimesLog(x, c[2]) + StirlingRest(b) + c[3];
    return Supported(x, 0.0, r - LogGamma(x + 1.0)) + c[kValid];
  }
  MX_DEVICE static double LogFar(const double* c, double x) {
    return Supported(x, 0.0, LogGamma(x + c[5]) - LogGamma(x + 1.0) + c[3] + TimesLog(x, c[2])) + c[kValid];
  }
  MX_DEVICE static double Log(const double* c, double x) {
    const double near = LogNear(c, x), far = LogFar(c, x);
    return IsNear(c) ? near : far;
  }
  /* Minus k^2 (log(1+u) - u), and what is left of the two digamma functions. */
  MX_DEVICE static void SlopesNear(const double* c, double x, double* d) {
    const double alpha = c[1], v = (x - c[0]) * c[6];
    const double q = 1.0 / (1.0 + alpha * x), b = alpha * q, w = b * b, z = alpha * alpha;
    const double first = v * v * LogOnePlusRest(alpha * v) + 0.5 * x * q + alpha * x * (2.0 + alpha * x) * q * q / 12.0;
    const double tail = w * q * q * DigammaTail(w) - z * DigammaTail(z);
    d[2] = SlopeWithin(x, 0.0, -first - tail) + c[kValid];
    SlopeOfMean(c, x, d);
  }
  MX_DEVICE static void SlopesFar(const double* c, double x, double* d) {
    const double far = Digamma(x + c[5]) + c[4] + (c[0] - x) / (c[5] + c[0]);
    d[2] = SlopeWithin(x, 0.0, -c[5] * c[5] * far) + c[kValid];
    SlopeOfMean(c, x, d);
  }
  MX_DEVICE static void Slopes(const double* c, double x, double* d) {
    double far[3];
    SlopesNear(c, x, d);
    SlopesFar(c, x, far);
    d[2] = IsNear(c) ? d[2] : far[2];
  }

 private:
  MX_DEVICE static void SlopeOfMean(const double* c, double x, double* d) {
    d[0] = 0.0;
    d[1] = SlopeWithin(x, 0.0, x == 0.0 ? -c[6] : (x - c[0]) * c[6] / c[0]) + c[kValid];
  }
  MX_DEVICE static double DigammaTail(double w) {
    return 1.0 / 120 - w * (1.0 / 252 - w * (1.0 / 240 - w * (1.0 / 132 - w * (691.0 / 32760 - w * (1.0 / 12)))));
  }
};
