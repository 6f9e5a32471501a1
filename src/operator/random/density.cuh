// Probability densities and their gradients, in double. Arrays have one dtype; `each` samples
// belong to a row of the parameters.
#include "rtc/loop.cuh"
#include "rtc/std_math.cuh"

#define MX_DEVICE __device__
#include "operator/random/density_formulas.cuh"
#undef MX_DEVICE

namespace kernels {

// Where either is 0 the product is, also if the other is infinite.
__device__ __forceinline__ double Weighed(double weight, double slope) { return weight == 0 || slope == 0 ? 0 : weight * slope; }

template <typename D, typename T>
__device__ __forceinline__ void Prepare(const T* first, const T* second, long long row, double* c) {
  D::Prepare(mx::Load<double>(first, row), second ? mx::Load<double>(second, row) : 0.0, c);
}

template <typename I, typename T, bool is_log, typename D>
struct density {
  struct Args {
    const T *sample, *first, *second;
    T* out;
    long long each;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    double c[kDensityConstants];
    Prepare<D>(a.first, a.second, i / static_cast<I>(a.each), c);
    const double v = D::Log(c, mx::Load<double>(a.sample, i));
    mx::Store(a.out, i, is_log ? v : ::exp(v));
  }
};

template <typename T>
struct GradientArgs {
  const T *og, *sample, *first, *second, *y;
  T *to_sample, *to_first, *to_second;
  double* sums;  // two for each chunk
  long long each, chunks, chunk;
  long long count;
};
// Adds what sample i gives to the gradients of the parameters.
template <typename D, bool is_log, typename T>
__device__ __forceinline__ void OneSample(const GradientArgs<T>& a, const double* c, long long i, double* to_first, double* to_second) {
  double d[3];
  D::Slopes(c, mx::Load<double>(a.sample, i), d);
  const double og = mx::Load<double>(a.og, i), weight = is_log ? og : Weighed(og, mx::Load<double>(a.y, i));
  if (a.to_sample) mx::Store(a.to_sample, i, Weighed(weight, d[0]));
  *to_first += Weighed(weight, d[1]);
  *to_second += Weighed(weight, d[2]);
}

// A block for each chunk of a row.
template <typename T, bool is_log, typename D>
struct density_gradient {
  typedef GradientArgs<T> Args;
  static __device__ __forceinline__ void Row(const Args& a, long long item) {
    __shared__ double shared[256];
    const long long row = item / a.chunks, begin = (item - row * a.chunks) * a.chunk;
    const long long end = begin + a.chunk < a.each ? begin + a.chunk : a.each;
    double c[kDensityConstants], first = 0, second = 0;
    Prepare<D>(a.first, a.second, row, c);
    for (long long i = begin + threadIdx.x; i < end; i += 256) OneSample<D, is_log>(a, c, row * a.each + i, &first, &second);
    first = mx::BlockSum(first, shared);
    second = mx::BlockSum(second, shared);
    if (threadIdx.x == 0) {
      a.sums[2 * item] = first;
      a.sums[2 * item + 1] = second;
    }
  }
};
// A thread for each row.
template <typename I, typename T, bool is_log, typename D>
struct density_gradient_few {
  typedef GradientArgs<T> Args;
  static __device__ __forceinline__ void Item(const Args& a, I, long long row) {
    double c[kDensityConstants], first = 0, second = 0;
    Prepare<D>(a.first, a.second, row, c);
    for (long long i = 0; i < a.each; ++i) OneSample<D, is_log>(a, c, row * a.each + i, &first, &second);
    if (a.to_first) mx::Store(a.to_first, row, first);
    if (a.to_second) mx::Store(a.to_second, row, second);
  }
};
template <typename I, typename T>
struct density_sums {
  struct Args {
    const double* sums;
    T *to_first, *to_second;
    long long chunks;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long row) {
    double first = 0, second = 0;
    for (long long i = row * a.chunks; i < (row + 1) * a.chunks; ++i) {
      first += a.sums[2 * i];
      second += a.sums[2 * i + 1];
    }
    if (a.to_first) mx::Store(a.to_first, row, first);
    if (a.to_second) mx::Store(a.to_second, row, second);
  }
};

// For each row of alpha: logarithm of the normalizing constant, digamma of the sum.
template <typename I, typename T>
struct dirichlet_constants {
  struct Args {
    const T* alpha;
    double* out;
    long long k;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long row) {
    double total = 0, constant = 0;
    for (long long c = 0; c < a.k; ++c) {
      const double v = mx::Load<double>(a.alpha, row * a.k + c);
      total += v;
      constant += ValidIf(v > 0.0 && v < DensityInfinity()) - LogGamma(v);
    }
    a.out[2 * row] = constant + LogGamma(total);
    a.out[2 * row + 1] = Digamma(total);
  }
};
template <typename I, typename T, bool is_log>
struct dirichlet {
  struct Args {
    const T *sample, *alpha;
    const double* constants;
    T* out;
    long long k, each;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long i) {
    const long long row = i / a.each;
    double sum = a.constants[2 * row];
    for (long long c = 0; c < a.k; ++c) {
      const double x = mx::Load<double>(a.sample, i * a.k + c), power = mx::Load<double>(a.alpha, row * a.k + c) - 1.0;
      sum += Supported(x, 0.0, power == 0.0 ? 0.0 : power * ::log(x));
    }
    mx::Store(a.out, i, is_log ? sum : ::exp(sum));
  }
};
template <bool is_log, typename T>
__device__ __forceinline__ double DirichletWeight(const T* og, const T* y, long long i) {
  const double weight = mx::Load<double>(og, i), v = mx::Load<double>(y, i);
  return !is_log ? Weighed(weight, v) : v == -DensityInfinity() ? 0.0 : weight;
}
template <typename I, typename T, bool is_log>
struct dirichlet_gradient_sample {
  struct Args {
    const T *og, *sample, *alpha, *y;
    T* out;
    long long k, each;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long i) {
    const long long s = i / a.k, row = s / a.each;
    const double power = mx::Load<double>(a.alpha, row * a.k + i - s * a.k) - 1.0;
    const double slope = power == 0.0 ? 0.0 : power / mx::Load<double>(a.sample, i);
    mx::Store(a.out, i, Weighed(DirichletWeight<is_log>(a.og, a.y, s), slope));
  }
};
// A block for each element of alpha.
template <typename T, bool is_log>
struct dirichlet_gradient_alpha {
  struct Args {
    const T *og, *sample, *alpha, *y;
    const double* constants;
    T* out;
    long long k, each;
    long long count;
  };
  static __device__ __forceinline__ void Row(const Args& a, long long item) {
    __shared__ double shared[256];
    const long long row = item / a.k, c = item - row * a.k;
    const double alpha = mx::Load<double>(a.alpha, item);
    const double base = a.constants[2 * row + 1] - Digamma(alpha) + ValidIf(alpha > 0.0);
    double sum = 0;
    for (long long s = row * a.each + threadIdx.x; s < (row + 1) * a.each; s += 256)
      sum += Weighed(DirichletWeight<is_log>(a.og, a.y, s), base + ::log(mx::Load<double>(a.sample, s * a.k + c)));
    sum = mx::BlockSum(sum, shared);
    if (threadIdx.x == 0) mx::Store(a.out, item, sum);
  }
};
}  // namespace kernels
