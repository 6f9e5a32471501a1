// Random numbers, from one counter for an element or for four elements.
#include "operator/random/samplers.cuh"
#include "rtc/loop.cuh"

namespace kernels {

template <typename Out>
struct DrawArgs {
  Out* out;
  long long n;
  mx::Draws draws;
  double a, b;  // low and high, mean and deviation, rate
  long long low;
  unsigned long long range;
  long long count;
};

// four: in float, four neighbours from the four words of a counter.
template <typename I, typename Out, bool four>
struct random_uniform {
  typedef DrawArgs<Out> Args;
  static __device__ __forceinline__ void Item(const Args& a, I, long long item) {
    const mx::Philox r = mx::Draw(a.draws.Seed(), a.draws.First() + item);
    if constexpr (four) {
      const float low = static_cast<float>(a.a), width = static_cast<float>(a.b), high = low + width;
      const float last = width > 0.0f ? ::nextafterf(high, low) : high;  // rounding must not reach the excluded end
      float v[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        v[k] = low + width * mx::ToFloat(r.w[k]);
        if (width > 0.0f && v[k] >= high) v[k] = last;
      }
      mx::StoreFour(a.out, 4 * item, a.n - 4 * item < 4 ? static_cast<int>(a.n - 4 * item) : 4, v);
    } else {
      mx::Store(a.out, item, a.a + (a.b - a.a) * mx::ToDouble(r.w[0], r.w[1]));
    }
  }
};

template <typename I, typename Out, bool four>
struct random_normal {
  typedef DrawArgs<Out> Args;
  static __device__ __forceinline__ void Item(const Args& a, I, long long item) {
    const mx::Philox r = mx::Draw(a.draws.Seed(), a.draws.First() + item);
    if constexpr (four) {
      const float mean = static_cast<float>(a.a), deviation = static_cast<float>(a.b);
      float v[4];
      for (int h = 0; h < 2; ++h) {
        const float radius = ::sqrtf(-2.0f * ::logf(1.0f - mx::ToFloat(r.w[2 * h]))), turn = mx::ToFloat(r.w[2 * h + 1]);
        float sine, cosine;
        mx::SinCosOfTurn(turn, &sine, &cosine);
        v[2 * h] = mean + deviation * (radius * cosine);
        v[2 * h + 1] = mean + deviation * (radius * sine);
      }
      mx::StoreFour(a.out, 4 * item, a.n - 4 * item < 4 ? static_cast<int>(a.n - 4 * item) : 4, v);
    } else {
      const double radius = ::sqrt(-2.0 * ::log(1.0 - mx::ToDouble(r.w[0], r.w[1])));
      mx::Store(a.out, item, a.a + a.b * (radius * ::cos(6.283185307179586477 * mx::ToDouble(r.w[2], r.w[3]))));
    }
  }
};

template <typename I, typename Out>
struct random_exponential {
  typedef DrawArgs<Out> Args;
  static __device__ __forceinline__ void Item(const Args& a, I, long long item) {
    const mx::Philox r = mx::Draw(a.draws.Seed(), a.draws.First() + item);
    mx::Store(a.out, item, -::log(1.0 - mx::ToDouble(r.w[0], r.w[1])) / a.a);
  }
};

// low + [0, range): the high half of a 64 x 64-bit product. Two neighbours from a counter.
template <typename I, typename Out>
struct random_integers {
  typedef DrawArgs<Out> Args;
  static __device__ __forceinline__ void Item(const Args& a, I, long long item) {
    const mx::Philox r = mx::Draw(a.draws.Seed(), a.draws.First() + item);
    for (int h = 0; h < 2 && 2 * item + h < a.n; ++h) {
      const unsigned long long word = static_cast<unsigned long long>(r.w[2 * h]) << 32 | r.w[2 * h + 1];
      mx::Store(a.out, 2 * item + h, static_cast<long long>(static_cast<unsigned long long>(a.low) + __umul64hi(word, a.range)));
    }
  }
};

typedef double Sampler(RandomStream*, double, double);

// One distribution for all elements.
template <typename I, typename Out, Sampler sampler>
struct random_sampler {
  struct Args {
    Out* out;
    mx::Draws draws;
    double a, b;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    RandomStream s(a.draws.Seed(), a.draws.First() + i);
    mx::Store(a.out, i, sampler(&s, a.a, a.b));
  }
};

// `repeat` elements from each pair of parameters.
template <typename I, typename Out, typename A, typename B, bool two, Sampler sampler>
struct sample_sampler {
  struct Args {
    Out* out;
    mx::Draws draws;
    const A* a;
    const B* b;
    long long repeat;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I pair = i / static_cast<I>(a.repeat);
    RandomStream s(a.draws.Seed(), a.draws.First() + i);
    double b = 0.0;
    if constexpr (two) b = mx::Load<double>(a.b, pair);
    mx::Store(a.out, i, sampler(&s, mx::Load<double>(a.a, pair), b));
  }
};

// Draws of np_draws.cc; parameters that make no distribution give NaN. A parameter is an array, one
// element for all (step 0), or a number (no array).
typedef double Formula(double, double, double);
typedef bool Accepts(double, double);
template <typename I, typename Out, typename A, typename B, Sampler draw, Formula formula, Accepts accepts>
struct np_draw {
  struct Args {
    Out *out, *noise;
    mx::Draws draws;
    const A* a;
    const B* b;
    long long a_step, b_step;
    double a_number, b_number;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& g, I i, long long) {
    const double a = g.a ? mx::Load<double>(g.a, i * g.a_step) : g.a_number;
    const double b = g.b ? mx::Load<double>(g.b, i * g.b_step) : g.b_number;
    RandomStream s(g.draws.Seed(), g.draws.First() + i);
    const double z = draw(&s, a, b);
    if (g.noise) mx::Store(g.noise, i, z);
    mx::Store(g.out, i, accepts(a, b) ? formula(a, b, z) : ::nan(""));
  }
};

// Seed and first counter of a CUDA graph's replay.
template <typename I>
struct begin_draws {
  struct Args {
    unsigned long long* base;
    unsigned long long seed, counter;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long) {
    a.base[0] = a.seed;
    a.base[1] = a.counter;
  }
};

template <typename I>
struct draw_counters {
  struct Args {
    unsigned long long* out;
    mx::Draws draws;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long) {
    a.out[0] = a.draws.Seed();
    a.out[1] = a.out[2] = a.draws.First();
    a.out[3] = 0;
  }
};

template <typename I>
struct shuffle_keys {
  struct Args {
    unsigned long long* keys;
    mx::Draws draws;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const mx::Philox r = mx::Draw(a.draws.Seed(), a.draws.First() + i);
    a.keys[i] = static_cast<unsigned long long>(r.w[0]) << 32 | r.w[1];
  }
};

// Exponential, with a rate or 1; never where the rate is 0.
template <typename I, typename P>
struct waiting_times {
  struct Args {
    double* out;
    mx::Draws draws;
    const P* rates;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    RandomStream s(a.draws.Seed(), a.draws.First() + i);
    const double wait = DrawExponential(&s, 0.0, 0.0), rate = a.rates ? mx::Load<double>(a.rates, i) : 1.0;
    a.out[i] = rate > 0.0 ? wait / rate : 1.7976931348623157e308;
  }
};

// Trials that end in each class of one vector of chances; the last has what the others leave.
template <typename I, typename P>
struct np_multinomial {
  struct Args {
    const P* p;
    long long* out;
    long long classes, n;
    mx::Draws counters;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    double others = 0.0;
    for (long long c = 0; c + 1 < a.classes; ++c) others += mx::Load<double>(a.p, c);
    RandomStream s(a.counters.Seed(), a.counters.First() + i);
    DrawCounts(
        &s, static_cast<double>(a.n), a.classes,
        [&](long long c) { return c + 1 < a.classes ? mx::Load<double>(a.p, c)
                                  : others < 1.0    ? 1.0 - others
                                                    : 0.0; },
        [&](long long c, double k) { a.out[i * a.classes + c] = static_cast<long long>(k); });
  }
};

// Classes drawn with the probabilities whose sums are `cumulative`.
template <typename I, typename Data, typename Out>
struct multinomial {
  struct Args {
    const Data* data;
    const double* cumulative;
    Out* out;
    Data* logarithm;
    long long classes, draws;
    mx::Draws counters;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I row = i / static_cast<I>(a.draws);
    const double* sums = a.cumulative + row * a.classes;
    RandomStream s(a.counters.Seed(), a.counters.First() + i);
    const double u = s.Uniform() * sums[a.classes - 1];
    long long low = 0, high = a.classes;  // the first sum above u
    while (low < high) {
      const long long middle = (low + high) / 2;
      if (sums[middle] > u)
        high = middle;
      else
        low = middle + 1;
    }
    const long long c = low < a.classes ? low : a.classes - 1;
    mx::Store(a.out, i, c);
    if (a.logarithm) mx::Store(a.logarithm, i, ::log(mx::Load<double>(a.data, row * a.classes + c)));
  }
};

// An item for each row: its draws may be of one class.
template <typename I, typename Og, typename Data, typename Drawn>
struct multinomial_backward {
  struct Args {
    const Og* og;
    const Data* data;
    const Drawn* drawn;
    Data* out;
    long long classes, draws;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    for (long long d = 0; d < a.draws; ++d) {
      long long c = mx::Load<long long>(a.drawn, i * a.draws + d);
      c = c < 0 ? 0 : c < a.classes ? c : a.classes - 1;
      const long long at = i * a.classes + c;
      mx::Store(a.out, at, mx::Load<float>(a.out, at) + mx::Load<float>(a.og, i * a.draws + d) / mx::Load<float>(a.data, at));
    }
  }
};

// Trials that end in each class; an item for each draw.
template <typename I, typename N, typename P, typename Out>
struct multinomial_counts {
  struct Args {
    const N* n;
    const P* p;
    Out* out;
    long long classes, draws;
    mx::Draws counters;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long row = i / a.draws;
    RandomStream s(a.counters.Seed(), a.counters.First() + i);
    DrawCounts(
        &s, mx::Load<double>(a.n, row), a.classes, [&](long long c) { return mx::Load<double>(a.p, row * a.classes + c); },
        [&](long long c, double k) { mx::Store(a.out, i * a.classes + c, k); });
  }
};

// An item for each row, whose part of `scratch` has `size` elements.
template <typename I, bool rejects>
struct unique_zipfian {
  struct Args {
    long long *out, *tries, *scratch;
    long long range, n, size;
    mx::Draws counters;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    RandomStream s(a.counters.Seed(), a.counters.First() + i);
    long long* const own = a.scratch + i * a.size;
    long long* const out = a.out + i * a.n;
    if constexpr (rejects)
      a.tries[i] = ZipfianByRejection(&s, a.range, a.n, a.size, own, out);
    else
      a.tries[i] = ZipfianOfTheRest(&s, a.range, a.n, reinterpret_cast<double*>(own), own + a.range + 1, out);
  }
};
}  // namespace kernels
