// One number per channel: moving averages and 1 / sqrt(variance + eps).
#include "rtc/loop.cuh"

namespace kernels {

template <typename X>
struct ChannelArgs {
  const X* from;
  X* to;
  double number;
  long long count;
};
template <typename I, typename X>
struct follow_batch {
  typedef ChannelArgs<X> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    mx::Store(a.to, i, a.number * mx::Load<double>(a.to, i) + (1 - a.number) * mx::Load<double>(a.from, i));
  }
};
template <typename I, typename X>
struct inverse_root {
  typedef ChannelArgs<X> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    mx::Store(a.to, i, 1 / ::sqrt(mx::Load<double>(a.from, i) + a.number));
  }
};

// Numbers that the launch brings along.
template <typename I, typename X>
struct store_numbers {
  struct Args {
    X* to;
    long long first;
    double numbers[64];
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) { mx::Store(a.to, a.first + i, a.numbers[i]); }
};

// dx = g * a + x * b + c, with three numbers for each channel, one behind the other.
template <typename I, typename X, typename P>
struct channel_gradient {
  typedef typename mx::Real<X>::Type A;
  struct Args {
    const X *g, *x;
    const P* numbers;
    X* dx;
    long long channels, inner;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I row = i / static_cast<I>(a.inner);
    const P* k = a.numbers + 3 * (row % static_cast<I>(a.channels));
    mx::Store(a.dx, i, mx::Load<A>(a.g, i) * mx::Load<A>(k, 0) + mx::Load<A>(a.x, i) * mx::Load<A>(k, 1) + mx::Load<A>(k, 2));
  }
};
}  // namespace kernels
