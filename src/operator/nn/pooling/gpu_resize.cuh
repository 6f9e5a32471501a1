// Adaptive average pooling and repeated pixels, of images (planes, h, w).
#include "rtc/loop.cuh"

namespace kernels {

// Part k of `parts`: windows overlap by one at most.
__device__ __forceinline__ long long PartBegin(long long k, long long size, long long parts) { return k * size / parts; }
__device__ __forceinline__ long long PartEnd(long long k, long long size, long long parts) { return ((k + 1) * size + parts - 1) / parts; }

template <typename X>
struct AdaptiveArgs {
  X *image, *small;
  long long h, w, oh, ow;
  long long count;
};
template <typename I, typename X>
struct adaptive_pool {
  typedef typename mx::Real<X>::Type A;
  typedef AdaptiveArgs<X> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    I rest = i;
    const long long v = rest % static_cast<I>(a.ow);
    rest /= static_cast<I>(a.ow);
    const long long u = rest % static_cast<I>(a.oh);
    rest /= static_cast<I>(a.oh);
    const long long y0 = PartBegin(u, a.h, a.oh), y1 = PartEnd(u, a.h, a.oh), x0 = PartBegin(v, a.w, a.ow), x1 = PartEnd(v, a.w, a.ow);
    A sum = A(0);
    for (long long y = y0; y < y1; ++y)
      for (long long x = x0; x < x1; ++x) sum += mx::Load<A>(a.image, (rest * a.h + y) * a.w + x);
    mx::Store(a.small, i, sum / static_cast<A>((y1 - y0) * (x1 - x0)));
  }
};
// Each pixel looks at the windows around the place where it lies.
template <typename I, typename X>
struct adaptive_pool_backward {
  typedef typename mx::Real<X>::Type A;
  typedef AdaptiveArgs<X> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    I rest = i;
    const long long x = rest % static_cast<I>(a.w);
    rest /= static_cast<I>(a.w);
    const long long y = rest % static_cast<I>(a.h);
    rest /= static_cast<I>(a.h);
    A sum = A(0);
    for (long long u = y * a.oh / a.h; u < a.oh && PartBegin(u, a.h, a.oh) <= y; ++u) {
      if (PartEnd(u, a.h, a.oh) <= y) continue;
      for (long long v = x * a.ow / a.w; v < a.ow && PartBegin(v, a.w, a.ow) <= x; ++v) {
        if (PartEnd(v, a.w, a.ow) <= x) continue;
        const long long pixels = (PartEnd(u, a.h, a.oh) - PartBegin(u, a.h, a.oh)) * (PartEnd(v, a.w, a.ow) - PartBegin(v, a.w, a.ow));
        sum += mx::Load<A>(a.small, (rest * a.oh + u) * a.ow + v) / static_cast<A>(pixels);
      }
    }
    mx::Store(a.image, i, sum);
  }
};

// `small` (batch, channels, h, w) and the channels first... of `large` (batch, all, h * fh, w *
// fw).
template <typename X>
struct RepeatArgs {
  X *small, *large;
  long long channels, h, w, all, fh, fw, first;
  long long count;
};
template <typename I, typename X, bool add>
struct repeat_pixels {
  typedef typename mx::Real<X>::Type A;
  typedef RepeatArgs<X> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    I rest = i;
    const long long x = rest % static_cast<I>(a.w * a.fw);
    rest /= static_cast<I>(a.w * a.fw);
    const long long y = rest % static_cast<I>(a.h * a.fh);
    rest /= static_cast<I>(a.h * a.fh);
    const long long c = rest % static_cast<I>(a.channels), n = rest / static_cast<I>(a.channels);
    const long long from = (static_cast<long long>(rest) * a.h + y / a.fh) * a.w + x / a.fw,
                    to = ((n * a.all + a.first + c) * a.h * a.fh + y) * a.w * a.fw + x;
    if constexpr (add)
      mx::Store(a.large, to, mx::Load<A>(a.large, to) + mx::Load<A>(a.small, from));
    else
      a.large[to] = a.small[from];
  }
};
template <typename I, typename X>
struct repeat_pixels_backward {
  typedef typename mx::Real<X>::Type A;
  typedef RepeatArgs<X> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    I rest = i;
    const long long x = rest % static_cast<I>(a.w);
    rest /= static_cast<I>(a.w);
    const long long y = rest % static_cast<I>(a.h);
    rest /= static_cast<I>(a.h);
    const long long c = rest % static_cast<I>(a.channels), n = rest / static_cast<I>(a.channels);
    A sum = A(0);
    for (long long u = 0; u < a.fh; ++u)
      for (long long v = 0; v < a.fw; ++v)
        sum += mx::Load<A>(a.large, (((n * a.all + a.first + c) * a.h + y) * a.fh + u) * a.w * a.fw + x * a.fw + v);
    mx::Store(a.small, i, sum);
  }
};
}  // namespace kernels
