/*
 * The samplers. distributions.h compiles them for the CPU, samplers.cuh for GPUs; who includes this
 * defines MX_DEVICE (`__device__` or nothing) and has class Philox.
 */
/* As many words as one sample needs: word block k of a sample comes from the counter's high half
 * k. */
class RandomStream {
 public:
  MX_DEVICE RandomStream(uint64_t seed, uint64_t counter) : seed_(seed), counter_(counter), block_(seed, counter) {}
  MX_DEVICE uint32_t Word() {
    if (at_ == 4) {
      block_ = Philox(seed_, counter_, ++high_);
      at_ = 0;
    }
    return block_.word[at_++];
  }
  /* [0, 1) with 53 bits. */
  MX_DEVICE double Uniform() {
    const uint32_t high = Word();
    return Philox::ToDouble(high, Word());
  }
  /* (0, 1]: safe for logarithms. */
  MX_DEVICE double Positive() { return 1.0 - Uniform(); }
  /* Standard normal (Box and Muller, 1958). */
  MX_DEVICE double Normal() { return std::sqrt(-2.0 * std::log(Positive())) * std::cos(6.283185307179586477 * Uniform()); }

 private:
  uint64_t seed_, counter_, high_ = 0;
  Philox block_;
  int at_ = 0;
};

MX_DEVICE inline double SampleUniform(RandomStream* s, double low, double high) { return low + (high - low) * s->Uniform(); }
MX_DEVICE inline double SampleNormal(RandomStream* s, double mean, double deviation) { return mean + deviation * s->Normal(); }
MX_DEVICE inline double SampleExponential(RandomStream* s, double rate, double) { return -std::log(s->Positive()) / rate; }

/*
 * Draws of the NumPy operators (np_draws.cc) in two steps: a number z whose distribution is free of
 * parameters, and a formula of the parameters a, b and z, through which gradients flow.
 */
MX_DEVICE inline double DrawUnit(RandomStream* s, double, double) { return s->Uniform(); }
MX_DEVICE inline double DrawNormal(RandomStream* s, double, double) { return s->Normal(); }
MX_DEVICE inline double DrawExponential(RandomStream* s, double, double) { return -std::log(s->Positive()); }
/* (0, 1): both ends would be infinite in the next three. */
MX_DEVICE inline double OpenUnit(RandomStream* s) { return s->Uniform() * 0.99999999999999988898 + 5.5511151231257827e-17; }
MX_DEVICE inline double DrawGumbel(RandomStream* s, double, double) { return -std::log(-std::log(OpenUnit(s))); }
MX_DEVICE inline double DrawLogistic(RandomStream* s, double, double) {
  const double u = OpenUnit(s);
  return std::log(u) - std::log1p(-u);
}
MX_DEVICE inline double DrawLaplace(RandomStream* s, double, double) {
  const double u = OpenUnit(s);
  return u < 0.5 ? std::log(2 * u) : -std::log(2 * (1 - u));
}
MX_DEVICE inline double DrawRayleigh(RandomStream* s, double, double) { return std::sqrt(-2 * std::log(s->Positive())); }
MX_DEVICE inline double DrawLogExponential(RandomStream* s, double, double) { return std::log(-std::log(OpenUnit(s))); }

MX_DEVICE inline double Between(double a, double b, double z) { return a + (b - a) * z; }
MX_DEVICE inline double ShiftScale(double a, double b, double z) { return a + b * z; }
MX_DEVICE inline double OnlyScale(double a, double, double z) { return a * z; }
MX_DEVICE inline double SecondScale(double, double b, double z) { return b * z; }
MX_DEVICE inline double PowerAbove(double a, double, double z) { return std::expm1(z / a); }
MX_DEVICE inline double PowerBelow(double a, double, double z) { return std::exp(-z / a); }
MX_DEVICE inline double PowerOf(double a, double, double z) { return std::exp(z / a); }
MX_DEVICE inline double HitChance(double a, double, double z) { return z < a ? 1 : 0; }
MX_DEVICE inline double HitOdds(double a, double, double z) { return z < 1 / (1 + std::exp(-a)) ? 1 : 0; }

/* What parameters must be; NaN is none of it. */
MX_DEVICE inline bool AnyNumbers(double, double) { return true; }
MX_DEVICE inline bool SecondNotNegative(double, double b) { return b >= 0; }
MX_DEVICE inline bool FirstNotNegative(double a, double) { return a >= 0; }
MX_DEVICE inline bool FirstPositive(double a, double) { return a > 0; }
MX_DEVICE inline bool BothPositive(double a, double b) { return a > 0 && b > 0; }
MX_DEVICE inline bool FirstChance(double a, double) { return a >= 0 && a <= 1; }

