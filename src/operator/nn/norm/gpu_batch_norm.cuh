// BatchNorm, with a relu or an addend and a relu behind it.
#include "operator/nn/common/gpu_channels.cuh"

namespace kernels {

// ---- coefficients: y = x * scale + shift

// Of channel c, from what the forward pass keeps. fixed: gamma is 1.
template <bool fixed, typename A, typename P>
__device__ __forceinline__ void ForwardCoefficients(const P* gamma, const P* beta, const P* mean, const P* inv, A* coef, long long channels,
                                                    long long c) {
  if (!coef) return;
  A scale = mx::Load<A>(inv, c);
  if constexpr (!fixed) scale = mx::Load<A>(gamma, c) * scale;
  coef[c] = scale;
  coef[channels + c] = mx::Load<A>(beta, c) - scale * mx::Load<A>(mean, c);
}

template <typename P, typename A>
struct BatchNormOwn {
  const P *gamma, *beta;
  P *moving_mean, *moving_var, *mean, *inv;
  A* coef;
  double eps, momentum;
};

// The batch's moments, around the channel's first element: the squares lose no digits.
template <typename X, typename P, bool fixed>
struct BatchNormMoments : ChannelSumsOf<X, 1> {
  typedef typename mx::Real<X>::Type A;
  typedef BatchNormOwn<P, A> Own;
  struct Channel {
    A origin;
  };
  template <typename Args>
  static __device__ __forceinline__ Channel ChannelOf(const Args& a, long long c) {
    return {mx::Load<A>(a.array[0], c * a.inner)};
  }
  template <typename Args>
  static __device__ __forceinline__ void Element(const Args&, const Channel& k, const X (&v)[1], ChannelPlace, bool, A* first, A* second) {
    const A d = As<A>(v[0]) - k.origin;
    *first += d;
    *second += d * d;
  }
  template <typename Args>
  static __device__ __forceinline__ void Finish(const Args& a, long long c, double first, double second) {
    const Own& own = a.own;
    const double n = static_cast<double>(a.outer * a.inner), off = first / n, mean = mx::Load<double>(a.array[0], c * a.inner) + off;
    const double square = second / n - off * off, var = square > 0 || square != square ? square : 0.0;
    mx::Store(own.moving_mean, c, own.momentum * mx::Load<double>(own.moving_mean, c) + (1 - own.momentum) * mean);
    mx::Store(own.moving_var, c, own.momentum * mx::Load<double>(own.moving_var, c) + (1 - own.momentum) * var);
    mx::Store(own.mean, c, mean);
    mx::Store(own.inv, c, 1 / ::sqrt(var + own.eps));
    ForwardCoefficients<fixed>(own.gamma, own.beta, own.mean, own.inv, own.coef, a.channels, c);
  }
};

// From the moving moments.
template <typename I, typename X, typename P, bool fixed>
struct batch_norm_moving {
  typedef typename mx::Real<X>::Type A;
  struct Args {
    const X* x;
    BatchNormOwn<P, A> own;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I c, long long) {
    const auto& own = a.own;
    own.mean[c] = own.moving_mean[c];
    mx::Store(own.inv, c, 1 / ::sqrt(mx::Load<double>(own.moving_var, c) + own.eps));
    ForwardCoefficients<fixed>(own.gamma, own.beta, own.mean, own.inv, own.coef, a.count, c);
  }
};

// From the moments that an earlier forward pass kept.
template <typename I, typename X, typename P, bool fixed>
struct batch_norm_coefficients {
  typedef typename mx::Real<X>::Type A;
  struct Args {
    const P *gamma, *beta, *mean, *inv;
    A* coef;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I c, long long) {
    ForwardCoefficients<fixed>(a.gamma, a.beta, a.mean, a.inv, a.coef, a.count, c);
  }
};

template <typename X, bool relu>
struct BatchNormScale : ChannelMapOf<X, 1, 2, 1> {
  typedef typename mx::Real<X>::Type A;
  static __device__ __forceinline__ void Element(const A (&k)[2], const X (&v)[1], bool*, A (&r)[1]) {
    const A y = As<A>(v[0]) * k[0] + k[1];
    r[0] = !relu || y > A(0) || y != y ? y : A(0);
  }
};
// relu(y + addend), and where that is positive.
template <typename X>
struct BatchNormAddScale : ChannelMapOf<X, 2, 2, 1, kWritesMarks> {
  typedef typename mx::Real<X>::Type A;
  static __device__ __forceinline__ void Element(const A (&k)[2], const X (&v)[2], bool* bit, A (&r)[1]) {
    const A y = As<A>(v[0]) * k[0] + k[1] + As<A>(v[1]);
    r[0] = y > A(0) || y != y ? y : A(0);
    *bit = y > A(0);
  }
};

// ---- gradients

// What stands behind the norm: then the gradient passes where the result was positive, which is
// computed again, or read where something was added.
enum BatchNormTail { kPlain, kRelu, kAddRelu };

template <typename P, typename A, bool marks>
struct BatchNormGradientOwn {
  const P *gamma, *beta, *mean, *second_moment;
  P *dgamma, *dbeta;
  A* coef;
  double eps;
};
template <typename P, typename A>
struct BatchNormGradientOwn<P, A, true> {
  const P *gamma, *beta, *mean, *second_moment;
  P *dgamma, *dbeta;
  A* coef;
  double eps;
  Marks marks;
};

template <int tail, typename A, typename X>
__device__ __forceinline__ A PassedGradient(X g, X x, A scale, A shift, bool bit) {
  const A up = As<A>(g);
  if constexpr (tail == kRelu) return As<A>(x) * scale + shift > A(0) ? up : A(0);
  if constexpr (tail == kAddRelu) return bit ? up : A(0);
  return up;
}

// batch: with the batch's moments (second_moment is 1 / deviation), else with the moving ones.
template <typename X, typename P, bool fixed, bool batch, int tail>
struct BatchNormGradientSums : ChannelSumsOf<X, 2, tail == kAddRelu> {
  typedef typename mx::Real<X>::Type A;
  typedef BatchNormGradientOwn<P, A, tail == kAddRelu> Own;
  struct Channel {
    A mean, inv, scale, shift;
  };
  template <typename Args>
  static __device__ __forceinline__ Channel ChannelOf(const Args& a, long long c) {
    const Own& own = a.own;
    Channel k;
    k.mean = mx::Load<A>(own.mean, c);
    if constexpr (batch)
      k.inv = mx::Load<A>(own.second_moment, c);
    else
      k.inv = static_cast<A>(1 / ::sqrt(mx::Load<double>(own.second_moment, c) + own.eps));
    k.scale = k.inv;
    if constexpr (!fixed) k.scale = mx::Load<A>(own.gamma, c) * k.inv;
    k.shift = A(0);
    if constexpr (tail == kRelu) k.shift = mx::Load<A>(own.beta, c) - k.scale * k.mean;
    return k;
  }
  template <typename Args>
  static __device__ __forceinline__ void Element(const Args&, const Channel& k, const X (&v)[2], ChannelPlace, bool bit, A* first,
                                                 A* second) {
    const A up = PassedGradient<tail>(v[0], v[1], k.scale, k.shift, bit);
    *first += up;
    *second += up * (As<A>(v[1]) - k.mean);
  }
  // Rows of coefficients for BatchNormGradient, of `channels` numbers.
  template <typename Args>
  static __device__ __forceinline__ void Coefficients(const Args& a, long long channels, long long c) {
    A* coef = a.own.coef;
    if (!coef) return;
    const Channel k = ChannelOf(a, c);
    coef[c] = k.scale;
    coef[1 * channels + c] = k.shift;
    coef[2 * channels + c] = k.mean;
  }
  template <typename Args>
  static __device__ __forceinline__ void Finish(const Args& a, long long c, double first, double second) {
    const Own& own = a.own;
    double slope = 0.0;
    if constexpr (!fixed) slope = second * static_cast<double>(ChannelOf(a, c).inv);
    if (own.dgamma) mx::Store(own.dgamma, c, slope);
    if (own.dbeta) mx::Store(own.dbeta, c, first);
    Coefficients(a, a.channels, c);
    if constexpr (batch) {
      if (own.coef) {
        const Channel k = ChannelOf(a, c);
        const double n = static_cast<double>(a.outer * a.inner);
        own.coef[3 * a.channels + c] = static_cast<A>(first / n);
        own.coef[4 * a.channels + c] = static_cast<A>(second / n) * k.inv * k.inv;
      }
    }
  }
};

// The coefficients alone, where no sums are wanted.
template <typename I, typename X, typename P, bool fixed, int tail>
struct batch_norm_constants {
  typedef BatchNormGradientSums<X, P, fixed, false, tail> Sums;
  struct Args {
    const X* array[2];
    typename Sums::Own own;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I c, long long) { Sums::Coefficients(a, a.count, c); }
};

// The gradients of the addend and of the data, those that are wanted, from (gradient, data).
template <typename X, bool batch, int tail, bool addend, bool data>
struct BatchNormGradient
    : ChannelMapOf<X, data ? 2 : 1, data ? (batch ? 5 : 3) : 0, addend + data, tail == kAddRelu ? kReadsMarks : kNoMarks> {
  typedef typename mx::Real<X>::Type A;
  template <typename K, typename V, typename R>
  static __device__ __forceinline__ void Element(const K& k, const V& v, bool* bit, R& r) {  // k: scale, shift, mean, up's mean, product
    A up;
    if constexpr (data)
      up = PassedGradient<tail>(v[0], v[1], k[0], k[1], *bit);
    else
      up = PassedGradient < tail == kRelu ? kPlain : tail > (v[0], v[0], A(0), A(0), *bit);
    if constexpr (addend) r[0] = up;
    if constexpr (data && batch) r[addend] = k[0] * (up - k[3] - (As<A>(v[1]) - k[2]) * k[4]);
    if constexpr (data && !batch) r[addend] = k[0] * up;
  }
};
}  // namespace kernels
