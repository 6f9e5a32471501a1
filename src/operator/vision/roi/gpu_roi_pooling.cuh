// The largest pixel of each bin.
#include "operator/vision/roi/gpu_roi_common.cuh"

namespace kernels {

template <typename X>
struct PoolArgs {
  const X *data, *rois;
  X* bins;
  Sizes size;
  double scale;
  long long* places;
};

template <typename A>
struct Bins {
  A first, bin;
  long long size;
  __device__ __forceinline__ Bins(A low, A high, A scale, long long bins, long long s) : size(s) {
    first = ::round(Product(low, scale));
    const A length = ::round(Product(high, scale)) - first + A(1);
    bin = (length > A(1) ? length : A(1)) / static_cast<A>(bins);
  }
  __device__ __forceinline__ long long Begin(long long k) const { return Clipped(::floor(Product(static_cast<A>(k), bin)) + first, size); }
  __device__ __forceinline__ long long End(long long k) const { return Clipped(::ceil(Product(static_cast<A>(k + 1), bin)) + first, size); }
};

template <typename X>
struct PoolRegion {
  typedef typename mx::Real<X>::Type A;
  A v[5];
  long long image;
  template <typename Args>
  __device__ __forceinline__ PoolRegion(const Args& a, long long i) {
    bool finite = true;
#pragma unroll
    for (int k = 0; k < 5; ++k) v[k] = mx::Load<A>(a.rois, i * 5 + k), finite = finite && Finite(v[k]);
    image = finite ? ImageOf(v[0], a.size.images) : -1;
  }
  template <typename Args>
  __device__ __forceinline__ Bins<A> Rows(const Args& a) const {
    return Bins<A>(v[2], v[4], static_cast<A>(a.scale), a.size.ph, a.size.h);
  }
  template <typename Args>
  __device__ __forceinline__ Bins<A> Columns(const Args& a) const {
    return Bins<A>(v[1], v[3], static_cast<A>(a.scale), a.size.pw, a.size.w);
  }
};

// places: where the largest pixel lies in its plane, in place of its value.
template <typename I, typename X, int places>
struct roi_pool {
  typedef typename mx::Real<X>::Type A;
  struct Args : PoolArgs<X> {
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const Place at(i, a.size.pw, a.size.ph, a.size.results);
    const PoolRegion<X> r(a, at.n);
    A most = A(0);
    long long best = -1;
    if (r.image >= 0) {
      const Bins<A> rows = r.Rows(a), columns = r.Columns(a);
      const long long y0 = rows.Begin(at.y), y1 = rows.End(at.y), x0 = columns.Begin(at.x), x1 = columns.End(at.x);
      const long long plane = (r.image * a.size.channels + at.c) * a.size.h * a.size.w;
      for (long long y = y0; y < y1; ++y)
        for (long long x = x0; x < x1; ++x) {
          const A v = mx::Load<A>(a.data, plane + y * a.size.w + x);
          if (best < 0 || v > most || (v != v && most == most)) most = v, best = y * a.size.w + x;
        }
    }
    if constexpr (places)
      a.places[i] = best;
    else
      mx::Store(a.bins, i, most);
  }
};

// What another array has where the largest pixels lie.
template <typename I, typename X>
struct roi_pool_other {
  typedef typename mx::Real<X>::Type A;
  struct Args : PoolArgs<X> {
    const X* other;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const Place at(i, a.size.pw, a.size.ph, a.size.results);
    const PoolRegion<X> r(a, at.n);
    const long long plane = (r.image * a.size.channels + at.c) * a.size.h * a.size.w;
    mx::Store(a.bins, i, a.places[i] < 0 ? A(0) : mx::Load<A>(a.other, plane + a.places[i]));
  }
};

// Each pixel looks at the bins that contain it.
template <typename I, typename X>
struct roi_pool_backward {
  typedef typename mx::Real<X>::Type A;
  struct Args : PoolArgs<X> {
    X* grad;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const Place at(i, a.size.w, a.size.h, a.size.channels);
    const long long pixel = at.y * a.size.w + at.x;
    A sum = A(0);
    for (long long k = 0; k < a.size.regions; ++k) {
      const PoolRegion<X> r(a, k);
      if (r.image != at.n) continue;
      const Bins<A> rows = r.Rows(a), columns = r.Columns(a);
      for (long long u = 0; u < a.size.ph; ++u) {
        if (at.y < rows.Begin(u) || at.y >= rows.End(u)) continue;
        for (long long v = 0; v < a.size.pw; ++v) {
          const long long bin = ((k * a.size.results + at.c) * a.size.ph + u) * a.size.pw + v;
          if (at.x >= columns.Begin(v) && at.x < columns.End(v) && a.places[bin] == pixel) sum += mx::Load<A>(a.bins, bin);
        }
      }
    }
    mx::Store(a.grad, i, sum);
  }
};
}  // namespace kernels