/* Shape `alpha`, scale `beta`: Marsaglia and Tsang, "A simple method for generating gamma
 * variables", 2000. */
MX_DEVICE inline double SampleGamma(RandomStream* s, double alpha, double beta) {
  if (!(alpha > 0)) return alpha == 0 ? 0 : std::nan("");
  double boost = 1.0;
  if (alpha < 1) {
    boost = std::pow(s->Positive(), 1.0 / alpha);
    alpha += 1;
  }
  const double d = alpha - 1.0 / 3.0, c = 1.0 / std::sqrt(9.0 * d);
  while (true) {
    const double x = s->Normal(), t = 1.0 + c * x;
    if (t <= 0) continue;
    const double v = t * t * t, u = s->Positive();
    if (u < 1.0 - 0.0331 * (x * x) * (x * x)) return boost * d * v * beta;  // implies what follows
    if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return boost * d * v * beta;
  }
}

MX_DEVICE inline double DrawGamma(RandomStream* s, double alpha, double) { return SampleGamma(s, alpha, 1); }

/*
 * Small means by inversion (Devroye, "Non-uniform random variate generation", 1986, X.3.3), large
 * ones by PTRS: Hoermann, "The transformed rejection method for generating Poisson random
 * variables", 1993.
 */
MX_DEVICE inline double SamplePoisson(RandomStream* s, double mean, double) {
  if (!(mean >= 0) || std::isinf(mean)) return std::nan("");
  if (mean < 12) {
    const double u = s->Uniform();
    double p = std::exp(-mean), sum = p;
    int k = 0;
    while (u >= sum && p > 1e-18) {  // what is left of the sum is not seen any more
      ++k;
      p *= mean / k;
      sum += p;
    }
    return k;
  }
  const double b = 0.931 + 2.53 * std::sqrt(mean), a = -0.059 + 0.02483 * b, log_mean = std::log(mean);
  const double inv_alpha = 1.1239 + 1.1328 / (b - 3.4), vr = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const double u = s->Uniform() - 0.5, v = s->Positive(), us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= vr) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v) + std::log(inv_alpha) - std::log(a / (us * us) + b) <= k * log_mean - mean - std::lgamma(k + 1)) return k;
  }
}

/* Failures before the k-th success of probability p, as a Poisson whose mean is gamma
 * distributed. */
MX_DEVICE inline double SampleNegativeBinomial(RandomStream* s, double k, double p) {
  return SamplePoisson(s, SampleGamma(s, k, (1 - p) / p), 0);
}
/* Mean mu, dispersion alpha (variance mu + alpha * mu^2). */
MX_DEVICE inline double SampleGeneralizedNegativeBinomial(RandomStream* s, double mu, double alpha) {
  return alpha == 0 ? SamplePoisson(s, mu, 0) : SamplePoisson(s, SampleGamma(s, 1 / alpha, alpha * mu), 0);
}

/* What Stirling's formula leaves of log(k!). */
MX_DEVICE inline double FactorialRest(double k) {
  if (k < 10) return std::lgamma(k + 1) - ((k + 0.5) * std::log(k + 1) - (k + 1) + 0.91893853320467274);
  const double w = 1 / ((k + 1) * (k + 1));
  return (1.0 / 12 - (1.0 / 360 - w / 1260) * w) / (k + 1);
}
/*
 * Successes in n trials of probability p. Small means by inversion (Kachitvichyanukul and
 * Schmeiser, "Binomial random variate generation", CACM 1988), large ones by BTRS: Hoermann, "The
 * generation of binomial random variates", 1993.
 */
MX_DEVICE inline double SampleBinomial(RandomStream* s, double n, double p) {
  if (!(n >= 0) || std::isinf(n) || !(p >= 0 && p <= 1)) return std::nan("");
  n = std::floor(n);
  const double q = p > 0.5 ? 1 - p : p, r = q / (1 - q);
  double k = 0;
  if (n * q < 10) {
    const double u = s->Uniform();
    double chance = std::exp(n * std::log1p(-q)), sum = chance;
    while (u >= sum && k < n && chance > 1e-18) {
      ++k;
      chance *= r * (n - k + 1) / k;
      sum += chance;
    }
    return p > 0.5 ? n - k : k;
  }
  const double deviation = std::sqrt(n * q * (1 - q)), b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * q;
  const double vr = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * deviation, m = std::floor((n + 1) * q);
  const double of_mode = FactorialRest(m) + FactorialRest(n - m);
  while (true) {
    const double u = s->Uniform() - 0.5, v = s->Positive(), us = 0.5 - std::fabs(u);
    k = std::floor((2 * a / us + b) * u + n * q + 0.5);
    if (k < 0 || k > n) continue;
    if (us >= 0.07 && v <= vr) break;
    const double bound = (m + 0.5) * std::log((m + 1) / (r * (n - m + 1))) + (n + 1) * std::log((n - m + 1) / (n - k + 1)) +
                         (k + 0.5) * std::log(r * (n - k + 1) / (k + 1)) + of_mode - FactorialRest(k) - FactorialRest(n - k);
    if (std::log(v * alpha / (a / (us * us) + b)) <= bound) break;
  }
  return p > 0.5 ? n - k : k;
}

