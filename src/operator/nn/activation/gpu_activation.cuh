// Dropout, and activations with slopes of their own.
#include "operator/nn/common/gpu_channels.cuh"
#include "operator/random/philox.cuh"
#include "rtc/loop.cuh"

namespace kernels {

// Four elements from a counter: `scale` where the word is below `threshold`, else 0; where `apply`
// also out = x * mask.
template <typename I, typename X, bool apply>
struct dropout {
  typedef typename mx::Real<X>::Type A;
  struct Args {
    const X* x;
    X *mask, *out;
    long long n;
    unsigned long long threshold;
    double scale;
    mx::Draws draws;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long item) {
    const long long at = 4 * item;
    const int left = a.n - at < 4 ? static_cast<int>(a.n - at) : 4;
    A factor[4], v[4];
    if constexpr (apply) mx::LoadFour(a.x, at, left, v);
    const mx::Philox r = mx::Draw(a.draws.Seed(), a.draws.First() + i);
#pragma unroll
    for (int k = 0; k < 4; ++k) factor[k] = r.w[k] < a.threshold ? static_cast<A>(a.scale) : A(0);
    if (a.mask) mx::StoreFour(a.mask, at, left, factor);
    if constexpr (apply) {
#pragma unroll
      for (int k = 0; k < 4; ++k) v[k] *= factor[k];
      mx::StoreFour(a.out, at, left, v);
    }
  }
};

// Slopes low + range * uniform where `drawn`, else `mean`.
template <typename I, typename X, bool drawn>
struct rrelu {
  typedef typename mx::Real<X>::Type A;
  struct Args {
    const X* x;
    X *mask, *y;
    long long n;
    double low, range, mean;
    mx::Draws draws;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long item) {
    const mx::Philox r = mx::Draw(a.draws.Seed(), a.draws.First() + i);
    for (int k = 0; k < 4; ++k) {
      const long long at = 4 * item + k;
      if (at >= a.n) break;
      const float slope =
          drawn ? static_cast<float>(a.low) + static_cast<float>(a.range) * mx::ToFloat(r.w[k]) : static_cast<float>(a.mean);
      const A x = mx::Load<A>(a.x, at), factor = x > A(0) ? A(1) : static_cast<A>(slope);
      mx::Store(a.mask, at, factor);
      mx::Store(a.y, at, x * factor);
    }
  }
};

// The slope of element i, from `gammas` of them along the channels.
template <typename A, typename Args, typename I>
__device__ __forceinline__ A SlopeOf(const Args& a, I i) {
  return mx::Load<A>(a.gamma, a.gammas == 1 ? 0 : i / static_cast<I>(a.inner) % static_cast<I>(a.gammas));
}
template <typename I, typename X, typename Gamma>
struct prelu {
  typedef typename mx::Real<X>::Type A;
  struct Args {
    const X* x;
    const Gamma* gamma;
    X* y;
    long long gammas, inner;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const A slope = SlopeOf<A>(a, i), x = mx::Load<A>(a.x, i);
    mx::Store(a.y, i, x > A(0) ? x : slope * x);
  }
};
template <typename I, typename X, typename Gamma>
struct prelu_backward {
  typedef typename mx::Real<X>::Type A;
  struct Args {
    const X *og, *x;
    const Gamma* gamma;
    X* dx;
    long long gammas, inner;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const A slope = SlopeOf<A>(a, i), g = mx::Load<A>(a.og, i);
    mx::Store(a.dx, i, mx::Load<A>(a.x, i) > A(0) ? g : slope * g);
  }
};
// The gradient of the slopes, as ChannelSums of gpu_channels.h.
template <typename X, typename Gamma>
struct PreluGamma : ChannelSumsOf<X, 2> {
  typedef typename mx::Real<X>::Type A;
  struct Own {
    Gamma* dgamma;
  };
  template <typename Args>
  static __device__ __forceinline__ void Element(const Args&, const NoChannel&, const X (&v)[2], ChannelPlace, bool, A* first, A*) {
    const A value = As<A>(v[1]);
    if (!(value > A(0))) *first += As<A>(v[0]) * value;
  }
  template <typename Args>
  static __device__ __forceinline__ void Finish(const Args& a, long long c, double first, double) {
    mx::Store(a.own.dgamma, c, first);
  }
};
}  // namespace kernels
