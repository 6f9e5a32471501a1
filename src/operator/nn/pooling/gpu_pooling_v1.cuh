// Pooling of the first networks: see pooling_v1.cc.
#include "rtc/loop.cuh"

namespace kernels {

template <typename X>
struct PoolV1Args {
  X *data, *out, *og, *dx;
  long long in[3], to[3], kernel[3], stride[3], pad[3];
  double scale;
  long long count;
};

template <typename I, typename X, bool maximum>
struct pool_v1 {
  typedef typename mx::Real<X>::Type A;
  typedef PoolV1Args<X> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    long long rest = i, begin[3], end[3];
    bool padded = false, outside = false;
    for (int k = 2; k >= 0; --k) {
      const long long from = rest % a.to[k] * a.stride[k] - a.pad[k];
      rest /= a.to[k];
      const long long last = from + a.kernel[k] < a.in[k] + a.pad[k] ? from + a.kernel[k] : a.in[k] + a.pad[k];
      begin[k] = from > 0 ? from : 0;
      end[k] = last < a.in[k] ? last : a.in[k];
      padded = padded || from < 0 || last > a.in[k];
      outside = outside || from >= last;
    }
    const X* plane = a.data + rest * a.in[0] * a.in[1] * a.in[2];
    A most = (padded && !outside) || !maximum ? A(0) : -A(1) / A(0);
    for (long long z = begin[0]; z < end[0]; ++z)
      for (long long y = begin[1]; y < end[1]; ++y)
        for (long long x = begin[2]; x < end[2]; ++x) {
          const A v = mx::Load<A>(plane, (z * a.in[1] + y) * a.in[2] + x);
          if constexpr (maximum)
            most = v > most || v != v ? v : most;
          else
            most += v;
        }
    mx::Store(a.out, i, maximum ? most : most * static_cast<A>(a.scale));
  }
};

// Each element asks the windows that see it.
template <typename I, typename X, bool maximum>
struct pool_v1_back {
  typedef typename mx::Real<X>::Type A;
  typedef PoolV1Args<X> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    long long rest = i, begin[3], end[3];
    for (int k = 2; k >= 0; --k) {
      const long long at = rest % a.in[k] + a.pad[k];
      rest /= a.in[k];
      begin[k] = at < a.kernel[k] ? 0 : (at - a.kernel[k]) / a.stride[k] + 1;
      end[k] = at / a.stride[k] + 1 < a.to[k] ? at / a.stride[k] + 1 : a.to[k];
    }
    const A own = mx::Load<A>(a.data, i);
    A sum = A(0);
    for (long long z = begin[0]; z < end[0]; ++z)
      for (long long y = begin[1]; y < end[1]; ++y)
        for (long long x = begin[2]; x < end[2]; ++x) {
          const long long w = ((rest * a.to[0] + z) * a.to[1] + y) * a.to[2] + x;
          if (!maximum || mx::Load<A>(a.out, w) == own) sum += mx::Load<A>(a.og, w) * static_cast<A>(a.scale);
        }
    mx::Store(a.dx, i, sum);
  }
};
}  // namespace kernels