/* How many of n trials end in each of `classes`, whose chances are proportional to p: one binomial
 * number after the other. All 0 where a number is negative or NaN. count(class, number). */
template <typename Chance, typename Count>
MX_DEVICE inline void DrawCounts(RandomStream* s, double n, long long classes, const Chance& p, const Count& count) {
  double left = 0;
  bool valid = n >= 0 && !std::isinf(n);
  for (long long c = 0; c < classes; ++c) {
    valid = valid && p(c) >= 0;
    left += p(c);
  }
  n = valid && left > 0 && !std::isinf(left) ? std::floor(n) : 0;
  for (long long c = 0; c < classes; ++c) {
    const double share = c + 1 < classes && left > 0 ? p(c) / left : 1;
    const double k = n > 0 ? SampleBinomial(s, n, share < 1 ? share : 1) : 0;
    count(c, k);
    n -= k;
    left -= p(c);
  }
}

/*
 * `n` different classes below `range` in the order in which they are drawn, with chances
 * log((c + 2) / (c + 1)) / log(range + 1); returns how many draws that took. Few of many: draws
 * that were there before are dropped, and `scratch` is a table of `slots` (a power of two, at least
 * 2 n), found by hashing. Else (`slots` is 0) each class is drawn from those that are left, with
 * the number of draws that would not have found one; `scratch` has 2 (range + 1) elements, a tree
 * of sums (Fenwick 1994) and marks.
 */
MX_DEVICE inline long long ZipfianByRejection(RandomStream* s, long long range, long long n, long long slots, long long* table,
                                              long long* out) {
  const double log_range = std::log(static_cast<double>(range) + 1);
  for (long long i = 0; i < slots; ++i) table[i] = -1;
  long long tries = 0;
  for (long long i = 0; i < n;) {
    ++tries;
    const long long c = static_cast<long long>(std::exp(s->Uniform() * log_range)) - 1, last = range - 1;
    const long long drawn = c < 0 ? 0 : c > last ? last : c;
    uint64_t at = static_cast<uint64_t>(drawn) * 0x9E3779B97F4A7C15ull >> 20 & static_cast<uint64_t>(slots - 1);
    while (table[at] >= 0 && table[at] != drawn) at = (at + 1) & static_cast<uint64_t>(slots - 1);
    if (table[at] == drawn) continue;
    table[at] = drawn;
    out[i++] = drawn;
  }
  return tries;
}
MX_DEVICE inline double ZipfianChance(long long c, double log_range) { return std::log1p(1 / (static_cast<double>(c) + 1)) / log_range; }
MX_DEVICE inline long long ZipfianOfTheRest(RandomStream* s, long long range, long long n, double* tree, long long* taken, long long* out) {
  const double log_range = std::log(static_cast<double>(range) + 1);
  long long top = 1, tries = 0;
  while (2 * top <= range) top *= 2;
  for (long long c = 1; c <= range; ++c) {
    tree[c] = ZipfianChance(c - 1, log_range);
    taken[c - 1] = 0;
  }
  for (long long c = 1; c <= range; ++c)
    if (c + (c & -c) <= range) tree[c + (c & -c)] += tree[c];
  for (long long i = 0; i < n; ++i) {
    double left = 0;
    for (long long c = range; c > 0; c -= c & -c) left += tree[c];
    // draws that find a class that is taken
    if (i > 0 && left > 0) tries += static_cast<long long>(std::log(s->Positive()) / std::log1p(-left));
    ++tries;
    double u = s->Uniform() * left;
    long long at = 0;
    for (long long step = top; step > 0; step /= 2)
      if (at + step <= range && tree[at + step] <= u) {
        at += step;
        u -= tree[at];
      }
    long long c = at < range ? at : range - 1;
    while (taken[c]) c = c + 1 < range ? c + 1 : 0;  // rounded sums
    taken[c] = 1;
    out[i] = c;
    const double chance = ZipfianChance(c, log_range);
    for (long long j = c + 1; j <= range; j += j & -j) tree[j] -= chance;
  }
  return tries;
}
