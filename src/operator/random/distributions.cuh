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

/* Shape `alpha`, scale `beta`: Marsaglia and Tsang, "A simple method for generating gamma
 * variables", 2000. */
MX_DEVICE inline double SampleGamma(RandomStream* s, double alpha, double beta) {
  if (!(alpha > 0)) return std::nan("");
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
