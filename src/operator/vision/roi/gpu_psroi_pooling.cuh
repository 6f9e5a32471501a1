// Means of bins whose channels are their own, over pixels and over points that are moved by
// offsets.
#include "operator/vision/roi/gpu_roi_common.cuh"

namespace kernels {

template <typename X>
struct MeanArgs {
  X* image;
  const X* rois;
  X* bins;
  Sizes size;
  double scale;
  long long groups;
};

// The bins k of which k * groups / bins is `group`: [first, last).
__device__ __forceinline__ long long FirstBin(long long group, long long bins, long long groups) {
  return (group * bins + groups - 1) / groups;
}

template <typename A>
__device__ __forceinline__ A AtLeast(A v, A least) {
  return v > least ? v : least;
}

template <typename X>
struct MeanRegion {
  typedef typename mx::Real<X>::Type A;
  long long image;
  A first[2], bin[2];  // rows, columns
  template <typename Args>
  __device__ __forceinline__ MeanRegion(const Args& a, long long i) {
    A v[5];
    bool finite = true;
    for (int k = 0; k < 5; ++k) v[k] = mx::Load<A>(a.rois, i * 5 + k), finite = finite && Finite(v[k]);
    image = finite ? ImageOf(v[0], a.size.images) : -1;
    const A scale = static_cast<A>(a.scale);
    for (int axis = 0; axis < 2; ++axis) {
      first[axis] = Product(::round(v[2 - axis]), scale);
      bin[axis] = AtLeast(Product(::round(v[4 - axis]) + A(1), scale) - first[axis], A(0.1)) / static_cast<A>(a.size.ph);
    }
  }
  __device__ __forceinline__ void Edges(int axis, long long k, long long size, long long* begin, long long* end) const {
    *begin = Clipped(::floor(Product(static_cast<A>(k), bin[axis]) + first[axis]), size);
    *end = Clipped(::ceil(Product(static_cast<A>(k + 1), bin[axis]) + first[axis]), size);
  }
};

template <typename I, typename X>
struct psroi_pool {
  typedef typename mx::Real<X>::Type A;
  struct Args : MeanArgs<X> {
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const Place at(i, a.size.pw, a.size.ph, a.size.results);
    const MeanRegion<X> r(a, at.n);
    A sum = A(0);
    if (r.image >= 0) {
      long long y0, y1, x0, x1;
      r.Edges(0, at.y, a.size.h, &y0, &y1);
      r.Edges(1, at.x, a.size.w, &x0, &x1);
      const long long c = (at.c * a.groups + at.y * a.groups / a.size.ph) * a.groups + at.x * a.groups / a.size.pw;
      const X* plane = a.image + (r.image * a.size.channels + c) * a.size.h * a.size.w;
      for (long long y = y0; y < y1; ++y)
        for (long long x = x0; x < x1; ++x) sum += mx::Load<A>(plane, y * a.size.w + x);
      if (y1 > y0 && x1 > x0) sum /= static_cast<A>((y1 - y0) * (x1 - x0));
    }
    mx::Store(a.bins, i, sum);
  }
};

// Each pixel looks at the bins of its channel that contain it.
template <typename I, typename X>
struct psroi_pool_backward {
  typedef typename mx::Real<X>::Type A;
  struct Args : MeanArgs<X> {
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const Place at(i, a.size.w, a.size.h, a.size.channels);
    const long long group_x = at.c % a.groups, group_y = at.c / a.groups % a.groups, c = at.c / (a.groups * a.groups), bins = a.size.ph;
    A sum = A(0);
    for (long long k = 0; k < (c < a.size.results ? a.size.regions : 0); ++k) {
      const MeanRegion<X> r(a, k);
      if (r.image != at.n) continue;
      for (long long u = FirstBin(group_y, bins, a.groups); u < FirstBin(group_y + 1, bins, a.groups); ++u) {
        long long y0, y1, x0, x1;
        r.Edges(0, u, a.size.h, &y0, &y1);
        if (at.y < y0 || at.y >= y1) continue;
        for (long long v = FirstBin(group_x, bins, a.groups); v < FirstBin(group_x + 1, bins, a.groups); ++v) {
          r.Edges(1, v, a.size.w, &x0, &x1);
          if (at.x < x0 || at.x >= x1) continue;
          sum += mx::Load<A>(a.bins, ((k * a.size.results + c) * bins + u) * bins + v) / static_cast<A>((y1 - y0) * (x1 - x0));
        }
      }
    }
    mx::Store(a.image, i, sum);
  }
};

template <typename X>
struct DeformPoolArgs {
  const X *image, *rois, *bins;
  Sizes size;
  double scale, trans_std;
  const X* trans;
  long long groups, parts, samples, classes;
  X* to;
};

// The points of one bin in one class.
template <typename X>
struct DeformBin {
  typedef typename mx::Real<X>::Type A;
  long long image;
  A width, height, top, left, step_h, step_w;
  template <typename Args>
  __device__ __forceinline__ DeformBin(const Args& a, long long region, long long of, long long i, long long j) {
    A v[5];
    bool finite = true;
    for (int k = 0; k < 5; ++k) v[k] = mx::Load<A>(a.rois, region * 5 + k), finite = finite && Finite(v[k]);
    image = finite ? ImageOf(v[0], a.size.images) : -1;
    const A scale = static_cast<A>(a.scale), half = A(0.5), bins = static_cast<A>(a.size.ph);
    const A x1 = Product(::round(v[1]), scale) - half, y1 = Product(::round(v[2]), scale) - half;
    width = AtLeast(Product(::round(v[3]) + A(1), scale) - half - x1, A(0.1)),
    height = AtLeast(Product(::round(v[4]) + A(1), scale) - half - y1, A(0.1));
    A dx = A(0), dy = A(0);
    if (a.trans) {
      const long long at = Offset(a, region, of, i, j);
      dx = Product(mx::Load<A>(a.trans, at), static_cast<A>(a.trans_std));
      dy = Product(mx::Load<A>(a.trans, at + a.parts * a.parts), static_cast<A>(a.trans_std));
    }
    const A bin_h = height / bins, bin_w = width / bins;
    step_h = bin_h / static_cast<A>(a.samples), step_w = bin_w / static_cast<A>(a.samples);
    top = Product(static_cast<A>(i), bin_h) + y1 + Product(dy, height), left = Product(static_cast<A>(j), bin_w) + x1 + Product(dx, width);
  }
  template <typename Args>
  static __device__ __forceinline__ long long Offset(const Args& a, long long region, long long of, long long i, long long j) {
    return ((region * a.classes + of) * 2 * a.parts + i * a.parts / a.size.ph) * a.parts + j * a.parts / a.size.pw;
  }
  // Low and high pixel and the part of the high one; false: outside.
  static __device__ __forceinline__ bool Between(A at, long long size, long long* low, long long* high, A* part) {
    if (!(at >= A(-0.5) && at <= static_cast<A>(size) - A(0.5)) || size == 0) return false;
    at = at < A(0) ? A(0) : at > static_cast<A>(size - 1) ? static_cast<A>(size - 1) : at;
    *low = static_cast<long long>(at);
    *part = at - static_cast<A>(*low);
    *high = *part > A(0) ? *low + 1 : *low;
    return true;
  }
  // f(y0, y1, part of y1, x0, x1, part of x1) for the points in the image; returns how many.
  template <typename Args, typename F>
  __device__ __forceinline__ long long Each(const Args& a, F&& f) const {
    long long points = 0;
    for (long long u = 0; u < a.samples; ++u)
      for (long long v = 0; v < a.samples; ++v) {
        long long y0, y1, x0, x1;
        A fy, fx;
        if (!Between(top + Product(static_cast<A>(u), step_h), a.size.h, &y0, &y1, &fy) ||
            !Between(left + Product(static_cast<A>(v), step_w), a.size.w, &x0, &x1, &fx))
          continue;
        ++points;
        f(y0, y1, fy, x0, x1, fx);
      }
    return points;
  }
};

template <typename I, typename X>
struct deform_psroi_pool {
  typedef typename mx::Real<X>::Type A;
  struct Args : DeformPoolArgs<X> {
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const Place at(i, a.size.pw, a.size.ph, a.size.results);
    const DeformBin<X> bin(a, at.n, at.c / (a.size.results / a.classes), at.y, at.x);
    A sum = A(0);
    if (bin.image >= 0) {
      const long long c = (at.c * a.groups + at.y * a.groups / a.size.ph) * a.groups + at.x * a.groups / a.size.pw, w = a.size.w;
      const X* plane = a.image + (bin.image * a.size.channels + c) * a.size.h * w;
      const long long points = bin.Each(a, [&](long long y0, long long y1, A fy, long long x0, long long x1, A fx) {
        const A upper = mx::Load<A>(plane, y0 * w + x0) * (A(1) - fx) + mx::Load<A>(plane, y0 * w + x1) * fx;
        const A lower = mx::Load<A>(plane, y1 * w + x0) * (A(1) - fx) + mx::Load<A>(plane, y1 * w + x1) * fx;
        sum += upper * (A(1) - fy) + lower * fy;
      });
      if (points > 0) sum /= static_cast<A>(points);
    }
    mx::Store(a.to, i, sum);
  }
};

// Each pixel looks at the points of the bins of its channel.
template <typename I, typename X>
struct deform_psroi_pool_data {
  typedef typename mx::Real<X>::Type A;
  struct Args : DeformPoolArgs<X> {
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const Place at(i, a.size.w, a.size.h, a.size.channels);
    const long long group_x = at.c % a.groups, group_y = at.c / a.groups % a.groups, c = at.c / (a.groups * a.groups), bins = a.size.ph;
    A sum = A(0);
    for (long long k = 0; k < a.size.regions; ++k) {
      if (ImageOf(mx::Load<A>(a.rois, k * 5), a.size.images) != at.n) continue;
      for (long long u = FirstBin(group_y, bins, a.groups); u < FirstBin(group_y + 1, bins, a.groups); ++u)
        for (long long v = FirstBin(group_x, bins, a.groups); v < FirstBin(group_x + 1, bins, a.groups); ++v) {
          const DeformBin<X> bin(a, k, c / (a.size.results / a.classes), u, v);
          if (bin.image != at.n) continue;
          A weight = A(0);
          const long long points = bin.Each(a, [&](long long y0, long long y1, A fy, long long x0, long long x1, A fx) {
            const A wy = (y0 == at.y ? A(1) - fy : A(0)) + (y1 == at.y ? fy : A(0)),
                    wx = (x0 == at.x ? A(1) - fx : A(0)) + (x1 == at.x ? fx : A(0));
            weight += wy * wx;
          });
          if (points > 0) sum += weight * mx::Load<A>(a.bins, ((k * a.size.results + c) * bins + u) * bins + v) / static_cast<A>(points);
        }
    }
    mx::Store(a.to, i, sum);
  }
};

// Each offset sums over the bins of its part and the channels of its class.
template <typename I, typename X>
struct deform_psroi_pool_trans {
  typedef typename mx::Real<X>::Type A;
  struct Args : DeformPoolArgs<X> {
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const Place at(i, a.parts, a.parts, 2 * a.classes);
    const long long bins = a.size.ph, each = a.size.results / a.classes, of = at.c / 2, w = a.size.w;
    A total = A(0);
    for (long long u = FirstBin(at.y, bins, a.parts); u < FirstBin(at.y + 1, bins, a.parts); ++u)
      for (long long v = FirstBin(at.x, bins, a.parts); v < FirstBin(at.x + 1, bins, a.parts); ++v) {
        const DeformBin<X> bin(a, at.n, of, u, v);
        if (bin.image < 0) continue;
        A sum = A(0);
        long long points = 0;
        for (long long c = of * each; c < (of + 1) * each; ++c) {
          const long long channel = (c * a.groups + u * a.groups / bins) * a.groups + v * a.groups / bins;
          const X* plane = a.image + (bin.image * a.size.channels + channel) * a.size.h * w;
          A slope = A(0);
          points = bin.Each(a, [&](long long y0, long long y1, A fy, long long x0, long long x1, A fx) {
            const A a00 = mx::Load<A>(plane, y0 * w + x0), a01 = mx::Load<A>(plane, y0 * w + x1), a10 = mx::Load<A>(plane, y1 * w + x0),
                    a11 = mx::Load<A>(plane, y1 * w + x1);
            slope += at.c % 2 ? (a10 - a00) * (A(1) - fx) + (a11 - a01) * fx : (a01 - a00) * (A(1) - fy) + (a11 - a10) * fy;
          });
          sum += slope * mx::Load<A>(a.bins, ((at.n * a.size.results + c) * bins + u) * bins + v);
        }
        if (points > 0) total += sum / static_cast<A>(points) * (at.c % 2 ? bin.height : bin.width);
      }
    mx::Store(a.to, i, total * static_cast<A>(a.trans_std));
  }
};
}  // namespace kernels
